//! Churn: objects on the broker that come and go.

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize};

use super::{
    FieldValue, QueueType,
    values::{Arguments, time, unset},
};

/// Objects of one kind that are opened, held for a while and closed, again and again. Keys that do not apply to the
/// kind are absent.
#[derive(Clone, Debug, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ChurnGroup {
    /// Prefix of the names of its latencies, `NAME-open` and `NAME-close`.
    #[serde(default)]
    pub name: String,
    /// The kind of object that comes and goes.
    pub kind: ChurnKind,
    /// Maximum number of objects at the same time.
    #[serde(default = "unset")]
    pub concurrency: u32,
    /// Connections over which the objects are spread.
    pub connections: Option<u32>,
    /// Openings per second by the group; absent to open the next one as soon as one is closed.
    pub rate: Option<f64>,
    /// Time from open to close.
    #[serde(default, with = "time", skip_serializing_if = "Duration::is_zero")]
    pub hold: Duration,
    /// Number of openings and closings before the group stops; absent for no limit.
    pub cycles: Option<u64>,
    /// Classic, quorum or stream.
    #[serde(rename = "type")]
    pub queue_type: Option<QueueType>,
    /// The queues survive a restart of the broker.
    pub durable: Option<bool>,
    /// The queues belong to their connection.
    pub exclusive: Option<bool>,
    /// The queues go away with their last consumer. They have none, so this only changes their declaration.
    pub auto_delete: Option<bool>,
    /// The queue that is bound or consumed; absent for an exclusive one, made for the purpose.
    pub queue: Option<String>,
    /// The exchange of bindings.
    pub exchange: Option<String>,
    /// Arguments of `queue.declare` (without `x-queue-type`), of the binding or of `basic.consume`.
    pub arguments: Option<Arguments>,
}

/// The kind of object that comes and goes, with its settings.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum ChurnSubject<'a> {
    /// Connections, from the first byte to the broker's consent.
    Connections,
    /// Channels of a connection.
    Channels,
    /// Queues that are declared and deleted. Their names are generated.
    Queues {
        /// Classic, quorum or stream.
        queue_type: QueueType,
        /// Survives a restart of the broker.
        durable: bool,
        /// Belongs to its connection.
        exclusive: bool,
        /// Goes away with its last consumer.
        auto_delete: bool,
        /// Arguments of `queue.declare`, without `x-queue-type`.
        arguments: &'a BTreeMap<String, FieldValue>,
    },
    /// Bindings of one queue to one exchange, each with its own key.
    Bindings {
        /// The queue; absent for an exclusive one, made for the purpose.
        queue: Option<&'a String>,
        /// The exchange.
        exchange: &'a str,
        /// Arguments of the binding.
        arguments: &'a BTreeMap<String, FieldValue>,
    },
    /// Consumers of one queue. They acknowledge their deliveries.
    Consumers {
        /// The queue; absent for an exclusive one, made for the purpose.
        queue: Option<&'a String>,
        /// Arguments of `basic.consume`.
        arguments: &'a BTreeMap<String, FieldValue>,
    },
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

/// Exchange of bindings by default.
pub(in crate::scenario) const BOUND_EXCHANGE: &str = "amq.direct";

impl ChurnGroup {
    /// Returns the kind with its settings.
    pub fn subject(&self) -> ChurnSubject<'_> {
        static NONE: BTreeMap<String, FieldValue> = BTreeMap::new();
        let arguments = self.arguments.as_ref().unwrap_or(&NONE);
        let queue = self.queue.as_ref();
        match self.kind {
            ChurnKind::Connections => ChurnSubject::Connections,
            ChurnKind::Channels => ChurnSubject::Channels,
            ChurnKind::Queues => ChurnSubject::Queues {
                queue_type: self.queue_type.unwrap_or_default(),
                durable: self.durable == Some(true),
                exclusive: self.exclusive == Some(true),
                auto_delete: self.auto_delete == Some(true),
                arguments,
            },
            ChurnKind::Bindings => ChurnSubject::Bindings {
                queue,
                exchange: self.exchange.as_deref().unwrap_or(BOUND_EXCHANGE),
                arguments,
            },
            ChurnKind::Consumers => ChurnSubject::Consumers { queue, arguments },
        }
    }
}
