//! The observations of HTTP pollers.

use std::collections::BTreeMap;

use rabbitscope_text::Percentiles;
use serde::{Deserialize, Serialize};

/// One group of pollers within one second. Counts are events within this second.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PollPoint {
    /// Name of the group.
    pub name: String,
    /// Complete answers of any status.
    pub answered: u64,
    /// Complete answers with a status of 400 or above.
    pub refused: u64,
    /// Requests without a complete answer.
    pub failed: u64,
    /// Requests sent after their time because the previous answer was still awaited.
    pub late: u64,
    /// Bytes of the answers' bodies.
    pub bytes: u64,
    /// Latency from sending the request to the last byte of the answer.
    pub latency: Option<Percentiles>,
    /// Latency from the time on the schedule to the last byte of the answer.
    pub intended_latency: Option<Percentiles>,
}

/// One group of pollers over a whole run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct PollTotals {
    /// Name of the group.
    pub name: String,
    /// The requested URL, without credentials.
    pub url: String,
    /// Requests that the schedule asked for until the load ended.
    pub scheduled: u64,
    /// Complete answers of any status.
    pub answered: u64,
    /// Requests without a complete answer.
    pub failed: u64,
    /// Requests sent after their time because the previous answer was still awaited.
    pub late: u64,
    /// Scheduled requests that were never sent, or whose answer was still awaited at the end.
    pub unanswered: u64,
    /// Bytes of the answers' bodies.
    pub bytes: u64,
    /// Answers by status code.
    pub statuses: BTreeMap<u16, u64>,
    /// Failures by their cause.
    pub errors: BTreeMap<String, u64>,
}
