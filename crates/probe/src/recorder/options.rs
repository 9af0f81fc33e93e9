//! What a recording is asked for, what it reports meanwhile, and what it gives.

use std::time::Duration;

use rabbitscope_profiles::{Event, Profile};

use super::backend::Backend;
use crate::native::UnnamedCode;

/// Options of a recording of CPU time.
#[derive(Clone, Debug)]
pub struct CpuOptions {
    /// The node's process, in this process's pid namespace.
    pub pid: u32,
    /// Ticks a second on each CPU.
    pub freq_hz: u32,
    /// Length of the recording; `None`: until stopped.
    pub duration: Option<Duration>,
}

impl CpuOptions {
    pub(super) fn with_events(&self, events: &[Event]) -> Options {
        let Self { pid, freq_hz, duration } = *self;
        Options { pid, events: events.to_vec(), freq_hz, duration, backend: None }
    }
}

/// Options of a recording.
#[derive(Clone, Debug)]
pub struct Options {
    /// The node's process, in this process's pid namespace.
    pub pid: u32,
    /// The events to record; each gives a profile of its own.
    pub events: Vec<Event>,
    /// Ticks a second on each CPU, for CPU time.
    pub freq_hz: u32,
    /// Length of the recording; `None`: until stopped.
    pub duration: Option<Duration>,
    /// The backend to use; `None`: the best that is permitted.
    pub backend: Option<Backend>,
}

/// Progress of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time since its start.
    pub elapsed: Duration,
    /// Ticks that fell on the node.
    pub samples: u64,
    /// Samples that were lost.
    pub lost: u64,
}

/// What a recording gave.
#[derive(Debug)]
pub struct Recorded {
    /// A profile for each event.
    pub profiles: Vec<Profile>,
    /// The native functions in them that only a debug file would name.
    pub unnamed: UnnamedCode,
}
