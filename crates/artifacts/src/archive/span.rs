//! The windows of one process of a node, with the Erlang processes in them.

use std::{collections::BTreeSet, path::Path, time::Duration};

use rabbitscope_profiles::{Event, Profile, ProfileSum};
use rabbitscope_terminal::UsageError;
use rabbitscope_text::display_utc;

use super::{
    FoundWindow, find,
    reader::{add_readable, nothing_found},
    selection::{Selection, split_selection},
};

/// Most windows: six hours of ten seconds each. Processes are kept apart, so that a longer time takes more memory.
const MAX_WINDOWS: usize = 2160;

/// Size limit of a window in memory. It has kilobytes.
const WINDOW_BYTES: u64 = 64 << 20;

/// The windows of one process of a node.
#[derive(Clone, Debug)]
pub struct RecordedSpan {
    /// Name of the Erlang node.
    pub node: String,
    /// A profile for each recorded event, with its Erlang processes.
    pub profiles: Vec<Profile>,
    /// Length of all windows together; of each event, the longest.
    pub covered: Duration,
}

/// Reads the selected windows, such as `windows?from=04:00&node=rabbit`. All events are read. Erlang gives the same pids
/// again after a restart, so windows of several processes are refused.
pub fn read_span(place: &Path) -> anyhow::Result<RecordedSpan> {
    let (root, selection) = split_selection(place)?;
    let mut span =
        RecordedSpan { node: String::new(), profiles: Vec::new(), covered: Duration::ZERO };
    for event in [Event::Cpu, Event::OffCpu] {
        let selection = Selection { event: Some(event.name()), ..selection.clone() };
        let windows = find(&root, &selection)?;
        refuse_several(&windows)?;
        let Some(first) = windows.first() else { continue };
        span.node.clone_from(&first.name.node);
        let mut sum = ProfileSum::with_processes();
        add_readable(&mut sum, windows, WINDOW_BYTES);
        span.profiles.extend(sum.finish());
    }
    let covered = span.profiles.iter().map(|profile| profile.capture.duration());
    span.covered = covered.max().ok_or_else(|| nothing_found(&root))?;
    Ok(span)
}

fn refuse_several(windows: &[FoundWindow]) -> Result<(), UsageError> {
    let nodes: BTreeSet<&str> = windows.iter().map(|window| window.name.node.as_str()).collect();
    if nodes.len() > 1 {
        let nodes: Vec<&str> = nodes.into_iter().collect();
        let message =
            format!("the windows are of several nodes: choose one by --node: {}", nodes.join(", "));
        return Err(UsageError(message));
    }
    let is_restart = |pair: &&[FoundWindow]| pair[0].name.pid != pair[1].name.pid;
    if let Some([_, after]) = windows.windows(2).find(is_restart) {
        let time = display_utc(after.name.started());
        let message = format!(
            "the node was started again before {time}: end the time there by --to, or begin it by --from"
        );
        return Err(UsageError(message));
    }
    if windows.len() > MAX_WINDOWS {
        let message = format!(
            "these are {} windows; a check takes at most {MAX_WINDOWS}: choose a time by --from and --to",
            windows.len()
        );
        return Err(UsageError(message));
    }
    Ok(())
}
