//! A queue with its figures.

use std::sync::Arc;

use rabbitscope_text::human_bytes;
use serde::Serialize;

/// A queue.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct QueueRow {
    /// Its name.
    pub name: Arc<str>,
    /// Its virtual host.
    pub vhost: Arc<str>,
    /// `classic`, `quorum` or `stream`.
    #[serde(rename = "type")]
    pub kind: Arc<str>,
    /// Node of its leader.
    pub node: Arc<str>,
    /// As the broker names it: `running`, `idle` …
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

/// Why a queue has no figures.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum MissingReason {
    /// Its leader is on another node, whose tables have them.
    NotHere,
    /// It was asked and did not answer in time.
    NoAnswer,
    /// The deadline passed before it could be asked.
    NotAsked,
    /// It was deleted meanwhile.
    Gone,
    /// Its process is not there, or the node that it is on does not run.
    Down,
}

/// Where the figures of a listing come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum QueueSource {
    /// The node's tables, which queues write periodically.
    Tables,
    /// The queues themselves.
    Queues,
}

impl QueueRow {
    /// Virtual host and name, as the management interface writes them.
    pub(super) fn to_path(&self) -> String {
        format!("{}/{}", self.vhost.trim_end_matches('/'), self.name)
    }

    /// The cells of the table.
    pub(super) fn cells(&self) -> [String; 8] {
        let number = |value: Option<u64>| value.map_or_else(|| "-".to_owned(), |it| it.to_string());
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
