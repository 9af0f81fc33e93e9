//! Churn: things on the broker that come and go.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{FieldValue, QueueType};

/// Things of one kind that are opened, held for a while and closed, again and again.
#[derive(Clone, Debug, PartialEq)]
pub struct ChurnGroup {
    /// Names its latencies, `NAME-open` and `NAME-close`.
    pub name: String,
    /// What comes and goes.
    pub subject: ChurnSubject,
    /// So many of them may be there at the same time.
    pub concurrency: u32,
    /// Connections over which these are spread. With [`ChurnSubject::Connections`] it is 1 and
    /// means nothing.
    pub connections: u32,
    /// Opened a second by the group; absent: the next as soon as one is closed.
    pub rate: Option<f64>,
    /// From open to close.
    pub hold: Duration,
    /// How often the group opens and closes one before it stops; absent: no limit.
    pub cycles: Option<u64>,
}

/// What comes and goes.
#[derive(Clone, Debug, PartialEq)]
pub enum ChurnSubject {
    /// Connections, from the first byte to the broker's consent.
    Connections,
    /// Channels of a connection.
    Channels,
    /// Queues that are declared and deleted.
    Queues(ChurnedQueue),
    /// Bindings of one queue to one exchange, each with a key of its own.
    Bindings {
        /// The queue; absent: an exclusive one, made for the purpose.
        queue: Option<String>,
        /// The exchange.
        exchange: String,
        /// Arguments of the binding.
        arguments: BTreeMap<String, FieldValue>,
    },
    /// Consumers of one queue. What is delivered to them is acknowledged.
    Consumers {
        /// The queue; absent: an exclusive one, made for the purpose.
        queue: Option<String>,
        /// Arguments of `basic.consume`.
        arguments: BTreeMap<String, FieldValue>,
    },
}

/// A queue that comes and goes. Its name is made up.
#[derive(Clone, Debug, PartialEq)]
pub struct ChurnedQueue {
    /// Classic, quorum or stream.
    pub queue_type: QueueType,
    /// Survives a restart of the broker.
    pub durable: bool,
    /// Belongs to its connection.
    pub exclusive: bool,
    /// Goes away with its last consumer; it has none, so this only makes declaring it different.
    pub auto_delete: bool,
    /// Arguments of `queue.declare`, `x-queue-type` left out.
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
    /// As in a scenario file.
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
    /// Its kind.
    pub fn kind(&self) -> ChurnKind {
        match self {
            Self::Connections => ChurnKind::Connections,
            Self::Channels => ChurnKind::Channels,
            Self::Queues(_) => ChurnKind::Queues,
            Self::Bindings { .. } => ChurnKind::Bindings,
            Self::Consumers { .. } => ChurnKind::Consumers,
        }
    }

    /// The queue that has to be there.
    pub fn queue(&self) -> Option<&str> {
        match self {
            Self::Bindings { queue, .. } | Self::Consumers { queue, .. } => queue.as_deref(),
            _ => None,
        }
    }
}
