//! Finds windows by their names, and adds them up.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_profiles::{Profile, ProfileSum, ReadOptions, read_pprof_with};
use rabbitscope_terminal::{UsageError, output};

use super::{
    bars::length_of_bar,
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

/// Returns the sum of all selected windows as one profile with their times. A damaged file is left out and named. The
/// limit holds for the memory of each file.
pub(crate) fn sum(root: &Path, selection: &Selection, limit_bytes: u64) -> anyhow::Result<Profile> {
    let windows = find(root, selection)?;
    let names: Vec<&WindowName> = windows.iter().map(|window| &window.name).collect();
    let mut sum = ProfileSum::by_clock(length_of_bar(&names));
    let damaged = add_readable(&mut sum, windows, limit_bytes);
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

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rabbitscope_profiles::read_folded;

    use super::*;
    use crate::archive::{ArchiveLimits, WindowArchive};

    #[test]
    fn several_windows_have_a_bar_each() {
        let directory = tempfile::tempdir().unwrap();
        let root = directory.path().join("windows");
        let limits = ArchiveLimits { max_age: Duration::MAX, max_bytes: u64::MAX };
        let mut archive = WindowArchive::open(&root, limits).unwrap();
        for second in [100, 110, 130] {
            let mut window = read_folded("a;b 7".as_bytes()).unwrap();
            window.capture.started_unix_nanos = second * 1_000_000_000;
            window.capture.time_step_nanos = 50_000_000;
            window.samples[0].times.add(3, 7);
            let name = WindowName {
                started_millis: second * 1000,
                duration_millis: 10_000,
                event: "cpu",
                weight_millis: 7,
                node: "rabbit@h".to_owned(),
                version: String::new(),
                pid: 1,
            };
            archive.store(&name, &window).unwrap();
        }
        let sum = sum(&root, &Selection::default(), 1 << 20).unwrap();
        assert_eq!(sum.capture.time_step_nanos, 10_000_000_000);
        let bars: Vec<(u32, u64)> = sum.samples[0].times.iter().collect();
        assert_eq!(bars, [(0, 7), (1, 7), (3, 7)]);
    }
}
