//! The profile in memory. Nothing here knows how a sample was taken or how it is drawn.

use std::{sync::Arc, time::Duration};

use serde::{Deserialize, Serialize};

use super::{Event, FrameId, FrameTable, Identities, LineWeight, Quantity, Times, ValueName};

/// One step of a stack: a function and how many times in a row it stands there (direct recursion).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct StackEntry {
    /// The function.
    pub frame: FrameId,
    /// Consecutive activations, at least 1.
    pub repeat: u32,
}

/// Where the CPU was when the sample was taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Mode {
    /// In user space.
    User,
    /// In the kernel.
    Kernel,
}

/// What a sample says about itself beside its stack.
#[derive(Clone, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Labels {
    /// The Erlang process that was running, as the node prints it (`<0.123.0>`).
    pub process: Option<Arc<str>>,
    /// The operating-system thread's own name, as the kernel has it (`1_scheduler`).
    pub thread: Arc<str>,
    /// User space or kernel.
    pub mode: Mode,
    /// How far the Erlang stack could be followed.
    pub outcome: StackOutcome,
}

/// How far the Erlang stack of a sample could be followed.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum StackOutcome {
    /// Down to the function the process was started with.
    Complete,
    /// Cut at a limit of the recorder; the innermost part is there, the root is missing.
    Truncated,
    /// A process was running, but its root was not reached for another reason.
    Broken,
    /// No Erlang process was running on this thread: scheduling, polling, housekeeping.
    NoProcess,
    /// An import that does not say.
    Unknown,
}

impl StackOutcome {
    /// Whether the thread ran an Erlang process.
    pub fn is_on_process(self) -> bool {
        matches!(self, Self::Complete | Self::Truncated | Self::Broken)
    }

    /// The word used in files and on pages.
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

/// A stack with its labels, and how often the two were seen together.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sample {
    /// Root first, never empty. The first entry is a [`FrameKind::Thread`](super::FrameKind::Thread) frame in every profile
    /// that rabbitscope recorded; an import may lack it.
    pub stack: Vec<StackEntry>,
    /// Who and where.
    pub labels: Labels,
    /// In the unit of the profile's event; for [`Event::Cpu`] the number of ticks.
    pub weight: u64,
    /// How often it happened. The same as the weight when the event is not
    /// [weighted](Event::is_weighted).
    pub count: u64,
    /// When the weight fell, where that was recorded. May say less than [`Self::weight`].
    pub times: Times,
}

/// How good the stacks of a profile are. All figures are numbers of samples.
///
/// Until format version 1 of `run.json`, keys of several words had `_` in place of `-`; they are read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct StackQuality {
    /// Taken while the thread ran an Erlang process, stack followed down to the root.
    pub complete: u64,
    /// The same, stack cut at a limit of the recorder.
    pub truncated: u64,
    /// The same, root not reached for another reason.
    pub broken: u64,
    /// Taken while the thread ran no Erlang process.
    #[serde(alias = "no_process")]
    pub no_process: u64,
    /// Of the first three, those without any Erlang function on the stack: the process was about to start, to
    /// end or to wake up from hibernation, or its stack could not be read.
    #[serde(default, alias = "no_function")]
    pub no_function: u64,
    /// Of all of the above, those with at least one frame that has no name.
    pub unsymbolised: u64,
    /// Of all of the above, those of which C frames are missing between the interrupted function and
    /// the Erlang stack or the thread's first function. On a process they count as broken.
    #[serde(default, alias = "native_cut")]
    pub native_cut: u64,
    /// Of an import, where nothing is said of the above: samples whose callers were not read, as they would
    /// have to be unwound from copies of the stack.
    #[serde(default, alias = "not_unwound")]
    pub not_unwound: u64,
    /// Ticks that fell on the node but could not be recorded.
    pub lost: u64,
}

impl StackQuality {
    /// Samples that were recorded.
    pub fn recorded(&self) -> u64 {
        self.on_process() + self.no_process
    }

    /// Samples taken while a thread ran an Erlang process.
    pub fn on_process(&self) -> u64 {
        self.complete + self.truncated + self.broken
    }

    /// Share (0 to 1) of [`Self::on_process`] that is complete or marked as truncated; 1 when there
    /// is no such sample.
    pub fn accounted_share(&self) -> f64 {
        share_of(self.complete + self.truncated, self.on_process())
    }
}

fn share_of(part: u64, whole: u64) -> f64 {
    if whole == 0 { 1.0 } else { part as f64 / whole as f64 }
}

/// How a profile was recorded. Keys are read as of [`StackQuality`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Capture {
    /// Who took the samples: `eBPF`, or the name of the tool an import came from.
    pub recorder: String,
    /// What ticked: `cycles`, `cpu-clock`.
    pub clock: String,
    /// Operating-system pid of the node.
    #[serde(alias = "node_pid")]
    pub node_pid: u32,
    /// OTP release whose layout was used (`25`), empty when unknown.
    #[serde(alias = "otp_release")]
    pub otp_release: String,
    /// Seconds since 1970-01-01 at the start, in nanoseconds.
    #[serde(alias = "started_unix_nanos")]
    pub started_unix_nanos: u64,
    /// Length of the recording in nanoseconds.
    #[serde(alias = "duration_nanos")]
    pub duration_nanos: u64,
    /// Time that one tick stands for, in nanoseconds; 0 when unknown.
    #[serde(alias = "period_nanos")]
    pub period_nanos: u64,
    /// CPUs that were sampled.
    pub cpus: u32,
    /// Length of a step of [`Sample::times`] in nanoseconds; 0 when times were not recorded.
    #[serde(default, alias = "time_step_nanos")]
    pub time_step_nanos: u64,
    /// Name and unit of the weights, when the event is [`Event::Imported`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<ValueName>,
    /// Things the reader must know, one sentence each (node went away, label table full …).
    pub notes: Vec<String>,
}

impl Capture {
    /// Length of the recording.
    pub fn duration(&self) -> Duration {
        Duration::from_nanos(self.duration_nanos)
    }
}

/// Weighted stacks of one node.
#[derive(Clone, Debug)]
pub struct Profile {
    /// What made a sample be taken.
    pub event: Event,
    /// How it was recorded.
    pub capture: Capture,
    /// How good the stacks are.
    pub quality: StackQuality,
    /// Every function that occurs.
    pub frames: FrameTable,
    /// Distinct (stack, labels) pairs.
    pub samples: Vec<Sample>,
    /// What the processes in the labels are for. Those that are missing are known by pid alone.
    pub identities: Identities,
    /// On which lines of their source the Erlang functions were, each function and line once; empty
    /// when the recorder could not know.
    pub lines: Vec<LineWeight>,
}

impl Profile {
    /// The name of the weights: that of the event, or that in the file of an import.
    pub fn value_name(&self) -> &str {
        self.foreign().map_or(self.event.name(), |value| &value.name)
    }

    /// The unit of the weights, as a plural noun.
    pub fn unit(&self) -> &str {
        self.foreign().map_or(self.event.unit(), |value| &value.unit)
    }

    /// The quantity of the weights. Profiles of different quantities have nothing to compare.
    pub fn quantity(&self) -> Quantity<'_> {
        Quantity::new(self.event, self.foreign())
    }

    /// Nanoseconds of a unit of weight, where weights are times by themselves.
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

    /// Sum of all weights.
    pub fn total(&self) -> u64 {
        self.samples.iter().map(|sample| sample.weight).sum()
    }
}
