//! The profile in memory, independent of recording and drawing.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Event, FrameId, FrameTable, Identities, LineWeight, Quantity, Times, ValueName};

/// One entry of a stack: a function with its number of consecutive activations (direct recursion).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackEntry {
    /// The function.
    pub frame: FrameId,
    /// Consecutive activations, at least 1.
    pub repeat: u32,
}

/// The CPU's mode when the sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In user space.
    User,
    /// In the kernel.
    Kernel,
}

/// The attributes of a sample beside its stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Labels {
    /// The Erlang process that was running, as the node prints it (`<0.123.0>`).
    pub process: Option<Arc<str>>,
    /// The operating-system thread's own name, as the kernel has it (`1_scheduler`).
    pub thread: Arc<str>,
    /// User space or kernel.
    pub mode: Mode,
    /// The extent to which the Erlang stack could be followed.
    pub outcome: StackOutcome,
}

/// The extent to which the Erlang stack of a sample could be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackOutcome {
    /// Down to the process's initial function.
    Complete,
    /// Cut at a limit of the recorder; the innermost part is present, the root is missing.
    Truncated,
    /// A process was running, but its root was not reached for another reason.
    Broken,
    /// No Erlang process was running on this thread: scheduling, polling, housekeeping.
    NoProcess,
    /// An import without this information.
    Unknown,
}

impl StackOutcome {
    /// Returns whether the thread ran an Erlang process.
    pub fn is_on_process(self) -> bool {
        matches!(self, Self::Complete | Self::Truncated | Self::Broken)
    }

    /// The word in files and on pages.
    pub fn name(self) -> &'static str {
        match self {
            Self::Complete => "complete",
            Self::Truncated => "truncated",
            Self::Broken => "broken",
            Self::NoProcess => "no-process",
            Self::Unknown => "unknown",
        }
    }
}

/// A stack with labels, and the number of times that both occurred together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Root first, never empty. The first entry is a [`FrameKind::Thread`](super::FrameKind::Thread) frame in every
    /// profile that rabbitscope recorded; an import may lack it.
    pub stack: Vec<StackEntry>,
    /// Process, thread, mode and outcome.
    pub labels: Labels,
    /// The weight in the unit of the profile's event; for [`Event::Cpu`] the number of ticks.
    pub weight: u64,
    /// Number of occurrences. Equals the weight unless the event is [weighted](Event::is_weighted).
    pub count: u64,
    /// Recorded times of the weight, which may cover less than [`Self::weight`].
    pub times: Times,
}

/// The quality of a profile's stacks. All figures are numbers of samples.
///
/// Up to format version 1 of `run.json`, keys of several words had `_` in place of `-`; readers accept both.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StackQuality {
    /// Taken on an Erlang process, with a stack down to the root.
    pub complete: u64,
    /// Taken on an Erlang process, with a stack cut at a limit of the recorder.
    pub truncated: u64,
    /// Taken on an Erlang process, with a root not reached for another reason.
    pub broken: u64,
    /// Taken while the thread ran no Erlang process.
    #[serde(alias = "no_process")]
    pub no_process: u64,
    /// Samples on a process without any Erlang function on the stack. The process was about to start, to end or to wake
    /// up from hibernation, or its stack could not be read.
    #[serde(default, alias = "no_function")]
    pub no_function: u64,
    /// Recorded samples with at least one frame without a name.
    pub unsymbolised: u64,
    /// Recorded samples without the C frames between the interrupted function and the Erlang stack or the thread's
    /// first function. On a process they count as broken.
    #[serde(default, alias = "native_cut")]
    pub native_cut: u64,
    /// Samples of an import without the callers, which would have to be unwound from copies of the stack. An import has
    /// none of the figures above.
    #[serde(default, alias = "not_unwound")]
    pub not_unwound: u64,
    /// Ticks that hit the node but could not be recorded.
    pub lost: u64,
}

impl StackQuality {
    /// Number of recorded samples.
    pub fn recorded(&self) -> u64 {
        self.on_process() + self.no_process
    }

    /// Number of samples taken while a thread ran an Erlang process.
    pub fn on_process(&self) -> u64 {
        self.complete + self.truncated + self.broken
    }

    /// Share (0 to 1) of [`Self::on_process`] that is complete or marked as truncated; 1 without such a sample.
    pub fn accounted_share(&self) -> f64 {
        share_of(self.complete + self.truncated, self.on_process())
    }
}

