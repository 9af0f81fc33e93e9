//! Files that are there in full or not at all: written without a name, which they get at the end.
//!
//! A kill leaves nothing of a file without a name (`O_TMPFILE`, open(2)). Where the file system has no
//! such files, or a file of that name is there to be replaced, there is another name first, which cannot
//! be guessed and is made anew, so that nobody who may write to the directory can have put a link there
//! that leads to a file of somebody else. What the name itself leads to is never opened: a regular file
//! is replaced, anything else is refused.

use std::{
    fs::{self, File, Permissions},
    io::{self, BufWriter, Write},
    os::{
        fd::AsRawFd,
        unix::fs::{FileTypeExt, PermissionsExt},
    },
    path::{Path, PathBuf},
};

use anyhow::Context;
use rustix::fs::{AtFlags, CWD, Mode, OFlags, linkat};
use tempfile::{Builder, NamedTempFile, TempPath};

/// As every program makes files: whoever runs it decides by the umask.
const MODE: u32 = 0o666;

/// A file that is being written. Dropped without [`AtomicFile::commit`] it leaves nothing.
#[derive(Debug)]
pub(crate) struct AtomicFile {
    path: PathBuf,
    file: BufWriter<File>,
    unfinished: Unfinished,
}

/// What an unfinished file is called.
#[derive(Debug)]
enum Unfinished {
    /// Not at all: it goes with its last descriptor.
    Nameless,
    /// Removed when it is dropped before it got its name.
    NamedProfile(TempPath),
}

impl AtomicFile {
    /// Opens the file for writing; fails at once where it could not be written later.
    pub(crate) fn create(path: &Path) -> anyhow::Result<Self> {
        let (file, unfinished) = unfinished(path).with_context(|| cannot_write(path))?;
        Ok(Self { path: path.to_owned(), file: BufWriter::new(file), unfinished })
    }

    /// Where to write.
    pub(crate) fn writer(&mut self) -> &mut impl Write {
        &mut self.file
    }

    /// Puts the file in its place, on the disk and not only in memory.
    pub(crate) fn commit(self) -> anyhow::Result<()> {
        let Self { path, file, unfinished } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(|file| {
            file.sync_all()?;
            unfinished.persist(&file, &path)?;
            sync_directory(&path)
        })
        .with_context(|| cannot_write(&path))
    }
}

impl AtomicFile {
    /// Puts the file in its place. A machine that loses power soon after may leave it cut short, or not at all.
    pub(crate) fn commit_unsynced(self) -> anyhow::Result<()> {
        let Self { path, file, unfinished } = self;
        let file = file.into_inner().map_err(io::IntoInnerError::into_error);
        file.and_then(|file| unfinished.persist(&file, &path)).with_context(|| cannot_write(&path))
    }
}

/// Writes a whole file.
pub(crate) fn write(path: &Path, contents: &[u8]) -> anyhow::Result<()> {
    let mut file = AtomicFile::create(path)?;
    file.writer().write_all(contents).with_context(|| cannot_write(path))?;
    file.commit()
}

/// A file that grows in its place, with what it begins with.
pub(crate) fn start(path: &Path, beginning: &str) -> anyhow::Result<File> {
    let made = unfinished(path).and_then(|(mut file, unfinished)| {
        file.write_all(beginning.as_bytes())?;
        unfinished.persist(&file, path)?;
        Ok(file)
    });
    made.with_context(|| cannot_write(path))
}

fn cannot_write(path: &Path) -> String {
    format!("cannot write {}", path.display())
}

impl Unfinished {
    /// Gives `file`, which is this, its name.
    fn persist(self, file: &File, path: &Path) -> io::Result<()> {
        let named = match self {
            Self::NamedProfile(named) => named,
            Self::Nameless => match name_it(file, path) {
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {
                    // A rename replaces what is there, and takes another name.
                    let made =
                        other_name(path)?.make_in(directory_of(path), |other| name_it(file, other));
                    made.map_err(|error| without_path(&error))?.into_temp_path()
                }
                outcome => return outcome,
            },
        };
        Ok(named.persist(path)?)
    }
}

