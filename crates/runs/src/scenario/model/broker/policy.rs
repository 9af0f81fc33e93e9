//! Policies of a throwaway broker, in the terms of `rabbitmqctl set_policy`.

use serde::{Deserialize, Serialize};

/// A policy.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Policy {
    /// Name of the policy.
    pub name: String,
    /// A regular expression on names of queues and exchanges.
    pub pattern: String,
    /// The settings as JSON, such as `{"max-length": 1000}`.
    pub definition: String,
    /// The objects that it applies to.
    #[serde(default)]
    pub apply_to: PolicySubject,
    /// Priority: of several policies that match, the highest applies.
    #[serde(default)]
    pub priority: i32,
}

/// The objects that a policy applies to. Only brokers from 3.12 on know the kinds of queues.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PolicySubject {
    /// Queues and exchanges.
    #[default]
    All,
    /// Queues of all kinds.
    Queues,
    /// Exchanges.
    Exchanges,
    /// Classic queues.
    ClassicQueues,
    /// Quorum queues.
    QuorumQueues,
    /// Streams.
    Streams,
}

impl PolicySubject {
    /// Returns the broker's name for it.
    pub fn word(self) -> &'static str {
        match self {
            Self::All => "all",
            Self::Queues => "queues",
            Self::Exchanges => "exchanges",
            Self::ClassicQueues => "classic_queues",
            Self::QuorumQueues => "quorum_queues",
            Self::Streams => "streams",
        }
    }
}