fn share_of(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// The circumstances of a recording. Old keys are accepted as in [`StackQuality`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Capture {
    /// The recorder: `eBPF`, or the tool that wrote an import.
    pub recorder: String,
    /// The source of ticks: `cycles`, `cpu-clock`.
    pub clock: String,
    /// Name of the node; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub node: String,
    /// Version of RabbitMQ that the node was started with; empty if unknown.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub rabbitmq: String,
    /// Operating-system pid of the node.
    #[serde(alias = "node_pid")]
    pub node_pid: u32,
    /// OTP release whose layout was used (`25`); empty if unknown.
    #[serde(alias = "otp_release")]
    pub otp_release: String,
    /// Start time since 1970-01-01, in nanoseconds.
    #[serde(alias = "started_unix_nanos")]
    pub started_unix_nanos: u64,
    /// Length of the recording in nanoseconds.
    #[serde(alias = "duration_nanos")]
    pub duration_nanos: u64,
    /// Time that one tick stands for, in nanoseconds; 0 if unknown.
    #[serde(alias = "period_nanos")]
    pub period_nanos: u64,
    /// Number of sampled CPUs.
    pub cpus: u32,
    /// Length of a step of [`Sample::times`] in nanoseconds; 0 if times were not recorded.
    #[serde(default, alias = "time_step_nanos")]
    pub time_step_nanos: u64,
    /// Name and unit of the weights, for [`Event::Imported`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueName>,
    /// Facts that the reader must know, one sentence each (node went away, label table full …).
    pub notes: Vec<String>,
}

impl Capture {
    /// Length of the recording.
    pub fn duration(&self) -> Duration {
        Duration::from_nanos(self.duration_nanos)
    }
}

/// Weighted stacks of one node.
#[derive(Clone, Debug, Default)]
pub struct Profile {
    /// The trigger of its samples.
    pub event: Event,
    /// The circumstances of the recording.
    pub capture: Capture,
    /// The quality of the stacks.
    pub quality: StackQuality,
    /// All functions in the stacks.
    pub frames: FrameTable,
    /// Distinct (stack, labels) pairs.
    pub samples: Vec<Sample>,
    /// Identities of the processes in the labels. A missing process is known by its pid alone.
    pub identities: Identities,
    /// Weights of source lines of the Erlang functions, each function and line once; empty if the recorder could not
    /// find lines.
    pub lines: Vec<LineWeight>,
}

impl Profile {
    /// The name of the weights: the event's, or the one in an import's file.
    pub fn value_name(&self) -> &str {
        self.foreign().map_or(self.event.name(), |value| &value.name)
    }

    /// The unit of the weights, as a plural noun.
    pub fn unit(&self) -> &str {
        self.foreign().map_or(self.event.unit(), |value| &value.unit)
    }

    /// The quantity of the weights. Only profiles of the same quantity are comparable.
    pub fn quantity(&self) -> Quantity<'_> {
        Quantity::new(self.event, self.foreign())
    }

    /// Nanoseconds per unit of weight, if weights are times.
    pub(crate) fn unit_nanos(&self) -> Option<f64> {
        match self.unit() {
            "nanoseconds" => Some(1.0),
            "microseconds" | "µs" => Some(1e3),
            "milliseconds" => Some(1e6),
            "seconds" => Some(1e9),
            _ => None,
        }
    }

    fn foreign(&self) -> Option<&ValueName> {
        self.capture.value.as_ref().filter(|_| self.event == Event::Imported)
    }

    /// Estimates the memory of the samples, names and lines in bytes.
    pub fn memory_bytes(&self) -> usize {
        let of_sample = |sample: &Sample| {
            let entries = sample.stack.len() * size_of::<StackEntry>();
            size_of::<Sample>() + entries + sample.times.bytes().len()
        };
        // A name is stored once, with its place in two tables.
        let names = self.frames.iter().map(|(_, frame)| frame.name.len() + 64).sum::<usize>();
        let samples = self.samples.iter().map(of_sample).sum::<usize>();
        let identities = self.identities.len() * 128;
        names + samples + identities + self.lines.len() * size_of::<LineWeight>()
    }

    /// Sum of all weights.
    pub fn total(&self) -> u64 {
        self.samples.iter().map(|sample| sample.weight).sum()
    }
}
