//! Finds windows by their names, and adds them up.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_profiles::{Profile, ProfileSum, ReadOptions, read_pprof_with};

use super::{
    layout::{hours, windows_in},
    name::WindowName,
    owned::is_archive,
    selection::Selection,
};
use crate::{exit::UsageError, output};

/// Damaged files that are named one by one; the rest is counted.
const NAMED_DAMAGES: usize = 5;

/// A window that was found.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct FoundWindow {
    pub(crate) name: WindowName,
    pub(crate) path: PathBuf,
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
    let file = rabbitscope_files::open(path, limit_bytes)?;
    Ok(read_pprof_with(file, ReadOptions::within(limit_bytes))?)
}
