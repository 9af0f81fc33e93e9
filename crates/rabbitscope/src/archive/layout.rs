//! Where windows lie: `2026-11-25/04/` has those of an hour. Only what has such names is ours.

use std::{
    fs, io,
    os::{fd::OwnedFd, unix::fs::DirBuilderExt},
    path::{Path, PathBuf},
};

use rustix::fs::{Mode, OFlags, ResolveFlags};

use super::name::WindowName;

/// The directories of hours, in order: `2026-11-25/04`.
pub(super) fn hours(root: &Path) -> io::Result<Vec<PathBuf>> {
    let mut hours = Vec::new();
    for day in numbered(root, &[4, 2, 2])? {
        let found = numbered(&root.join(&day), &[2])?;
        hours.extend(found.into_iter().map(|hour| Path::new(&day).join(hour)));
    }
    hours.sort();
    Ok(hours)
}

/// Directories whose names are numbers of so many digits, joined by `-`.
fn numbered(directory: &Path, digits: &[usize]) -> io::Result<Vec<String>> {
    let is_number = |(part, &digits): (&str, &usize)| {
        part.len() == digits && part.bytes().all(|byte| byte.is_ascii_digit())
    };
    let names = fs::read_dir(directory)?.filter_map(|entry| {
        let entry = entry.ok()?;
        let name = entry.file_name().into_string().ok()?;
        let parts: Vec<&str> = name.split('-').collect();
        let is_one = parts.len() == digits.len() && parts.into_iter().zip(digits).all(is_number);
        (is_one && entry.file_type().ok()?.is_dir()).then_some(name)
    });
    Ok(names.collect())
}

/// Permissions of the directories: windows have names of queues and of clients, which are not everybody's business.
const MODE: u32 = 0o750;

/// Makes the directory of an hour, unless it is there. A link in its place is refused: what it leads to is not ours.
pub(super) fn make_hour(root: &Path, hour: &Path) -> io::Result<()> {
    let day = hour.parent().unwrap_or(hour);
    for directory in [day, hour] {
        match fs::DirBuilder::new().mode(MODE).create(root.join(directory)) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
            made => made?,
        }
        open_below(root, directory)?;
    }
    Ok(())
}

/// Opens a directory, so that what is done in it is done there whatever becomes of its name. Links below the root are not
/// followed.
pub(super) fn open_below(root: &Path, directory: &Path) -> rustix::io::Result<OwnedFd> {
    let reading = OFlags::RDONLY | OFlags::DIRECTORY | OFlags::CLOEXEC;
    let root = rustix::fs::open(root, reading, Mode::empty())?;
    let within = ResolveFlags::BENEATH | ResolveFlags::NO_SYMLINKS;
    rustix::fs::openat2(&root, directory, reading, Mode::empty(), within)
}

/// The windows of a directory with their sizes: regular files with such a name.
pub(super) fn windows_in(
    directory: &Path,
) -> impl Iterator<Item = (WindowName, PathBuf, u64)> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = WindowName::parse(entry.file_name().to_str()?)?;
        // Of the entry itself, not of what it may lead to.
        let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((name, entry.path(), found.len()))
    })
}
