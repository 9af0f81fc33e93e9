//! Names of functions of the emulators and C libraries that distributions strip, by build id.
//!
//! `scripts/emulator-names.sh` and `scripts/library-names.sh` make the tables in `names/`. The first builds an
//! emulator again from the distribution's source package and pairs functions by their machine code. A name that
//! ends with a question mark is inferred from the function's place between others. Names of a library come from its
//! debug package.

use super::debug_file::hexadecimal;

// `TABLES`: build id in hexadecimal digits, text of the table.
include!(concat!(env!("OUT_DIR"), "/known_builds.rs"));

/// The names of one build of a file.
#[derive(Debug)]
pub(super) struct KnownBuild {
    /// Names by address in the file.
    names: Vec<(u64, &'static str)>,
}

impl KnownBuild {
    /// The table of a file with this build id.
    pub(super) fn with_id(build_id: &[u8]) -> Option<Self> {
        let digits = hexadecimal(build_id);
        let (_, text) = TABLES.iter().find(|(id, _)| *id == digits)?;
        Some(Self::parse(text))
    }

    fn parse(text: &'static str) -> Self {
        let entries = text.lines().filter(|line| !line.starts_with('#')).filter_map(|line| {
            let (address, name) = line.split_once(' ')?;
            Some((u64::from_str_radix(address, 16).ok()?, name))
        });
        let mut names: Vec<(u64, &'static str)> = entries.collect();
        names.sort_unstable();
        Self { names }
    }

    /// The name of the function that begins at `address`.
    pub(super) fn at(&self, address: u64) -> Option<&'static str> {
        let index = self.names.binary_search_by_key(&address, |(start, _)| *start).ok()?;
        Some(self.names[index].1)
    }
}

#[cfg(test)]
mod tests {
    use super::{KnownBuild, TABLES};

    #[test]
    fn a_function_is_found_by_its_first_address_alone() {
        let names = KnownBuild::parse("# a comment\n1000 sweep\n2ff0 do_minor?\n");
        assert_eq!(names.at(0x1000), Some("sweep"));
        assert_eq!(names.at(0x2ff0), Some("do_minor?"));
        assert_eq!(names.at(0x1001), None);
    }

    #[test]
    fn every_table_is_read_whole() {
        for (id, text) in TABLES {
            let lines = text.lines().filter(|line| !line.starts_with('#')).count();
            assert!(lines > 1000, "{id}: {lines} names");
            assert_eq!(KnownBuild::parse(text).names.len(), lines, "{id}");
            assert!(id.len() >= 16 && id.bytes().all(|byte| byte.is_ascii_hexdigit()), "{id}");
        }
        assert!(KnownBuild::with_id(&[1; 20]).is_none());
    }
}
