//! A directory below which others may name files.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io,
    os::{fd::OwnedFd, unix::ffi::OsStrExt},
    path::{Path, PathBuf},
};

use rustix::{
    fs::{AtFlags, Dir, FileType, Mode, OFlags, ResolveFlags, statat},
    io::Errno,
};

use crate::reading::{open_seen, read_all};

/// A directory that is held open: a later change of its path has no effect.
#[derive(Debug)]
pub struct SourceDirectory {
    handle: OwnedFd,
    /// Absolute path by which it was opened.
    path: PathBuf,
}

/// The entries of a directory, in no order.
#[derive(Debug, Default)]
pub struct Entries {
    /// Names of the directories.
    pub directories: Vec<OsString>,
    /// Names of the regular files.
    pub files: Vec<OsString>,
}

impl SourceDirectory {
    /// Opens the directory.
    pub fn open(path: &Path) -> io::Result<Self> {
        let flags = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
        let handle = rustix::fs::open(path, flags, Mode::empty())?;
        Ok(Self { handle, path: std::path::absolute(path)? })
    }

    /// Reads the whole of a regular file of at most `most` bytes below this directory. `path` is relative to the
    /// directory, or absolute and begins with the path by which the directory was opened. No link and no `..` leads
    /// out.
    pub fn read(&self, path: &Path, most: u64) -> io::Result<Vec<u8>> {
        let below = path.strip_prefix(&self.path).unwrap_or(path);
        let flags = OFlags::PATH | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_MAGICLINKS;
        let seen = rustix::fs::openat2(&self.handle, below, flags, Mode::empty(), within);
        let seen = seen.map_err(|error| self.refusal(error))?;
        read_all(open_seen(&File::from(seen), most)?, most)
    }

    /// Returns the names of the directories and of the regular files in a directory below this one. Links are left out,
    /// and none is followed.
    pub fn entries(&self, path: &Path) -> io::Result<Entries> {
        let flags = OFlags::DIRECTORY | OFlags::CLOEXEC;
        let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
        let opened = rustix::fs::openat2(&self.handle, path, flags, Mode::empty(), within);
        let opened = opened.map_err(|error| self.refusal(error))?;
        let mut entries = Entries::default();
        for entry in Dir::read_from(&opened)? {
            let entry = entry?;
            let name = OsStr::from_bytes(entry.file_name().to_bytes());
            // Some file systems do not tell types in a list.
            let kind = match entry.file_type() {
                FileType::Unknown => {
                    let found = statat(&opened, name, AtFlags::SYMLINK_NOFOLLOW)?;
                    FileType::from_raw_mode(found.st_mode)
                }
                kind => kind,
            };
            match kind {
                FileType::Directory if name != "." && name != ".." => {
                    entries.directories.push(name.to_owned());
                }
                FileType::RegularFile => entries.files.push(name.to_owned()),
                _ => {}
            }
        }
        Ok(entries)
    }

    fn refusal(&self, error: Errno) -> io::Error {
        let place = self.path.display();
        match error {
            Errno::XDEV | Errno::LOOP => {
                let refusal = format!("it is not below {place}, or a link leads out of it");
                io::Error::new(io::ErrorKind::PermissionDenied, refusal)
            }
            Errno::NOSYS => {
                let refusal = format!("this kernel cannot hold a path below {place} (Linux 5.6)");
                io::Error::new(io::ErrorKind::Unsupported, refusal)
            }
            error => error.into(),
        }
    }
}

#[cfg(test)]
mod tests {
    use std::{
        fs,
        os::unix::fs::{PermissionsExt, symlink},
        process::Command,
    };

    use super::*;

    /// A place with `allowed/sub/body`, and with `secret` beside `allowed`.
    fn place() -> (tempfile::TempDir, PathBuf) {
        let place = tempfile::tempdir().unwrap();
        let allowed = place.path().join("allowed");
        fs::create_dir_all(allowed.join("sub")).unwrap();
        fs::write(allowed.join("sub/body"), "body").unwrap();
        fs::write(place.path().join("secret"), "secret").unwrap();
        (place, allowed)
    }

    #[track_caller]
    fn check_refused(directory: &SourceDirectory, path: &Path, expected: &str) {
        let said = directory.read(path, 99).unwrap_err().to_string();
        assert!(said.contains(expected), "{}: {said}", path.display());
    }

    #[test]
    fn files_below_are_read() {
        let (_place, allowed) = place();
        symlink("sub/body", allowed.join("link")).unwrap();
        let directory = SourceDirectory::open(&allowed).unwrap();
        for path in ["sub/body", "./sub/../sub/body", "link"] {
            assert_eq!(directory.read(path.as_ref(), 4).unwrap(), b"body", "{path}");
        }
        assert_eq!(directory.read(&allowed.join("sub/body"), 4).unwrap(), b"body");
        check_refused(&directory, "none".as_ref(), "No such file");
    }

    #[test]
    fn nothing_leads_out() {
        let (place, allowed) = place();
        let secret = place.path().join("secret");
        symlink(&secret, allowed.join("absolute")).unwrap();
        symlink("../secret", allowed.join("relative")).unwrap();
        symlink("..", allowed.join("up")).unwrap();
        symlink("/proc/self/root", allowed.join("magic")).unwrap();
        let directory = SourceDirectory::open(&allowed).unwrap();
        for path in ["absolute", "relative", "up/secret", "../secret", "sub/../../secret"] {
            check_refused(&directory, path.as_ref(), "not below");
        }
        check_refused(&directory, &allowed.join("magic").join(&secret), "not below");
        check_refused(&directory, &secret, "not below");
        check_refused(&directory, "/proc/self/environ".as_ref(), "not below");
        check_refused(&directory, &allowed.join("../secret"), "not below");
    }

    #[test]
    fn a_path_that_leads_elsewhere_by_now_does_not_matter() {
        let (place, allowed) = place();
        let directory = SourceDirectory::open(&allowed).unwrap();
        fs::rename(&allowed, place.path().join("moved")).unwrap();
        let other = place.path().join("other");
        fs::create_dir_all(other.join("sub")).unwrap();
        fs::write(other.join("sub/body"), "other").unwrap();
        symlink(&other, &allowed).unwrap();
        assert_eq!(directory.read("sub/body".as_ref(), 9).unwrap(), b"body");
    }

    #[test]
    fn a_list_has_no_links() {
        let (place, allowed) = place();
        symlink(place.path(), allowed.join("out")).unwrap();
        symlink("sub", allowed.join("within")).unwrap();
        let directory = SourceDirectory::open(&allowed).unwrap();
        let entries = directory.entries(".".as_ref()).unwrap();
        assert_eq!((entries.directories, entries.files), (vec!["sub".into()], vec![]));
        assert_eq!(directory.entries("sub".as_ref()).unwrap().files, ["body"]);
        for path in ["..", "out", "within", "sub/../..", "/"] {
            assert!(directory.entries(path.as_ref()).is_err(), "{path}");
        }
    }

    #[test]
    fn only_regular_files_of_bounded_size_are_read() {
        let (_place, allowed) = place();
        let fifo = allowed.join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        fs::set_permissions(&fifo, fs::Permissions::from_mode(0o666)).unwrap();
        let directory = SourceDirectory::open(&allowed).unwrap();
        check_refused(&directory, "fifo".as_ref(), "a pipe");
        check_refused(&directory, "sub".as_ref(), "directory");
        assert!(directory.read("sub/body".as_ref(), 3).is_err());
    }
}
