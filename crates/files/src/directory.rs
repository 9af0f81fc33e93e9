//! A directory that is held, so that what is done in it is done there whatever becomes of its name.

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

/// A directory on whose way only this user or root can change anything. Names in it are single ones, without a slash.
#[derive(Debug)]
pub struct Directory {
    descriptor: OwnedFd,
    path: PathBuf,
}

impl Directory {
    /// Opens a directory that is there.
    pub fn open(path: &Path) -> Result<Self, WriteError> {
        Ok(Self { descriptor: walk(path, Missing::Fail)?, path: path.to_owned() })
    }

    /// Opens a directory, and makes what is missing of the way to it.
    pub fn make(path: &Path) -> Result<Self, WriteError> {
        Ok(Self { descriptor: walk(path, Missing::Make)?, path: path.to_owned() })
    }

    /// Opens the directory of a file; and the file's name.
    pub fn of_file(path: &Path) -> Result<(Self, &OsStr), WriteError> {
        let name = path.file_name().ok_or_else(|| WriteError::directory(path, Errno::ISDIR))?;
        let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
        Ok((Self::open(parent.unwrap_or(Path::new(".")))?, name))
    }

    /// The name by which it was opened.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Opens a directory in it.
    pub fn below(&self, name: impl AsRef<OsStr>) -> Result<Self, WriteError> {
        let name = name.as_ref();
        let path = self.path.join(name);
        let failed = |error: Errno| WriteError::directory(&path, error);
        let opened = openat(self, name, READING, Mode::empty()).map_err(failed)?;
        trust::require_directory(&path, &fstat(&opened).map_err(failed)?)?;
        Ok(Self { descriptor: opened, path })
    }

    /// Makes a directory in it. False: it was there.
    pub fn make_directory(&self, name: &OsStr) -> io::Result<bool> {
        match mode::make_directory(self.as_fd(), name) {
            Ok(()) => Ok(true),
            Err(Errno::EXIST) => Ok(false),
            Err(error) => Err(error.into()),
        }
    }

    /// As [`Self::below`], and makes the directory where it is missing.
    pub fn make_below(&self, name: impl AsRef<OsStr>) -> Result<Self, WriteError> {
        let name = name.as_ref();
        let path = self.path.join(name);
        self.make_directory(name).map_err(|error| WriteError::make(&path, error))?;
        self.below(name)
    }

    /// Makes a file that is not there yet.
    pub fn create_new(&self, name: &OsStr) -> io::Result<File> {
        let file = File::from(openat(self, name, NEW_FILE | OFlags::RDWR, mode::of_new_file())?);
        mode::give(&file, None)?;
        Ok(file)
    }

    /// Opens a regular file for reading and writing, which is made where it is missing. Links are not followed.
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
        // The file that was looked at, which opening does nothing to.
        if (metadata.dev(), metadata.ino()) != (found.st_dev, found.st_ino) {
            return Err(Errno::AGAIN.into());
        }
        reading::require_size(metadata.len(), most)?;
        Ok(file)
    }

    /// The whole of a regular file of at most `most` bytes.
    pub fn read(&self, name: &OsStr, most: u64) -> io::Result<Vec<u8>> {
        reading::read_all(self.open_file(name, most)?, most)
    }

    /// Makes a file without a name, which nothing remains of.
    pub fn unnamed_file(&self) -> io::Result<File> {
        let unnamed = OFlags::TMPFILE | OFlags::RDWR | OFlags::CLOEXEC;
        if let Ok(file) = openat(self, ".", unnamed, mode::of_new_file()) {
            return Ok(file.into());
        }
        let (file, name) = self.randomly_named_file()?;
        unlinkat(self, &name, AtFlags::empty())?;
        Ok(file)
    }

    /// Makes a file with a name that cannot be guessed.
    pub(crate) fn randomly_named_file(&self) -> io::Result<(File, OsString)> {
        let name = random_name()?;
        Ok((self.create_new(&name)?, name))
    }

    /// Renames what is in it.
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

    /// What has a name, if anything. Of a link it is the link.
    pub(crate) fn look(&self, name: &OsStr) -> io::Result<Option<Stat>> {
        match statat(self, name, AtFlags::SYMLINK_NOFOLLOW) {
            Ok(found) => Ok(Some(found)),
            Err(Errno::NOENT) => Ok(None),
            Err(error) => Err(error.into()),
        }
    }

    /// Whether a regular file has the name.
    pub fn has_file(&self, name: &OsStr) -> bool {
        self.look(name).ok().flatten().is_some_and(|found| is_regular(&found))
    }

    /// Bytes of a regular file.
    pub fn length(&self, name: &OsStr) -> io::Result<u64> {
        let found = self.look(name)?.filter(is_regular);
        let length = found.and_then(|found| u64::try_from(found.st_size).ok());
        length.ok_or_else(|| Errno::INVAL.into())
    }

    /// The names of all that is in it.
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

    /// Whether another user can make or remove files in it, which a sticky directory such as `/tmp` allows.
    pub fn is_of_others(&self) -> io::Result<bool> {
        let found = fstat(self)?;
        let is_own = found.st_uid == geteuid().as_raw();
        Ok(!is_own || trust::can_be_written_by_others(&found))
    }

    /// Another descriptor of it, such as takes locks and lists.
    pub fn opened(&self) -> io::Result<File> {
        Ok(openat(self, ".", READING, Mode::empty())?.into())
    }

    /// Puts its names on the disk.
    pub(crate) fn sync(&self) -> io::Result<()> {
        // A directory that may be written to and not be listed.
        let Ok(opened) = self.opened() else { return Ok(()) };
        match opened.sync_all() {
            // A file system that cannot do this for directories.
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

/// A part of a file's name that cannot be guessed.
pub fn random_digits() -> io::Result<String> {
    let mut random = [0; 16];
    rustix::rand::getrandom(&mut random, rustix::rand::GetRandomFlags::empty())?;
    Ok(format!("{:032x}", u128::from_ne_bytes(random)))
}

pub(crate) fn random_name() -> io::Result<OsString> {
    Ok(OsString::from(format!(".rabbitscope.{}", random_digits()?)))
}
