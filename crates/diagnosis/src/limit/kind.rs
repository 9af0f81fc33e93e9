//! Kinds of limits, and degrees of certainty.

use serde::{Deserialize, Serialize};

/// The kind of a limit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum LimitKind {
    /// An alarm blocks publishers.
    Alarm,
    /// The machine or its control group withholds CPU time.
    Host,
    /// One Erlang process uses a whole core.
    Process,
    /// All schedulers are busy.
    Schedulers,
    /// A process waits for a disk.
    Disk,
    /// Threads wait for a lock of the VM.
    Lock,
    /// The connection between two nodes is full.
    Distribution,
    /// Packets are lost, or buffers are too small.
    Network,
    /// Consumers do not keep up.
    Consumers,
    /// Publishers wait for the broker's answer to each message.
    Publishers,
    /// The node waits for work.
    Nothing,
    /// The evidence does not suffice.
    Unknown,
}

impl LimitKind {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Alarm => "alarm",
            Self::Host => "host",
            Self::Process => "process",
            Self::Schedulers => "schedulers",
            Self::Disk => "disk",
            Self::Lock => "lock",
            Self::Distribution => "distribution",
            Self::Network => "network",
            Self::Consumers => "consumers",
            Self::Publishers => "publishers",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }

    /// Returns the name in a title.
    pub const fn title(self) -> &'static str {
        match self {
            Self::Alarm => "an alarm",
            Self::Host => "the machine",
            Self::Process => "one Erlang process",
            Self::Schedulers => "all schedulers",
            Self::Disk => "a disk",
            Self::Lock => "a lock",
            Self::Distribution => "the link to another node",
            Self::Network => "the network",
            Self::Consumers => "consumers",
            Self::Publishers => "publishers",
            Self::Nothing => "nothing",
            Self::Unknown => "unknown",
        }
    }
}

/// The certainty of an answer.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Certainty {
    /// The evidence is incomplete, or weak.
    Uncertain,
    /// It explains the rate, and so does something else.
    Likely,
    /// It alone explains the rate, and every source was read that could show otherwise.
    Certain,
}

impl Certainty {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Uncertain => "uncertain",
            Self::Likely => "likely",
            Self::Certain => "certain",
        }
    }
}
