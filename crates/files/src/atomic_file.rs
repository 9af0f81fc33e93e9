//! Files that exist completely or not at all: written without a name, which they get at the end.
//!
//! A kill leaves nothing of a file without a name (`O_TMPFILE`, open(2)). Two cases need a temporary name, which is
//! random and new each time: a file system without nameless files, and the replacement of a file. The directory is
//! held open, so the file gets its name in that very directory. An existing entry of that name is never opened: a
//! regular file is replaced, anything else is an error.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, BufWriter, Write},
    os::fd::AsRawFd,
    path::{Path, PathBuf},
    sync::Arc,
};

use rustix::{
    fs::{AtFlags, CWD, FileType, OFlags, linkat, openat},
    process::geteuid,
};

use crate::{Directory, WriteError, mode};

/// A file that is being written. Dropping it without [`AtomicFile::commit`] leaves nothing.
#[derive(Debug)]
pub struct AtomicFile {
    path: PathBuf,
    file: BufWriter<File>,
    unfinished: Unfinished,
}

/// Target of an unfinished file.
#[derive(Debug)]
struct Unfinished {
    directory: Arc<Directory>,
    name: OsString,
    /// Permissions of the replaced file.
    replaced: Option<u32>,
    /// Temporary name, on a file system without nameless files.
    other_name: Option<OsString>,
}

impl AtomicFile {
    /// Opens the file for writing. Fails at once if it could not be committed later.
    pub fn create(path: &Path) -> Result<Self, WriteError> {
        let (directory, name) = Directory::of_file(path).map_err(|error| error.of_file(path))?;
        Self::in_directory(Arc::new(directory), name)
    }

    /// Like [`Self::create`], for a file in a held directory.
    pub fn in_directory(directory: Arc<Directory>, name: &OsStr) -> Result<Self, WriteError> {
        let path = directory.path().join(name);
        let (file, unfinished) = unfinished(directory, name, &path)?;
        Ok(Self { path, file: BufWriter::new(file), unfinished })
    }

    /// Returns the writer for the contents.
    pub fn writer(&mut self) -> &mut impl Write {
        &mut self.file
    }

    /// Puts the file in its place, and flushes it to the disk.
    pub fn commit(self) -> Result<(), WriteError> {
        let Self { path, file, unfinished } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        let named = file.and_then(|file| {
            file.sync_all()?;
            unfinished.persist(&file)?;
            unfinished.directory.sync()
        });
        named.map_err(|error| WriteError::write(&path, error))
    }

    /// Puts the file in its place without flushing. A power failure soon after may truncate or lose it.
    pub fn commit_unsynced(self) -> Result<(), WriteError> {
        let Self { path, file, unfinished } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(|file| unfinished.persist(&file))
            .map_err(|error| WriteError::write(&path, error))
    }
}

/// Writes a whole file.
pub fn write(path: &Path, contents: &[u8]) -> Result<(), WriteError> {
    let mut file = AtomicFile::create(path)?;
    file.writer().write_all(contents).map_err(|error| WriteError::write(path, error))?;
    file.commit()
}

/// Creates a file that grows in its place, with `beginning` as its first contents.
pub fn start(path: &Path, beginning: &str) -> Result<File, WriteError> {
    let (directory, name) = Directory::of_file(path).map_err(|error| error.of_file(path))?;
    let (mut file, unfinished) = unfinished(Arc::new(directory), name, path)?;
    let begun = file.write_all(beginning.as_bytes()).and_then(|()| unfinished.persist(&file));
    begun.map_err(|error| WriteError::write(path, error))?;
    Ok(file)
}

impl Unfinished {
    /// Gives the unfinished `file` its permissions and its name.
    fn persist(&self, file: &File) -> io::Result<()> {
        mode::give(file, self.replaced)?;
        if let Some(other) = &self.other_name {
            return self.directory.rename(other, &self.name);
        }
        match self.name_it(file, &self.name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => self.replace(file),
            outcome => outcome,
        }
    }

    /// Replaces an existing file. A rename can do this, but needs a temporary name.
    fn replace(&self, file: &File) -> io::Result<()> {
        let other = crate::directory::random_name()?;
        self.name_it(file, &other)?;
        let renamed = self.directory.rename(&other, &self.name);
        renamed.inspect_err(|_| drop(self.directory.remove_file(&other)))
    }

    /// Links the file to a name, through the kernel's link to every open file (linkat(2)).
    fn name_it(&self, file: &File, name: &OsStr) -> io::Result<()> {
        let open = format!("/proc/self/fd/{}", file.as_raw_fd());
        Ok(linkat(CWD, open, &*self.directory, name, AtFlags::SYMLINK_FOLLOW)?)
    }
}