/// By the link that the kernel has to every open file (linkat(2)).
fn name_it(file: &File, path: &Path) -> io::Result<()> {
    let open = format!("/proc/self/fd/{}", file.as_raw_fd());
    Ok(linkat(CWD, open, CWD, path, AtFlags::SYMLINK_FOLLOW)?)
}

fn unfinished(path: &Path) -> io::Result<(File, Unfinished)> {
    refuse_what_is_no_file(path)?;
    let other_name = other_name(path)?;
    let nameless = OFlags::TMPFILE | OFlags::WRONLY | OFlags::CLOEXEC;
    let mode = Mode::from_raw_mode(MODE);
    if let Ok(file) = rustix::fs::open(directory_of(path), nameless, mode) {
        return Ok((File::from(file), Unfinished::Nameless));
    }
    // Whatever the reason, the usual way says it better, or works.
    let named = other_name.tempfile_in(directory_of(path)).map(NamedTempFile::into_parts);
    let (file, named) = named.map_err(|error| without_path(&error))?;
    Ok((file, Unfinished::NamedProfile(named)))
}

/// Makes files with names beside `path` that cannot be guessed.
fn other_name(path: &Path) -> io::Result<Builder<'static, 'static>> {
    path.file_name().ok_or(io::ErrorKind::InvalidInput)?;
    let mut builder = Builder::new();
    builder.prefix(".rabbitscope.").permissions(Permissions::from_mode(MODE));
    Ok(builder)
}

/// The library adds the name that cannot be guessed, which tells nobody anything.
fn without_path(error: &io::Error) -> io::Error {
    let text = error.to_string();
    let reason = text.split(" at path ").next().unwrap_or_default().to_owned();
    io::Error::new(error.kind(), reason)
}

/// A rename would put a file in the place of a device or a link, `/dev/null` for one.
fn refuse_what_is_no_file(path: &Path) -> io::Result<()> {
    let Ok(kind) = fs::symlink_metadata(path).map(|metadata| metadata.file_type()) else {
        return Ok(());
    };
    let what = match kind {
        kind if kind.is_file() => return Ok(()),
        kind if kind.is_dir() => return Err(io::ErrorKind::IsADirectory.into()),
        kind if kind.is_symlink() => "a symbolic link, and links are not followed",
        kind if kind.is_fifo() => "a pipe, and only regular files are written",
        _ => "no regular file",
    };
    let refusal = format!("it is {what}; name another file");
    Err(io::Error::new(io::ErrorKind::AlreadyExists, refusal))
}

fn directory_of(path: &Path) -> &Path {
    let parent = path.parent().filter(|parent| !parent.as_os_str().is_empty());
    parent.unwrap_or(Path::new("."))
}

/// Without this a machine that loses power may forget the new name.
fn sync_directory(path: &Path) -> io::Result<()> {
    match File::open(directory_of(path))?.sync_all() {
        // A file system that cannot do this for directories.
        Err(error) if error.kind() == io::ErrorKind::InvalidInput => Ok(()),
        synced => synced,
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

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
        symlink(&victim, directory.path().join(format!(".file.{}", std::process::id()))).unwrap();
        write(&path, b"ours").unwrap();
        start(&path, "ours").unwrap();
        fs::remove_file(&path).unwrap();
        symlink(&victim, &path).unwrap();
        for refused in [write(&path, b"ours"), start(&path, "ours").map(drop)] {
            let said = format!("{:#}", refused.unwrap_err());
            assert!(said.contains("file") && said.contains("symbolic link"), "{said}");
        }
        assert_eq!(fs::read_to_string(&victim).unwrap(), "of somebody else");
    }

    #[test]
    fn others_may_read_what_the_umask_lets_them() {
        let directory = tempfile::tempdir().unwrap();
        let (ours, usual) = (directory.path().join("ours"), directory.path().join("usual"));
        write(&ours, b"").unwrap();
        fs::write(&usual, "").unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode();
        assert_eq!(mode(&ours), mode(&usual));
    }
}
