//! Options, progress and result of a recording.

use std::time::Duration;

use rabbitscope_profiles::{Event, Profile};

use super::backend::Backend;
use crate::native::UnnamedCode;

/// Options of a recording of CPU time.
#[derive(Clone, Debug)]
pub struct CpuOptions {
    /// The node's process, in this process's pid namespace.
    pub pid: u32,
    /// Ticks per second on each CPU.
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
    /// Events to record, each with a profile of its own.
    pub events: Vec<Event>,
    /// Ticks per second on each CPU, for CPU time.
    pub freq_hz: u32,
    /// Length of the recording; `None`: until stopped.
    pub duration: Option<Duration>,
    /// Backend to use; `None`: the best permitted one.
    pub backend: Option<Backend>,
}

/// Progress of a recording.
#[derive(Clone, Copy, Debug)]
pub struct Progress {
    /// Time since the start.
    pub elapsed: Duration,
    /// Ticks during which the node ran.
    pub samples: u64,
    /// Lost samples.
    pub lost: u64,
}

/// Result of a recording.
#[derive(Debug)]
pub struct Recorded {
    /// A profile for each event.
    pub profiles: Vec<Profile>,
    /// Their native functions that only a debug file would name.
    pub unnamed: UnnamedCode,
}
