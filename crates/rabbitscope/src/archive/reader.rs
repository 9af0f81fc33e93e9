//! Finds windows by their names, and adds them up.

use std::{
    fs, io,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_profiles::{Profile, ProfileSum, read_pprof_within};

use super::{name::WindowName, owned::is_archive, selection::Selection, writer::windows_in};
use crate::{exit::UsageError, output};

/// Damaged files that are named one by one; the rest is counted.
const NAMED_DAMAGES: usize = 5;

/// A window that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundWindow {
    pub(crate) name: WindowName,
    pub(crate) path: PathBuf,
}

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

/// The windows that are meant, in order of time.
pub(crate) fn find(root: &Path, selection: &Selection) -> anyhow::Result<Vec<FoundWindow>> {
    let place = root.display();
    if !is_archive(root) {
        return Err(UsageError(format!("{place} is no directory of `rabbitscope watch`")).into());
    }
    let hours = hours(root).with_context(|| format!("cannot list {place}"))?;
    let windows = hours.iter().flat_map(|hour| windows_in(&root.join(hour)));
    let meant = windows.filter(|(name, ..)| selection.has(name));
    let mut found: Vec<FoundWindow> =
        meant.map(|(name, path, _)| FoundWindow { name, path }).collect();
    found.sort();
    Ok(found)
}

/// All windows that are meant as one profile. A file that is damaged is left out and named. Each file may take so much
/// memory.
pub(crate) fn sum(root: &Path, selection: &Selection, limit_bytes: u64) -> anyhow::Result<Profile> {
    let mut sum = ProfileSum::default();
    let mut damaged = 0;
    for window in find(root, selection)? {
        match read(&window.path, limit_bytes) {
            Ok(profile) => {
                sum.add(&profile);
            }
            Err(error) => {
                damaged += 1;
                if damaged <= NAMED_DAMAGES {
                    output::note(&format!("{} is left out: {error:#}", window.path.display()));
                }
            }
        }
    }
    if damaged > NAMED_DAMAGES {
        output::note(&format!("{damaged} windows are left out: their files are damaged"));
    }
    let mut profile = sum.finish().ok_or_else(|| {
        UsageError(format!(
            "{} has no such window; `rabbitscope heatmap` shows which there are",
            root.display()
        ))
    })?;
    if damaged > 0 {
        profile
            .capture
            .notes
            .push(format!("{damaged} windows are left out: their files are damaged"));
    }
    Ok(profile)
}

fn read(path: &Path, limit_bytes: u64) -> anyhow::Result<Profile> {
    Ok(read_pprof_within(rabbitscope_files::open(path, limit_bytes)?, limit_bytes)?)
}
