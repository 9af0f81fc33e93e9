//! Reading of files named by others: by a user, a scenario, a node's mappings, a recording.
//!
//! A path may lead to anything. Opening a FIFO blocks, `/dev/zero` has no end, and opening some devices has side
//! effects. A file is therefore examined before it is opened for reading, and the caller limits the bytes to read.
//!
//! The callers interpret the bytes.

use std::{
    fs::{File, FileType},
    io::{self, Read},
    os::{fd::AsRawFd, unix::fs::FileTypeExt},
    path::Path,
};

use rustix::fs::{Mode, OFlags, ResolveFlags};

/// Size limit of files that people write by hand: a scenario, a configuration, a cookie.
pub const MAX_TEXT_BYTES: u64 = 4 << 20;

/// Treatment of a path that ends in a symbolic link.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SymbolicLinks {
    /// Follow the link: a user who may read its target chose the path.
    Follow,
    /// Refuse the link: any user could have put it there.
    Refuse,
}

/// Opens a regular file of at most `most` bytes for reading. Never blocks.
pub fn open(path: &Path, most: u64) -> io::Result<File> {
    open_with(path, most, SymbolicLinks::Follow)
}

/// Like [`open`], with a choice for links.
pub fn open_with(path: &Path, most: u64, links: SymbolicLinks) -> io::Result<File> {
    let no_follow = if links == SymbolicLinks::Refuse { OFlags::NOFOLLOW } else { OFlags::empty() };
    // O_PATH does not open the file itself: a FIFO does not block, and a device has no side effects.
    let seen = rustix::fs::open(path, OFlags::PATH | OFlags::CLOEXEC | no_follow, Mode::empty())?;
    open_seen(&File::from(seen), most)
}

/// Like [`open`], below another root directory, such as that of a container. Absolute links begin there, and none leads
/// out.
pub fn open_in_root(root: &Path, path: &Path, most: u64) -> io::Result<File> {
    let directory = OFlags::PATH | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, directory, Mode::empty())?;
    let within = ResolveFlags::IN_ROOT | ResolveFlags::NO_MAGICLINKS;
    let flags = OFlags::PATH | OFlags::CLOEXEC;
    let seen = rustix::fs::openat2(&root, path, flags, Mode::empty(), within)?;
    open_seen(&File::from(seen), most)
}

/// Opens a file for reading that was opened with `O_PATH`, if it is a regular file of at most `most` bytes.
pub(crate) fn open_seen(seen: &File, most: u64) -> io::Result<File> {
    let metadata = seen.metadata()?;
    require_regular(metadata.file_type())?;
    require_size(metadata.len(), most)?;
    // This is the same file even if the path now leads elsewhere. Flags for other kinds of files are unnecessary.
    File::open(format!("/proc/self/fd/{}", seen.as_raw_fd()))
}

/// Reads the whole of a regular file of at most `most` bytes.
pub fn read(path: &Path, most: u64) -> io::Result<Vec<u8>> {
    read_all(open(path, most)?, most)
}

/// Like [`read`], for text in UTF-8.
pub fn read_text(path: &Path, most: u64) -> io::Result<String> {
    let text = String::from_utf8(read(path, most)?);
    text.map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "it is not text in UTF-8"))
}

/// Reads the rest of an open file, which may have grown since it was opened.
pub fn read_all(file: File, most: u64) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.take(most.saturating_add(1)).read_to_end(&mut bytes)?;
    require_size(bytes.len() as u64, most)?;
    Ok(bytes)
}

fn require_regular(kind: FileType) -> io::Result<()> {
    if kind.is_file() {
        return Ok(());
    }
    if kind.is_dir() {
        return Err(io::ErrorKind::IsADirectory.into());
    }
    let name = match kind {
        kind if kind.is_fifo() => "a pipe",
        kind if kind.is_socket() => "a socket",
        kind if kind.is_symlink() => "a symbolic link",
        _ => "a device",
    };
    let refusal = format!("it is {name}, and only regular files are read");
    Err(io::Error::new(io::ErrorKind::InvalidInput, refusal))
}

pub(crate) fn require_size(bytes: u64, most: u64) -> io::Result<()> {
    if bytes <= most {
        return Ok(());
    }
    let refusal = format!("it exceeds the limit of {most} bytes");
    Err(io::Error::new(io::ErrorKind::FileTooLarge, refusal))
}

#[cfg(test)]
mod tests {
    use std::{fs, os::unix::fs::symlink, process::Command};

    use super::*;

    #[track_caller]
    fn check_refused(result: io::Result<File>, expected: &str) {
        let said = result.unwrap_err().to_string();
        assert!(said.contains(expected), "{said}");
    }

    #[test]
    fn no_link_leads_out_of_another_root() {
        let place = tempfile::tempdir().unwrap();
        let root = place.path().join("root");
        fs::create_dir_all(root.join("var")).unwrap();
        fs::write(place.path().join("secret"), "outside").unwrap();
        fs::write(root.join("secret"), "inside").unwrap();
        symlink("/secret", root.join("var/absolute")).unwrap();
        symlink("../../../secret", root.join("var/relative")).unwrap();
        for path in ["/secret", "/var/absolute", "var/relative", "../secret"] {
            let file = open_in_root(&root, Path::new(path), 100).unwrap();
            assert_eq!(read_all(file, 100).unwrap(), b"inside", "{path}");
        }
        symlink("/proc/self/root/etc/hostname", root.join("var/magic")).unwrap();
        assert!(open_in_root(&root, Path::new("/var/magic"), 100).is_err());
    }

    #[test]
    fn only_regular_files_are_opened() {
        let place = tempfile::tempdir().unwrap();
        let fifo = place.path().join("fifo");
        assert!(Command::new("mkfifo").arg(&fifo).status().unwrap().success());
        check_refused(open(&fifo, 9), "a pipe");
        check_refused(open("/dev/zero".as_ref(), u64::MAX), "a device");
        check_refused(open(place.path(), 9), "directory");
        check_refused(open(&place.path().join("none"), 9), "No such file");
    }

    #[test]
    fn no_more_than_expected_is_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("file");
        fs::write(&path, "12345").unwrap();
        assert_eq!(read_text(&path, 5).unwrap(), "12345");
        check_refused(open(&path, 4), "the limit of 4 bytes");
        // Files of the kernel do not report their length.
        assert!(read("/proc/self/maps".as_ref(), 1 << 20).unwrap().len() > 100);
        assert!(read("/proc/self/maps".as_ref(), 99).is_err());
        fs::write(&path, [0xff]).unwrap();
        assert!(read_text(&path, 5).is_err());
    }

    #[test]
    fn links_are_followed_only_when_asked_to() {
        let place = tempfile::tempdir().unwrap();
        let (path, link) = (place.path().join("file"), place.path().join("link"));
        fs::write(&path, "text").unwrap();
        symlink(&path, &link).unwrap();
        assert!(open(&link, 9).is_ok());
        check_refused(open_with(&link, 9, SymbolicLinks::Refuse), "a symbolic link");
        assert!(open_with(&path, 9, SymbolicLinks::Refuse).is_ok());
    }
}
