//! Code of a recorded node that only a debug file would name, and the names in such a file. The caller provides the
//! file.

use std::{
    collections::{BTreeSet, HashMap},
    fs::File,
};

use rabbitscope_profiles::{FrameKind, Profile, source_name};
use thiserror::Error;

use super::{
    debug_file::{DebugFile, build_id_of, hexadecimal},
    names::symbol_tables_only,
};

/// A file of code without a debug file on this machine.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingDebugFile {
    /// Path of the code in the node's view.
    pub path: String,
    /// Build id in hexadecimal digits, the same for the debug file.
    pub build_id: String,
    /// Samples that would get better names; 0 before a recording.
    pub samples: u64,
}

/// Reasons to refuse a debug file.
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum DebugFileError {
    /// The file is of another build.
    #[error("its build is not {wanted}")]
    OtherBuild {
        /// The build id of the code.
        wanted: String,
    },
}

/// Functions of a recorded node without a name, or with one from the VM only.
#[derive(Debug, Default)]
pub struct UnnamedCode {
    /// Files by path; `None` for a file whose debug file cannot be requested.
    files: HashMap<String, Option<UnnamedFile>>,
}

#[derive(Debug)]
struct UnnamedFile {
    code: File,
    build_id: String,
    /// Offsets in the file at which a function was seen, by its name in the profile.
    functions: HashMap<String, BTreeSet<u64>>,
}

impl UnnamedCode {
    /// Notes code of the function `name` at an offset of a file, given by its path and a function that opens it.
    pub(crate) fn note(
        &mut self,
        (path, open): (&str, impl FnOnce() -> Option<File>),
        name: &str,
        offset: u64,
    ) {
        if !self.files.contains_key(path) {
            self.files.insert(path.to_owned(), open().and_then(UnnamedFile::new));
        }
        if let Some(Some(file)) = self.files.get_mut(path) {
            file.functions.entry(name.to_owned()).or_default().insert(offset);
        }
    }

    /// The files whose functions have no names in these profiles, most samples first.
    pub fn missing(&self, profiles: &[Profile]) -> Vec<MissingDebugFile> {
        let of_file = |(path, file): (&String, &Option<UnnamedFile>)| {
            let file = file.as_ref()?;
            let samples = profiles.iter().map(|profile| file.samples(profile)).sum();
            Some(MissingDebugFile { path: path.clone(), build_id: file.build_id.clone(), samples })
        };
        let mut missing: Vec<MissingDebugFile> = self.files.iter().filter_map(of_file).collect();
        missing.retain(|file| file.samples > 0);
        missing.sort_by(|a, b| (b.samples, &a.path).cmp(&(a.samples, &b.path)));
        missing
    }

    /// Names in a debug file for functions of the code with this build id, by their names in the profiles
    /// ([`Profile::rename_native`]).
    pub fn names_from(
        &self,
        build_id: &str,
        debug: &File,
    ) -> Result<HashMap<String, String>, DebugFileError> {
        let mut names = HashMap::new();
        let symbolizer = symbol_tables_only();
        for (path, file) in &self.files {
            let Some(file) = file.as_ref().filter(|file| file.build_id == build_id) else {
                continue;
            };
            let debug_file = DebugFile::find(&file.code, |_| debug.try_clone())
                .ok_or_else(|| DebugFileError::OtherBuild { wanted: build_id.to_owned() })?;
            let own = file.functions.iter().filter(|(name, _)| !self.has_elsewhere(name, path));
            names.extend(own.filter_map(|(called, offsets)| {
                let name = common_name(offsets, |offset| debug_file.name(&symbolizer, offset))?;
                Some((called.clone(), name))
            }));
        }
        Ok(names)
    }

    /// Returns whether another file has functions of the same name: two files with one name in different
    /// directories.
    fn has_elsewhere(&self, name: &str, path: &str) -> bool {
        let others = self.files.iter().filter(|(other, _)| *other != path);
        others.filter_map(|(_, file)| file.as_ref()).any(|file| file.functions.contains_key(name))
    }
}

impl UnnamedFile {
    fn new(code: File) -> Option<Self> {
        let build_id = hexadecimal(&build_id_of(&code)?);
        Some(Self { code, build_id, functions: HashMap::new() })
    }

    fn samples(&self, profile: &Profile) -> u64 {
        let is_here = profile.frames.iter().map(|(_, frame)| {
            frame.kind == FrameKind::Native && self.functions.contains_key(&frame.name)
        });
        let is_here: Vec<bool> = is_here.collect();
        let samples = profile.samples.iter();
        let of_file = samples.filter(|sample| {
            let mut entries = sample.stack.iter();
            entries.any(|entry| is_here[entry.frame.0 as usize])
        });
        of_file.map(|sample| sample.count).sum()
    }
}

/// The one name of all code with these offsets. The unwind tables may join several functions into one, and then no
/// name is right for all of it.
fn common_name(offsets: &BTreeSet<u64>, name_at: impl Fn(u64) -> Option<String>) -> Option<String> {
    let mut names = offsets.iter().map(|&offset| name_at(offset));
    let first = names.next()??;
    let first = source_name(&first);
    let is_common = names.all(|name| name.is_some_and(|name| source_name(&name) == first));
    is_common.then(|| first.into_owned())
}

