//! Activity and usage of `watch` itself.

use rabbitscope_export::{MetricsSnapshot, catalog};
use rabbitscope_machine::ProcessUsage;
use rabbitscope_profiles::{Event, Profile};

/// Counts of recordings since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct RecordingCounts {
    /// Number of windows of nodes; each event counts separately.
    pub(crate) windows: u64,
    /// Number of recorded clock ticks.
    pub(crate) samples: u64,
    /// Number of clock ticks on a node that could not be recorded.
    lost: u64,
    /// Number of samples whose stack is neither complete nor marked as truncated.
    incomplete: u64,
}

impl RecordingCounts {
    /// Counts a window.
    pub(crate) fn add(&mut self, profile: &Profile) {
        self.windows += 1;
        if profile.event == Event::Cpu {
            self.samples += profile.quality.recorded();
            self.lost += profile.quality.lost;
            self.incomplete += profile.quality.broken;
        }
    }
}

/// Adds the metrics of this program. `failed` is the number of failed readings of nodes.
pub(crate) fn write_own(
    snapshot: &mut MetricsSnapshot,
    counts: &RecordingCounts,
    nodes: usize,
    failed: u64,
) {
    let usage = ProcessUsage::from_pid(std::process::id()).unwrap_or_default();
    for (metric, value) in [
        (&catalog::SELF_CPU, usage.cpu.as_secs_f64()),
        (&catalog::SELF_RESIDENT, usage.rss_bytes as f64),
        (&catalog::SELF_NODES, nodes as f64),
        (&catalog::SELF_WINDOWS, counts.windows as f64),
        (&catalog::SELF_SAMPLES, counts.samples as f64),
        (&catalog::SELF_LOST, counts.lost as f64),
        (&catalog::SELF_INCOMPLETE, counts.incomplete as f64),
        (&catalog::SELF_UNREADABLE, failed as f64),
    ] {
        snapshot.add(metric, None, Vec::new(), value);
    }
}
