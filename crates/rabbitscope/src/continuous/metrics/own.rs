//! What `watch` itself does and uses.

use rabbitscope_export::{MetricsSnapshot, catalog};
use rabbitscope_profiles::{Event, Profile};

use crate::machine::ProcessUsage;

/// What was recorded since the start.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(in crate::continuous) struct RecordingCounts {
    /// Windows of nodes, each event by itself.
    pub(in crate::continuous) windows: u64,
    /// Clock ticks that were recorded.
    pub(in crate::continuous) samples: u64,
    /// Clock ticks that fell on a node and could not be recorded.
    lost: u64,
    /// Samples whose stack is neither complete nor marked as truncated.
    incomplete: u64,
}

impl RecordingCounts {
    /// Adds a window.
    pub(in crate::continuous) fn add(&mut self, profile: &Profile) {
        self.windows += 1;
        if profile.event == Event::Cpu {
            self.samples += profile.quality.recorded();
            self.lost += profile.quality.lost;
            self.incomplete += profile.quality.broken;
        }
    }
}

/// Adds the metrics of this program. `failed` is the number of readings of nodes that failed.
pub(in crate::continuous) fn write_own(
    snapshot: &mut MetricsSnapshot,
    counts: &RecordingCounts,
    nodes: usize,
    failed: u64,
) {
    let usage = ProcessUsage::of(std::process::id()).unwrap_or_default();
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
