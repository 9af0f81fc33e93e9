//! A directory that is held open, so that operations stay in it even if its path changes.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{
        fd::{AsFd, BorrowedFd, OwnedFd},
        unix::{ffi::OsStringExt, fs::MetadataExt},
    },
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, Stat, fstat, openat, renameat, statat, unlinkat},
    io::Errno,
    process::geteuid,
};

use crate::{
    WriteError, mode, reading, trust,
    walk::{Missing, walk},
};

const READING: OFlags = OFlags::DIRECTORY.union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);
const NEW_FILE: OFlags =
    OFlags::CREATE.union(OFlags::EXCL).union(OFlags::NOFOLLOW).union(OFlags::CLOEXEC);

/// A directory that is safe from exchange: only this user or root can change anything on the path to it. Names of
/// entries have no slash.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Opens an existing directory.
    pub fn open(path: &Path) -> Result<Self, WriteError> {
        Ok(Self { descriptor: walk(path, Missing::Fail)?, path: path.to_owned() })
    }

    /// Opens a directory, and creates missing ones on its path.
    pub fn make(path: &Path) -> Result<Self, WriteError> {
        Ok(Self { descriptor: walk(path, Missing::Make)?, path: path.to_owned() })
    }

    /// Opens the directory of a file. Also returns the file's name.
    pub fn of_file(path: &Path) -> Result<(Self, &OsStr), WriteError> {
        let name = path.file_name().ok_or_else(|| WriteError::directory(path, Errno::ISDIR))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok((Self::open(parent.unwrap_or(Path::new(".")))?, name))
    }

    /// Returns the path by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a subdirectory.
    pub fn below(&self, name: impl AsRef<OsStr>) -> Result<Self, WriteError> {
        let name = name.as_ref();
        let path = self.path.join(name);
        let failed = |error: Errno| WriteError::directory(&path, error);
        let opened = openat(self, name, READING, Mode::empty()).map_err(failed)?;
        trust::require_directory(&path, &fstat(&opened).map_err(failed)?)?;
        Ok(Self { descriptor: opened, path })
    }

    /// Creates a subdirectory. Returns false if the entry exists.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<bool> {
        match mode::make_directory(self.as_fd(), name) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// Like [`Self::below`], and creates the directory if it is missing.
    pub fn make_below(&self, name: impl AsRef<OsStr>) -> Result<Self, WriteError> {
        let name = name.as_ref();
        let path = self.path.join(name);
        self.make_directory(name).map_err(|error| WriteError::make(&path, error))?;
        self.below(name)
    }

    /// Creates a file that does not exist yet.
    pub fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let file = File::from(openat(self, name, NEW_FILE | OFlags::RDWR, mode::of_new_file())?);
        mode::give(&file, None)?;
        Ok(file)
    }

    /// Opens a regular file for reading and writing, and creates it if it is missing. Links are not followed.
    pub fn open_or_create(&self, name: &OsStr) -> io::Result<File> {
        match self.create_new(name) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => return made,
        }
        let opening = OFlags::RDWR | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let file = File::from(openat(self, name, opening, Mode::empty())?);
        if file.metadata()?.is_file() { Ok(file) } else { Err(Errno::INVAL.into()) }
    }

    /// Opens a regular file of at most `most` bytes for reading. Links are not followed.
    pub fn open_file(&self, name: &OsStr, most: u64) -> io::Result<File> {
        let reading = OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let found = self.look(name)?.filter(is_regular).ok_or(Errno::NOENT)?;
        let file = File::from(openat(self, name, reading, Mode::empty())?);
        let metadata = file.metadata()?;
        // Only the file that was examined before is accepted: opening it has no side effects.
        if (metadata.dev(), metadata.ino()) != (found.st_dev, found.st_ino) {
            return Err(Errno::AGAIN.into());
        }
        reading::require_size(metadata.len(), most)?;
        Ok(file)
    }

    /// Reads the whole of a regular file of at most `most` bytes.
    pub fn read(&self, name: &OsStr, most: u64) -> io::Result<Vec<u8>> {
        reading::read_all(self.open_file(name, most)?, most)
    }

    /// Creates a file without a name, which vanishes when it is closed.
    pub fn unnamed_file(&self) -> io::Result<File> {
        let unnamed = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(file) = openat(self, ".", unnamed, mode::of_new_file()) {
            return Ok(file.into());
        }
        let (file, name) = self.randomly_named_file()?;
        unlinkat(self, &name, AtFlags::empty())?;
        Ok(file)
    }

    /// Creates a file with a random name.
    pub(crate) fn randomly_named_file(&self) -> io::Result<(File, OsString)> {
        let name = random_name()?;
        Ok((self.create_new(&name)?, name))
    }

    /// Renames an entry.
    pub fn rename(&self, from: &OsStr, to: &OsStr) -> io::Result<()> {
        Ok(renameat(self, from, self, to)?)
    }

    /// Removes a file.
    pub fn remove_file(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(self, name, AtFlags::empty())?)
    }

    /// Removes an empty directory.
    pub fn remove_directory(&self, name: &OsStr) -> io::Result<()> {
        Ok(unlinkat(self, name, AtFlags::REMOVEDIR)?)
    }

    /// Returns the metadata of an entry, if it exists. Links are not followed.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Returns true if the name is that of a regular file.
    pub fn has_file(&self, name: &OsStr) -> bool {
        self.look(name).ok().flatten().is_some_and(|found| is_regular(&found))
    }

    /// Returns the size of a regular file in bytes.
    pub fn length(&self, name: &OsStr) -> io::Result<u64> {
        let found = self.look(name)?.filter(is_regular);
        let length = found.and_then(|found| u64::try_from(found.st_size).ok());
        length.ok_or_else(|| Errno::INVAL.into())
    }

    /// Returns the names of all entries.
    pub fn names(&self) -> io::Result<Vec<OsString>> {
        let mut names = Vec::new();
        for entry in Dir::new(OwnedFd::from(self.opened()?))? {
            let name = entry?.file_name().to_bytes().to_owned();
            if name != b"." && name != b".." {
                names.push(OsString::from_vec(name));
            }
        }
        Ok(names)
    }

    /// Returns true if another user can create or remove files in it, as in a sticky directory such as `/tmp`.
    pub fn is_of_others(&self) -> io::Result<bool> {
        let found = fstat(self)?;
        let is_own = found.st_uid == geteuid().as_raw();
        Ok(!is_own || trust::can_be_written_by_others(&found))
    }

    /// Opens another descriptor of it, which can be locked and listed.
    pub fn opened(&self) -> io::Result<File> {
        Ok(openat(self, ".", READING, Mode::empty())?.into())
    }

    /// Flushes its entries to the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        // The directory may be writable but not listable.
        let Ok(opened) = self.opened() else { return Ok(()) };
        match opened.sync_all() {
            // Some file systems cannot flush directories.
            Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
            synced => synced,
        }
    }
}

impl AsFd for Directory {
    fn as_fd(&self) -> BorrowedFd<'_> {
        self.descriptor.as_fd()
    }
}

fn is_regular(found: &Stat) -> bool {
    FileType::from_raw_mode(found.st_mode) == FileType::RegularFile
}

/// Returns 32 random hexadecimal digits, for names and passwords that cannot be guessed.
pub fn random_digits() -> io::Result<String> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("{:032x}", u128::from_ne_bytes(random)))
}

pub(crate) fn random_name() -> io::Result<OsString> {
    Ok(OsString::from(format!(".rabbitscope.{}", random_digits()?)))
}
