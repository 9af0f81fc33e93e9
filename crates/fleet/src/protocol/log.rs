//! The records of the log of a run. Together they hold everything about the run except the passwords of the broker
//! under test.

use rabbitscope_measurements::PartSize;
use serde::{Deserialize, Serialize};

use super::messages::Identity;
use crate::clocks::{ClockEstimate, ClockIdentity};

/// A record: a line of JSON. The line of an update is followed by the bytes of the update.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum LogRecord {
    /// Start of the run.
    Begun(Box<Begun>),
    /// Measurements of a worker.
    Update {
        run: String,
        worker: String,
        /// Sequence number among the updates of this worker, from 1.
        number: u64,
        #[serde(skip)]
        update: Vec<u8>,
    },
    /// Mark of a controller that reads the log: once it reads the mark, it has read everything before.
    Mark { mark: String },
}

/// A run at its start.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Begun {
    pub(crate) run: String,
    /// Name of the scenario.
    pub(crate) name: String,
    /// The resolved scenario, without secrets.
    pub(crate) scenario: String,
    /// Topology declared on the broker under test, in the form of `rabbitscope_topology`.
    pub(crate) declared: serde_json::Value,
    /// Reason why the topology has no markers; absent if it has.
    pub(crate) unmarked: Option<String>,
    /// Start by the wall clock, in nanoseconds since 1970-01-01 UTC.
    pub(crate) started_unix_nanos: u64,
    /// Clock of the controller that started the run.
    pub(crate) clock: ClockIdentity,
    pub(crate) members: Vec<MemberStart>,
}

/// A worker at the start of a run. Its index is the number of its part.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct MemberStart {
    pub(crate) worker: Identity,
    pub(crate) load_threads: usize,
    pub(crate) churn_groups: usize,
    pub(crate) connections: usize,
    pub(crate) clock: ClockEstimate,
}

impl MemberStart {
    /// Returns the size of its part.
    pub(crate) fn size(&self) -> PartSize {
        let (load_threads, churn_groups) = (self.load_threads, self.churn_groups);
        PartSize { load_threads, churn_groups, connections: self.connections }
    }
}

impl LogRecord {
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut bytes = serde_json::to_vec(self).expect("texts and numbers are JSON");
        if let Self::Update { update, .. } = self {
            bytes.push(b'\n');
            bytes.extend_from_slice(update);
        }
        bytes
    }

    /// Reads a record. Returns none if it is not a record of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let line = bytes.iter().position(|byte| *byte == b'\n');
        let (head, rest) = match line {
            Some(end) => (&bytes[..end], &bytes[end + 1..]),
            None => (bytes, &[][..]),
        };
        let mut record = serde_json::from_slice(head).ok()?;
        if let Self::Update { update, .. } = &mut record {
            *update = rest.to_vec();
        }
        Some(record)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn records_read_back() {
        let (run, worker) = ("r".to_owned(), "w".to_owned());
        let update = LogRecord::Update { run, worker, number: 7, update: b"\n\0{}\n".to_vec() };
        assert_eq!(LogRecord::decode(&update.encode()), Some(update));
        let begun = Begun { name: "line\nbreak".to_owned(), ..Begun::default() };
        let begun = LogRecord::Begun(Box::new(begun));
        assert_eq!(LogRecord::decode(&begun.encode()), Some(begun));
        assert_eq!(LogRecord::decode(b"something else"), None);
    }
}
