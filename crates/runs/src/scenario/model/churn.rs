//! Churn: objects on the broker that come and go.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{FieldValue, QueueType};

/// Objects of one kind that are opened, held for a while and closed, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct ChurnGroup {
    /// Prefix of the names of its latencies, `NAME-open` and `NAME-close`.
    pub name: String,
    /// The kind of object that comes and goes.
    pub subject: ChurnSubject,
    /// Maximum number of objects at the same time.
    pub concurrency: u32,
    /// Connections over which the objects are spread. With [`ChurnSubject::Connections`] it is 1 and has no meaning.
    pub connections: u32,
    /// Openings per second by the group; absent to open the next one as soon as one is closed.
    pub rate: Option<f64>,
    /// Time from open to close.
    pub hold: Duration,
    /// Number of openings and closings before the group stops; absent for no limit.
    pub cycles: Option<u64>,
}

/// The kind of object that comes and goes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChurnSubject {
    /// Connections, from the first byte to the broker's consent.
    Connections,
    /// Channels of a connection.
    Channels,
    /// Queues that are declared and deleted.
    Queues(ChurnedQueue),
    /// Bindings of one queue to one exchange, each with its own key.
    Bindings {
        /// The queue; absent for an exclusive one, made for the purpose.
        queue: Option<String>,
        /// The exchange.
        exchange: String,
        /// Arguments of the binding.
        arguments: BTreeMap<String, FieldValue>,
    },
    /// Consumers of one queue. They acknowledge their deliveries.
    Consumers {
        /// The queue; absent for an exclusive one, made for the purpose.
        queue: Option<String>,
        /// Arguments of `basic.consume`.
        arguments: BTreeMap<String, FieldValue>,
    },
}

/// A queue that comes and goes. Its name is generated.
#[derive(Clone, Debug, PartialEq)]
pub struct ChurnedQueue {
    /// Classic, quorum or stream.
    pub queue_type: QueueType,
    /// Survives a restart of the broker.
    pub durable: bool,
    /// Belongs to its connection.
    pub exclusive: bool,
    /// Goes away with its last consumer. The queue has none, so this only changes its declaration.
    pub auto_delete: bool,
    /// Arguments of `queue.declare`, without `x-queue-type`.
    pub arguments: BTreeMap<String, FieldValue>,
}

/// Name of a kind of churn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum ChurnKind {
    /// [`ChurnSubject::Connections`]
    Connections,
    /// [`ChurnSubject::Channels`]
    Channels,
    /// [`ChurnSubject::Queues`]
    Queues,
    /// [`ChurnSubject::Bindings`]
    Bindings,
    /// [`ChurnSubject::Consumers`]
    Consumers,
}

impl ChurnKind {
    /// Returns the name in a scenario file.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Connections => "connections",
            Self::Channels => "channels",
            Self::Queues => "queues",
            Self::Bindings => "bindings",
            Self::Consumers => "consumers",
        }
    }
}

impl ChurnSubject {
    /// Returns the kind.
    pub fn kind(&self) -> ChurnKind {
        match self {
            Self::Connections => ChurnKind::Connections,
            Self::Channels => ChurnKind::Channels,
            Self::Queues(_) => ChurnKind::Queues,
            Self::Bindings { .. } => ChurnKind::Bindings,
            Self::Consumers { .. } => ChurnKind::Consumers,
        }
    }

    /// Returns the queue that must exist.
    pub fn queue(&self) -> Option<&str> {
        match self {
            Self::Bindings { queue, .. } | Self::Consumers { queue, .. } => queue.as_deref(),
            _ => None,
        }
    }
}
