//! The layout of the archive: `2026-11-25/04/` has the windows of an hour. Only entries with such names are ours.

use std::{
    ffi::OsStr,
    fs, io,
    path::{Path, PathBuf},
};

use rabbitscope_files::{Directory, WriteError};

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

/// Returns directories whose names are numbers with these counts of digits, joined by `-`.
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

/// Opens the directory of an hour, and creates it if it is missing. A link in its place is refused, because its
/// target is not ours.
pub(super) fn make_hour(root: &Directory, hour: &Path) -> Result<Directory, WriteError> {
    let (day, hour) = parts(hour);
    root.make_below(day)?.make_below(hour)
}

/// Opens the directory of a day, and that of an hour in it. Links are not followed.
pub(super) fn open_hour(
    root: &Directory,
    hour: &Path,
) -> Result<(Directory, Directory), WriteError> {
    let (day, hour) = parts(hour);
    let day = root.below(day)?;
    let hour = day.below(hour)?;
    Ok((day, hour))
}

/// Returns the names of a day and of an hour in it.
pub(super) fn parts(hour: &Path) -> (&OsStr, &OsStr) {
    let day = hour.parent().unwrap_or(hour);
    (day.as_os_str(), hour.file_name().unwrap_or_default())
}

/// Returns the windows of a directory with their sizes: regular files with a window's name.
pub(super) fn windows_in(
    directory: &Path,
) -> impl Iterator<Item = (WindowName, PathBuf, u64)> + use<> {
    let entries = fs::read_dir(directory).into_iter().flatten().flatten();
    entries.filter_map(|entry| {
        let name = WindowName::parse(entry.file_name().to_str()?)?;
        // The metadata of the entry itself, not of a link's target.
        let found = entry.metadata().ok().filter(fs::Metadata::is_file)?;
        Some((name, entry.path(), found.len()))
    })
}
