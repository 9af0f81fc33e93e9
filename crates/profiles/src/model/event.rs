//! What makes a sample be taken.

use serde::{Deserialize, Serialize};

/// What made a sample be taken; decides the unit of its weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A clock tick on a CPU; weight is a number of ticks.
    Cpu,
    /// A thread was off the CPU; weight is the time in nanoseconds. Below the thread's kind stands a
    /// frame that says why: `[blocked]`, `[runnable]` (it waited for a CPU), or `[idle]` (it had
    /// nothing to do).
    OffCpu,
    /// Memory was mapped (mmap(2)); weight is bytes.
    Mmap,
    /// Memory was given back (munmap(2)); weight is bytes.
    Munmap,
    /// The heap of the C library grew (brk(2)); weight is bytes.
    Brk,
    /// A page of memory was touched that was not there; weight is a number of faults.
    PageFaults,
    /// A thread left the CPU; weight is a number of times.
    ContextSwitches,
    /// Time between traced calls, waiting included; weight is in microseconds.
    CallTime,
    /// A value of a foreign file that is none of the above. [`Capture::value`](super::Capture::value) has its
    /// name and its unit.
    Imported,
}

impl Event {
    /// The word used on the command line, in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Cpu => "cpu",
            Self::OffCpu => "off-cpu",
            Self::Mmap => "mmap",
            Self::Munmap => "munmap",
            Self::Brk => "brk",
            Self::PageFaults => "page-faults",
            Self::ContextSwitches => "context-switches",
            Self::CallTime => "call-time",
            Self::Imported => "imported",
        }
    }

    /// What a recording from outside can hold.
    pub const RECORDED: [Self; 7] = [
        Self::Cpu,
        Self::OffCpu,
        Self::Mmap,
        Self::Munmap,
        Self::Brk,
        Self::PageFaults,
        Self::ContextSwitches,
    ];

    /// The event of this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let others = [Self::CallTime, Self::Imported];
        Self::RECORDED.into_iter().chain(others).find(|event| event.name() == name)
    }

    /// What happened once for each count of a sample, as a plural noun.
    pub fn occurrences(self) -> &'static str {
        match self {
            Self::Cpu | Self::Imported => "samples",
            Self::OffCpu => "waits",
            Self::Mmap | Self::Munmap | Self::Brk => "calls",
            Self::PageFaults => "faults",
            Self::ContextSwitches => "switches",
            Self::CallTime => "µs",
        }
    }

    /// What a weight counts, as a plural noun. [`Profile::unit`](super::Profile::unit) knows it of a foreign value
    /// too.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Imported => "units",
            Self::OffCpu => "nanoseconds",
            Self::Mmap | Self::Munmap | Self::Brk => "bytes",
            _ => self.occurrences(),
        }
    }

    /// Whether every occurrence has a weight of its own, so that counts and weights differ.
    pub fn is_weighted(self) -> bool {
        self.unit() != self.occurrences()
    }
}
