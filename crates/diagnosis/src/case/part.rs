//! A part of a case: what was read, or the reason why not.

use serde::{Deserialize, Serialize};

/// A part of a case.
pub type Part<T> = Result<T, Unread>;

/// The origin of figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Source {
    /// The node's tables and processes, over Erlang distribution.
    Node,
    /// Samples of the CPU.
    CpuProfile,
    /// Times off the CPU.
    OffCpuProfile,
    /// Packets.
    Packets,
    /// The kernel's figures about sockets.
    Sockets,
    /// `/proc`, control groups and `/sys`.
    Host,
    /// The load generator of a recorded run.
    Load,
    /// An AMQP connection.
    Amqp,
}

impl Source {
    /// Returns the name in sentences.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Node => "the node",
            Self::CpuProfile => "CPU samples",
            Self::OffCpuProfile => "off-CPU times",
            Self::Packets => "packets",
            Self::Sockets => "sockets",
            Self::Host => "the machine",
            Self::Load => "the load generator",
            Self::Amqp => "the AMQP connection",
        }
    }
}

/// The reason why a part was not read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unread {
    /// The origin.
    pub source: Source,
    /// The obstacle.
    pub reason: String,
    /// The way to permit it.
    pub remedy: String,
}

impl Unread {
    /// Creates the state of a part before it is read.
    pub fn new(source: Source) -> Self {
        Self { source, reason: "it was not read".to_owned(), remedy: String::new() }
    }
}
