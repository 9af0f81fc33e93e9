//! The files that publishers send, with their permitted location and size.

use std::{cell::Cell, path::Path};

use rabbitscope_files::SourceDirectory;
use rabbitscope_runs::scenario::{Body, Scenario};

use crate::error::LoadError;

/// Largest file: the largest message that any release of RabbitMQ accepts.
const MAX_BODY_BYTES: u64 = 512 << 20;

/// Maximum size of all files together, for a scenario from another user. Chosen: files stay in memory while the load
/// runs.
const MAX_TOTAL_BYTES: u64 = 1 << 30;

/// The files that a scenario may send.
#[derive(Debug)]
pub struct BodyFiles<'a> {
    place: Place<'a>,
    /// Bytes that may still be read.
    left: Cell<u64>,
}

#[derive(Debug)]
enum Place<'a> {
    Anywhere,
    Below(&'a SourceDirectory),
    Nowhere,
}

impl<'a> BodyFiles<'a> {
    /// Permits every file that this process may read: its user chose the scenario.
    pub const fn anywhere() -> Self {
        Self { place: Place::Anywhere, left: Cell::new(u64::MAX) }
    }

    /// Permits files below this directory, for a scenario from another user. Without a directory it permits none.
    pub fn below(directory: Option<&'a SourceDirectory>) -> Self {
        let place = directory.map_or(Place::Nowhere, Place::Below);
        Self { place, left: Cell::new(MAX_TOTAL_BYTES) }
    }

    /// Reads files, each of which has to fit into a message `items` times.
    pub(super) fn read(&self, files: &[String], items: u32) -> Result<Vec<Vec<u8>>, LoadError> {
        files.iter().map(|file| self.read_one(file, items)).collect()
    }

    fn read_one(&self, file: &str, items: u32) -> Result<Vec<u8>, LoadError> {
        let most = (MAX_BODY_BYTES / u64::from(items.max(1))).min(self.left.get());
        let read = match self.place {
            Place::Anywhere => rabbitscope_files::read(Path::new(file), most),
            Place::Below(directory) => directory.read(Path::new(file), most),
            Place::Nowhere => return Err(LoadError::NoFiles { path: file.to_owned() }),
        };
        let bytes = read.map_err(|source| LoadError::BodyFile { path: file.to_owned(), source })?;
        self.left.set(self.left.get().saturating_sub(bytes.len() as u64));
        Ok(bytes)
    }
}

/// Reads the files that a scenario sends, so that a run fails before it starts. Returns the first unreadable file by
/// its dotted key in the scenario, with the error.
pub fn unreadable_file(scenario: &Scenario) -> Option<(String, LoadError)> {
    scenario.publishers.iter().enumerate().find_map(|(number, group)| {
        let Body::Files(files) = group.body() else { return None };
        files.iter().enumerate().find_map(|(file, path)| {
            let one = std::slice::from_ref(path);
            let failure = BodyFiles::anywhere().read(one, group.packing().items).err()?;
            Some((format!("publishers.{number}.body-files.{file}"), failure))
        })
    })
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    #[test]
    fn what_is_read_of_all_files_is_bounded() {
        let place = tempfile::tempdir().unwrap();
        std::fs::write(place.path().join("body"), [7; 600]).unwrap();
        let directory = SourceDirectory::open(place.path()).unwrap();
        let files = BodyFiles::below(Some(&directory));
        files.left.set(1000);
        let body = ["body".to_owned()];
        assert_eq!(files.read(&body, 1).unwrap(), [vec![7; 600]]);
        let refused = files.read(&body, 1).unwrap_err().to_string();
        assert!(refused.contains("body") && refused.contains("400 bytes"), "{refused}");
    }

    #[test]
    fn without_consent_nothing_is_opened() {
        let refused = BodyFiles::below(None).read(&["/etc/hostname".to_owned()], 1).unwrap_err();
        assert!(refused.to_string().contains("/etc/hostname"), "{refused}");
        assert!(BodyFiles::anywhere().read(&["/etc/passwd".to_owned()], 1).is_ok());
    }

    #[test]
    fn files_that_make_a_message_too_large_are_refused() {
        let place = tempfile::tempdir().unwrap();
        let file = place.path().join("body");
        // A hundred thousand of them exceed any message.
        std::fs::write(&file, vec![7; 8192]).unwrap();
        let of = |items: u32| {
            let text = format!(
                "name = \"m\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"q\" }}]\n[[publishers]]\n\
                 queue = \"q\"\nbody-files = [{file:?}]\nitems-per-message = {items}"
            );
            let scenario = scenario::parse(&text, "test", &[]).unwrap();
            unreadable_file(&scenario).map(|(key, _)| key)
        };
        assert_eq!(of(1), None);
        assert_eq!(of(100_000), Some("publishers.0.body-files.0".to_owned()));
    }
}
