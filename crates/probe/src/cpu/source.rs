//! Where samples come from: the seam between a recording and the tier that takes them. A recording
//! knows nothing of the kernel's interfaces, a source nothing of names and profiles.

use super::wire::{Live, Pending, RawSample, TIME_STEP_NANOS};
use crate::{beam::Snapshot, error::ProbeError, native::Update};

/// The step of time, counted from `began`, that a moment of the same clock falls into.
pub(super) fn step_after(began: u64, nanos: u64) -> u32 {
    u32::try_from(nanos.saturating_sub(began) / TIME_STEP_NANOS).unwrap_or(u32::MAX)
}

/// Takes samples of one node until it is dropped.
pub(super) trait Source {
    /// What takes them, as a profile says it.
    fn recorder(&self) -> &'static str;

    /// What ticks: `cycles` or `cpu-clock`; empty when nothing does.
    fn clock(&self) -> &'static str;

    /// CPUs on which the node is observed.
    fn cpus(&self) -> u32;

    /// Samples and waits count from `nanos` of the kernel's monotonic clock on.
    fn begin_at(&mut self, nanos: u64) -> Result<(), ProbeError>;

    /// The time given to [`Source::begin_at`].
    fn began_at(&self) -> u64;

    /// The step of time that a moment of the kernel's monotonic clock falls into.
    fn step_of(&self, nanos: u64) -> u32 {
        step_after(self.began_at(), nanos)
    }

    /// Ticks on the node since attach, and samples for which there was no room.
    fn taken_and_lost(&self) -> Result<(u64, u64), ProbeError>;

    /// True when samples should be fetched before their time.
    fn is_filling(&self) -> Result<bool, ProbeError>;

    /// Gives all samples so far, each once, with the step of time that its times count from.
    fn fetch(
        &mut self,
        now_nanos: u64,
        each: &mut dyn FnMut(&RawSample, u32),
    ) -> Result<(), ProbeError>;

    /// Threads that are off the CPU now.
    fn waiting(&self) -> Vec<Pending> {
        Vec::new()
    }

    /// JIT code has moved or grown.
    fn update_code(&mut self, live: Live) -> Result<(), ProbeError>;

    /// How to walk through new native code.
    fn update_unwinding(&mut self, update: &Update) -> Result<(), ProbeError>;

    /// Whether the source can look at the VM's structures at the moment of a tick, to compare them
    /// with the layout.
    fn takes_snapshots(&self) -> bool {
        false
    }

    /// Asks for snapshots of the next ticks in JIT code.
    fn request_snapshots(&mut self) -> Result<(), ProbeError> {
        Ok(())
    }

    /// The snapshots taken so far.
    fn snapshots(&self) -> Result<Vec<Snapshot>, ProbeError> {
        Ok(Vec::new())
    }

    /// Remarks for the reader, at the end of a recording.
    fn remarks(&self) -> Result<Vec<String>, ProbeError>;
}
