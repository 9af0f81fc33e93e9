//! A check of the past: a run directory, or windows of `watch`.

use std::path::{Path, PathBuf};

use rabbitscope_artifacts::archive::{is_archive, split_selection};
use rabbitscope_check::{read_run_directory, read_windows};
use rabbitscope_diagnosis::Case;
use rabbitscope_terminal::UsageError;

use crate::commands::arguments::SpanArguments;

/// The directory, and a time in it.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct RecordedArguments {
    /// Check a recorded run, or windows of `watch`, in place of a running node
    #[arg(value_name = "DIR", conflicts_with_all = ["pid", "is_wanted", "duration", "uri"])]
    directory: Option<PathBuf>,
    /// With a directory of `watch`: windows from this time on: 2026-11-25T04:00:00Z, 04:00 (today, UTC) or 2h (ago)
    ///
    /// --node names one of several nodes in the directory.
    #[arg(long, value_name = "TIME", requires = "directory")]
    from: Option<String>,
    /// With a directory of `watch`: windows before this time
    #[arg(long, value_name = "TIME", requires = "directory")]
    to: Option<String>,
}

impl RecordedArguments {
    /// Returns whether a directory is to be checked.
    pub(super) fn is_given(&self) -> bool {
        self.directory.is_some()
    }

    /// Reads the directory, if one is given. `node` selects windows.
    pub(super) fn read(&self, node: Option<&str>) -> anyhow::Result<Option<Case>> {
        let Some(directory) = &self.directory else { return Ok(None) };
        let (from, to) = (self.from.clone(), self.to.clone());
        let span = SpanArguments::new(from, to, node.map(str::to_owned));
        if is_archive(&split_selection(directory)?.0) {
            return read_windows(&span.applied_to(directory)).map(Some);
        }
        if node.is_some() || self.from.is_some() || self.to.is_some() {
            return Err(not_windows(directory).into());
        }
        read_run_directory(directory).map(Some)
    }
}

fn not_windows(directory: &Path) -> UsageError {
    let place = directory.display();
    UsageError(format!(
        "{place} is not a directory of `rabbitscope watch`: omit --node, --from and --to"
    ))
}