#[cfg(test)]
mod tests {
    use std::{
        collections::{BTreeSet, HashMap},
        fs::{self, File},
        io::{Seek, Write},
        path::Path,
    };

    use object::{Object, ObjectSection};
    use rabbitscope_profiles::read_folded;

    use super::{UnnamedCode, common_name};
    use crate::native::{build_id, debug_file::tests::stripped};

    #[track_caller]
    fn check(names: &[(u64, &str)], expected: Option<&str>) {
        let offsets: BTreeSet<u64> = names.iter().map(|&(offset, _)| offset).collect();
        let name_at = |offset| {
            let (_, name) = names.iter().find(|&&(other, _)| other == offset)?;
            (!name.is_empty()).then(|| (*name).to_owned())
        };
        assert_eq!(common_name(&offsets, name_at).as_deref(), expected);
    }

    #[test]
    fn a_name_must_hold_for_all_code_of_the_function() {
        check(&[(1, "f"), (2, "f.part.0"), (3, "f")], Some("f"));
        check(&[(1, "f"), (2, "g")], None);
        check(&[(1, "f"), (2, "")], None);
        check(&[(1, "")], None);
        check(&[], None);
    }

    /// Code of a library with one seen function, the library's build id, and its debug file.
    fn seen(directory: &Path) -> (UnnamedCode, String, Vec<u8>) {
        let (code, debug, address) = stripped(directory);
        let build = build_id(&File::open(&code).unwrap()).unwrap();
        let bytes = fs::read(&code).unwrap();
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let text = file.section_by_name(".text").unwrap();
        let offset = address - text.address() + text.file_range().unwrap().0;
        let mut unnamed = UnnamedCode::default();
        let open = || File::open(&code).ok();
        unnamed.note(("/lib/a.so", open), "a.so+0x10", offset);
        unnamed.note(("/lib/a.so", || panic!("it is open")), "a.so+0x10", offset + 1);
        (unnamed, build, fs::read(debug).unwrap())
    }

    fn file_of(bytes: &[u8]) -> File {
        let mut file = tempfile::tempfile().unwrap();
        file.write_all(bytes).unwrap();
        file.rewind().unwrap();
        file
    }

    #[test]
    fn a_debug_file_names_code_of_its_build_alone() {
        let place = tempfile::tempdir().unwrap();
        let (unnamed, build, debug) = seen(place.path());
        let expected = HashMap::from([("a.so+0x10".to_owned(), "hidden".to_owned())]);
        assert_eq!(unnamed.names_from(&build, &file_of(&debug)).unwrap(), expected);
        assert!(unnamed.names_from("00", &file_of(&debug)).unwrap().is_empty());
        let own = File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(unnamed.names_from(&build, &own).is_err());
    }

    #[test]
    fn files_of_one_name_in_two_directories_are_not_confused() {
        let place = tempfile::tempdir().unwrap();
        let (mut unnamed, build, debug) = seen(place.path());
        let own = || File::open(std::env::current_exe().unwrap()).ok();
        unnamed.note(("/other/a.so", own), "a.so+0x10", 0x10);
        assert!(unnamed.names_from(&build, &file_of(&debug)).unwrap().is_empty());
    }

    #[test]
    fn the_file_with_most_samples_comes_first() {
        let place = tempfile::tempdir().unwrap();
        let (mut unnamed, build, _) = seen(place.path());
        let own = || File::open(std::env::current_exe().unwrap()).ok();
        unnamed.note(("/lib/b.so", own), "b.so+0x20", 0x20);
        unnamed.note(("/lib/c.so", || None), "c.so+0x30", 0x30);
        let mut profile = read_folded("a.so+0x10 2\nb.so+0x20 3\nc.so+0x30 4".as_bytes()).unwrap();
        let names = profile.frames.iter().map(|(_, frame)| frame.name.clone());
        let names: Vec<String> = names.collect();
        profile.frames = rabbitscope_profiles::FrameTable::default();
        for name in names {
            let kind = rabbitscope_profiles::FrameKind::Native;
            profile.frames.intern(rabbitscope_profiles::Frame { name, kind });
        }
        let missing = unnamed.missing(&[profile]);
        let paths: Vec<(&str, u64)> =
            missing.iter().map(|file| (file.path.as_str(), file.samples)).collect();
        assert_eq!(paths, [("/lib/b.so", 3), ("/lib/a.so", 2)], "no file, no build id");
        assert_eq!(missing[1].build_id, build);
        assert!(unnamed.missing(&[]).is_empty());
    }

    /// A server may send any bytes with the right build id.
    #[test]
    fn a_debug_file_that_was_tampered_with_names_or_fails() {
        let place = tempfile::tempdir().unwrap();
        let (unnamed, build, debug) = seen(place.path());
        let mut random = 7_u64;
        let mut next = |below: usize| {
            random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
            usize::try_from(random >> 33).unwrap() % below
        };
        for round in 0..600 {
            let mut bytes = debug.clone();
            for _ in 0..=round % 24 {
                // Mostly the headers, the symbols and their names.
                let at = if round % 3 == 0 { next(64) } else { next(bytes.len()) };
                bytes[at] = [0, 0xff, 0x7f, 0x80, bytes[at].wrapping_add(1)][next(5)];
            }
            if round % 5 == 0 {
                bytes.truncate(next(bytes.len()));
            }
            let _ = unnamed.names_from(&build, &file_of(&bytes));
        }
    }
}
