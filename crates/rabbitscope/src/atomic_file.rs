//! Files that are there in full or not at all: written under another name, then renamed.

use std::{
    fs::{self, File},
    io::{self, BufWriter, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;

/// A file that is being written. Dropped without [`AtomicFile::commit`] it leaves nothing.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    path: PathBuf,
    unfinished: PathBuf,
    file: Option<BufWriter<File>>,
}

impl AtomicFile {
    /// Opens the file for writing; fails at once where it could not be written later.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot write {}", path.display());
        if path.is_dir() {
            return Err(io::Error::from(io::ErrorKind::IsADirectory)).with_context(cannot);
        }
        let name = path.file_name().with_context(cannot)?.to_string_lossy();
        let unfinished = path.with_file_name(format!(".{name}.{}", std::process::id()));
        let file = File::create(&unfinished).with_context(cannot)?;
        Ok(Self { path: path.to_owned(), unfinished, file: Some(BufWriter::new(file)) })
    }

    /// Where to write.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        self.file.as_mut().expect("open until it is committed")
    }

    /// Puts the file in its place.
    pub(crate) fn commit(mut self) -> anyhow::Result<()> {
        let file = self.file.take().expect("open until it is committed");
        let written = file.into_inner().map_err(io::IntoInnerError::into_error);
        written
            .and_then(|_| fs::rename(&self.unfinished, &self.path))
            .with_context(|| format!("cannot write {}", self.path.display()))
    }
}

impl Drop for AtomicFile {
    fn drop(&mut self) {
        // After a commit there is no such file any more.
        let _ = fs::remove_file(&self.unfinished);
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.writer()
        .write_all(contents)
        .with_context(|| format!("cannot write {}", path.display()))?;
    file.commit()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_or_nothing() {
        let directory =
            std::env::temp_dir().join(format!("rabbitscope-atomic-{}", std::process::id()));
        fs::create_dir_all(&directory).unwrap();
        let path = directory.join("file");
        let mut dropped = AtomicFile::create(&path).unwrap();
        dropped.writer().write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        write(&path, b"whole").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"whole");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        assert!(AtomicFile::create(&directory).is_err());
        fs::remove_dir_all(&directory).unwrap();
    }
}
