//! What callers and churn count, within a second or over a run.

use serde::{Deserialize, Serialize};

/// Requests and what became of them. Requests and replies are messages, too, and count as published
/// and consumed on either side.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct RequestCounts {
    /// Requests sent.
    pub requests: u64,
    /// Replies that came in time.
    pub replies: u64,
    /// Requests whose reply did not come in time, or was lost with a connection. The total also has
    /// those that were waiting for it when the run ended.
    pub requests_unanswered: u64,
    /// Replies that nobody waited for: late, or given twice.
    pub stray_replies: u64,
}

/// Things that came and went.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct ChurnCounts {
    /// Opened, as the broker confirmed.
    pub churn_opened: u64,
    /// Closed, as the broker confirmed.
    pub churn_closed: u64,
    /// Refused by the broker, or lost with their connection.
    pub churn_failed: u64,
}

impl RequestCounts {
    /// Adds what another thread or second counted.
    pub fn add(&mut self, other: &Self) {
        self.requests += other.requests;
        self.replies += other.replies;
        self.requests_unanswered += other.requests_unanswered;
        self.stray_replies += other.stray_replies;
    }
}

impl ChurnCounts {
    /// Adds what another thread or second counted.
    pub fn add(&mut self, other: &Self) {
        self.churn_opened += other.churn_opened;
        self.churn_closed += other.churn_closed;
        self.churn_failed += other.churn_failed;
    }
}