impl Drop for Unfinished {
    fn drop(&mut self) {
        if let Some(other) = &self.other_name {
            // Fails if the file got its name.
            let _ = self.directory.remove_file(other);
        }
    }
}

fn unfinished(
    directory: Arc<Directory>,
    name: &OsStr,
    path: &Path,
) -> Result<(File, Unfinished), WriteError> {
    let replaced = replaced(&directory, name, path)?;
    let nameless = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let (file, other_name) =
        if let Ok(file) = openat(&*directory, ".", nameless, mode::of_new_file()) {
            (File::from(file), None)
        } else {
            // For any failure, the usual way works or gives the better message.
            let made = directory.randomly_named_file();
            let (file, other) = made.map_err(|error| WriteError::write(path, error))?;
            (file, Some(other))
        };
    Ok((file, Unfinished { directory, name: name.to_owned(), replaced, other_name }))
}

/// Returns the permissions of a replaced file of this user. Refuses anything but a regular file: a rename would put a
/// file in the place of a link or a device such as `/dev/null`.
fn replaced(directory: &Directory, name: &OsStr, path: &Path) -> Result<Option<u32>, WriteError> {
    let found = directory.look(name).map_err(|error| WriteError::write(path, error))?;
    let Some(found) = found else { return Ok(None) };
    let kind = match FileType::from_raw_mode(found.st_mode) {
        FileType::RegularFile => {
            let is_own = found.st_uid == geteuid().as_raw();
            return Ok(is_own.then_some(found.st_mode));
        }
        FileType::Directory => {
            return Err(WriteError::write(path, io::ErrorKind::IsADirectory));
        }
        FileType::Symlink => "a symbolic link, and links are not followed",
        FileType::Fifo => "a pipe, and only regular files are written",
        _ => "no regular file",
    };
    let refusal = format!("it is {kind}; choose another file");
    Err(WriteError::write(path, io::Error::new(io::ErrorKind::AlreadyExists, refusal)))
}

#[cfg(test)]
mod tests {
    use std::{
        fs::{self, Permissions},
        os::unix::fs::{PermissionsExt, symlink},
    };

    use super::*;

    fn mode(path: &Path) -> u32 {
        path.metadata().unwrap().permissions().mode() & 0o777
    }

    #[test]
    fn all_or_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("file");
        let mut dropped = AtomicFile::create(&path).unwrap();
        dropped.writer().write_all(b"half").unwrap();
        drop(dropped);
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 0);
        write(&path, b"whole").unwrap();
        write(&path, b"again").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"again");
        assert_eq!(fs::read_dir(&directory).unwrap().count(), 1);
        assert!(AtomicFile::create(directory.path()).is_err());
    }

    #[test]
    fn a_planted_link_leads_nowhere() {
        let directory = tempfile::tempdir().unwrap();
        let (victim, path) = (directory.path().join("victim"), directory.path().join("file"));
        fs::write(&victim, "of somebody else").unwrap();
        write(&path, b"ours").unwrap();
        start(&path, "ours").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&victim, &path).unwrap();
        for refused in [write(&path, b"ours"), start(&path, "ours").map(drop)] {
            let refused = refused.unwrap_err();
            let said = [refused.to_string(), io::Error::from(refused).to_string()].join(": ");
            assert!(said.contains("file") && said.contains("symbolic link"), "{said}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "of somebody else");
    }

    #[test]
    fn a_new_file_is_private_and_a_replaced_one_keeps_its_mode() {
        let directory = tempfile::tempdir().unwrap();
        let (new, grown) = (directory.path().join("new"), directory.path().join("grown"));
        write(&new, b"").unwrap();
        start(&grown, "").unwrap();
        assert_eq!((mode(&new), mode(&grown)), (0o600, 0o600));
        fs::set_permissions(&new, Permissions::from_mode(0o644)).unwrap();
        write(&new, b"again").unwrap();
        assert_eq!(mode(&new), 0o644);
    }

    #[test]
    fn a_held_directory_is_written_to_whatever_its_name_is() {
        let place = tempfile::tempdir().unwrap();
        let (here, there) = (place.path().join("here"), place.path().join("there"));
        let held = Directory::make(&here).unwrap();
        let mut file = AtomicFile::in_directory(Arc::new(held), "file".as_ref()).unwrap();
        fs::rename(&here, &there).unwrap();
        symlink("/", &here).unwrap();
        file.writer().write_all(b"text").unwrap();
        file.commit().unwrap();
        assert_eq!(fs::read(there.join("file")).unwrap(), b"text");
    }
}
