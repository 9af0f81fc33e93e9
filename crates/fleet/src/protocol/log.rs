//! The records of the log of a run. Whoever reads all of them knows everything about the run but the password of the
//! broker under test.

use rabbitscope_load::PartSize;
use serde::{Deserialize, Serialize};

use super::messages::Identity;
use crate::clocks::{ClockEstimate, ClockIdentity};

/// A record. Each is a line of JSON; that of an update is followed by the update itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum LogRecord {
    /// The run begins.
    Begun(Box<Begun>),
    /// What a worker measured.
    Update {
        run: String,
        worker: String,
        /// Number among the updates of this worker, from 1.
        number: u64,
        #[serde(skip)]
        update: Vec<u8>,
    },
    /// Written by a controller that reads the log, to know when it has read all.
    Mark { mark: String },
}

/// A run as it began.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Begun {
    pub(crate) run: String,
    /// Name of the scenario.
    pub(crate) name: String,
    /// As resolved, without secrets.
    pub(crate) scenario: String,
    /// What was declared on the broker under test, as its owner describes it.
    pub(crate) declared: serde_json::Value,
    /// Why that could not be marked; absent when it was.
    pub(crate) unmarked: Option<String>,
    /// For people.
    pub(crate) started_unix_nanos: u64,
    /// The clock of the controller that began it.
    pub(crate) clock: ClockIdentity,
    pub(crate) members: Vec<MemberStart>,
}

/// A worker as the run began; the number of its part is its position.
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
    /// How large its part is.
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

    /// Absent for what is no record of this version.
    pub(crate) fn decode(bytes: &[u8]) -> Option<Self> {
        let line = bytes.iter().position(|byte| *byte == b'\n');
        let (head, rest) = match line {
            Some(at) => (&bytes[..at], &bytes[at + 1..]),
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
