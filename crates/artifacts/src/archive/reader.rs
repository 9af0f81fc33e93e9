//! Finds windows by their names, and adds them up.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_profiles::{Profile, ProfileSum, ReadOptions, read_pprof_with};
use rabbitscope_terminal::{UsageError, output};

use super::{
    layout::{hours, windows_in},
    name::WindowName,
    owned::is_archive,
    selection::Selection,
};

/// The number of damaged files that are named one by one; the rest are counted.
const NAMED_DAMAGES: usize = 5;

/// A window in the archive.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FoundWindow {
    /// Name of the file.
    pub name: WindowName,
    /// Path of the file.
    pub path: PathBuf,
}

/// Returns the selected windows in order of time.
pub fn find(root: &Path, selection: &Selection) -> anyhow::Result<Vec<FoundWindow>> {
    let place = root.display();
    if !is_archive(root) {
        return Err(UsageError(format!("{place} is not a directory of `rabbitscope watch`")).into());
    }
    let hours = hours(root).with_context(|| format!("cannot list {place}"))?;
    let windows = hours.iter().flat_map(|hour| windows_in(&root.join(hour)));
    let meant = windows.filter(|(name, ..)| selection.has(name));
    let mut found: Vec<FoundWindow> =
        meant.map(|(name, path, _)| FoundWindow { name, path }).collect();
    found.sort();
    Ok(found)
}

/// Returns the sum of all selected windows as one profile. A damaged file is left out and named. The limit holds for
/// the memory of each file.
pub(crate) fn sum(root: &Path, selection: &Selection, limit_bytes: u64) -> anyhow::Result<Profile> {
    let mut sum = ProfileSum::default();
    let damaged = add_readable(&mut sum, find(root, selection)?, limit_bytes);
    let mut profile = sum.finish().ok_or_else(|| nothing_found(root))?;
    if damaged > 0 {
        profile.capture.notes.push(left_out(damaged));
    }
    Ok(profile)
}

/// Adds windows. Names damaged files, and returns their number.
pub(super) fn add_readable(
    sum: &mut ProfileSum,
    windows: Vec<FoundWindow>,
    limit_bytes: u64,
) -> usize {
    let mut damaged = 0;
    for window in windows {
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
        output::note(&left_out(damaged));
    }
    damaged
}

/// Returns the error of a selection without windows.
pub(super) fn nothing_found(root: &Path) -> UsageError {
    let place = root.display();
    UsageError(format!("{place} has no such window; `rabbitscope heatmap` shows all windows"))
}

fn left_out(damaged: usize) -> String {
    match damaged {
        1 => "1 window is left out: its file is damaged".to_owned(),
        _ => format!("{damaged} windows are left out: their files are damaged"),
    }
}

fn read(path: &Path, limit_bytes: u64) -> anyhow::Result<Profile> {
    let file = rabbitscope_files::open(path, limit_bytes)?;
    Ok(read_pprof_with(file, ReadOptions::within(limit_bytes))?)
}
