//! Events that trigger a sample.

use serde::{Deserialize, Serialize};

/// The trigger of a sample, which decides the unit of its weight.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Event {
    /// A clock tick on a CPU; weight is a number of ticks.
    #[default]
    Cpu,
    /// A thread was off the CPU; weight is the time in nanoseconds. The frame below the thread's kind gives the reason:
    /// `[blocked]`, `[runnable]` (it waited for a CPU), or `[idle]` (it had nothing to do).
    OffCpu,
    /// Memory was mapped (mmap(2)); weight is bytes.
    Mmap,
    /// Memory was unmapped (munmap(2)); weight is bytes.
    Munmap,
    /// The heap of the C library grew (brk(2)); weight is bytes.
    Brk,
    /// An access hit an unmapped page of memory; weight is a number of faults.
    PageFaults,
    /// A thread left the CPU; weight is a number of times.
    ContextSwitches,
    /// Time between traced calls, waiting included; weight is in microseconds.
    CallTime,
    /// Another event of a foreign file. [`Capture::value`](super::Capture::value) has its name and unit.
    Imported,
}

impl Event {
    /// The word on the command line, in files and on pages.
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

    /// Events that the recorder supports.
    pub const RECORDED: [Self; 7] = [
        Self::Cpu,
        Self::OffCpu,
        Self::Mmap,
        Self::Munmap,
        Self::Brk,
        Self::PageFaults,
        Self::ContextSwitches,
    ];

    /// Returns the event with this name.
    pub fn from_name(name: &str) -> Option<Self> {
        let others = [Self::CallTime, Self::Imported];
        Self::RECORDED.into_iter().chain(others).find(|event| event.name() == name)
    }

    /// The unit of a sample's count, as a plural noun.
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

    /// The unit of a weight, as a plural noun. [`Profile::unit`](super::Profile::unit) also covers foreign values.
    pub fn unit(self) -> &'static str {
        match self {
            Self::Imported => "units",
            Self::OffCpu => "nanoseconds",
            Self::Mmap | Self::Munmap | Self::Brk => "bytes",
            _ => self.occurrences(),
        }
    }

    /// Returns whether each occurrence has a weight of its own, so that counts and weights differ.
    pub fn is_weighted(self) -> bool {
        self.unit() != self.occurrences()
    }
}
