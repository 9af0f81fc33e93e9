//! A queue with its figures.

use std::sync::Arc;

use rabbitscope_text::human_bytes;
use serde::Serialize;

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueRow {
    /// Name of the queue.
    pub name: Arc<str>,
    /// Virtual host of the queue.
    pub vhost: Arc<str>,
    /// `classic`, `quorum` or `stream`.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// Node of its leader.
    pub node: Arc<str>,
    /// State as the broker names it: `running`, `idle` …
    pub state: Option<Arc<str>>,
    /// Messages that are ready for delivery.
    pub ready: Option<u64>,
    /// Messages that were delivered and not acknowledged yet.
    pub unacknowledged: Option<u64>,
    /// Number of its consumers.
    pub consumers: Option<u64>,
    /// Memory of its process.
    pub memory_bytes: Option<u64>,
    /// Reason for absent figures.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub missing: Option<MissingReason>,
}

/// Reason why a queue has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingReason {
    /// The leader of the queue is on another node, whose tables have the figures.
    NotHere,
    /// The queue did not answer in time.
    NoAnswer,
    /// The deadline passed before the reading reached the queue.
    NotAsked,
    /// The queue was deleted meanwhile.
    Gone,
    /// The queue has no process, or its node does not run.
    Down,
}

/// Source of the figures of a listing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSource {
    /// The node's tables, which queues write periodically.
    Tables,
    /// The queues themselves.
    Queues,
}

impl QueueRow {
    /// Returns virtual host and name, as the management interface writes them.
    pub(super) fn to_path(&self) -> String {
        format!("{}/{}", self.vhost.trim_end_matches('/'), self.name)
    }

    /// Returns the cells of the table.
    pub(super) fn cells(&self) -> [String; 8] {
        let number =
            |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |number| number.to_string());
        let state = match self.missing {
            Some(MissingReason::NotHere) => format!("on {}", self.node),
            Some(MissingReason::NoAnswer) => "no answer".to_owned(),
            Some(MissingReason::NotAsked) => "not asked".to_owned(),
            Some(MissingReason::Gone) => "deleted".to_owned(),
            Some(MissingReason::Down) => "down".to_owned(),
            None => self.state.as_deref().unwrap_or("-").to_owned(),
        };
        [
            self.name.to_string(),
            self.vhost.to_string(),
            self.kind.to_string(),
            number(self.ready),
            number(self.unacknowledged),
            number(self.consumers),
            self.memory_bytes.map_or_else(|| "-".to_owned(), human_bytes),
            state,
        ]
    }
}
