//! The update of a process about its part of a run since the previous update, as compressed JSON.
//!
//! JSON lets a reader of a different version name a missing field. Compression removes the repetition in histogram bins
//! and counter names. A second of four latencies takes a few kilobytes.

use std::{
    io::{self, Read},
    sync::atomic::{AtomicUsize, Ordering},
};

use flate2::{Compression, read::DeflateDecoder, write::DeflateEncoder};
use rabbitscope_timing::RunInstant;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::extent::Extent;
use crate::{
    report::{IntervalReport, TimedChange},
    shared_state::{DoneMembers, SharedState},
};

/// Maximum size of a decompressed update. Every slot of a scenario, with every latency and a full histogram, takes
/// less.
const MAX_BYTES: u64 = 64 << 20;

/// An unusable update. The texts follow "worker 3 sent".
#[derive(Debug, Error)]
#[non_exhaustive]
pub enum UpdateError {
    /// The update cannot be decoded.
    #[error(
        "an update from a different version of rabbitscope: {0}; use the same build everywhere"
    )]
    Unreadable(#[from] io::Error),
    /// The update has impossible contents.
    #[error(
        "an impossible update: {0}; its later updates are ignored. Check its machine, and which users can send to the \
         bus"
    )]
    Impossible(String),
}

/// Events in a process since its last update.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct WorkerUpdate {
    /// Number among the updates of this process, starting with 1.
    pub number: u64,
    /// Finished intervals. Of the intervals of the same second, one has the histograms of all.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub intervals: Vec<IntervalReport>,
    /// Lost connections, alarms and errors.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub changes: Vec<TimedChange>,
    /// Time up to which all changes are in this update or in an earlier one.
    pub covered_until: RunInstant,
    /// Progress of the process.
    pub state: PartState,
    /// Reasons why the run does not end as the scenario demands.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cut_short: Vec<String>,
    /// Reason why the load cannot continue.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub failed: Option<String>,
}

/// State of a process; not a change since the last update.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct PartState {
    /// Members that have finished.
    pub done: DoneMembers,
    /// Threads that await confirms.
    pub confirming: usize,
    /// Load threads that have stopped publishing.
    pub draining: usize,
    /// Threads that have ended.
    pub ended: usize,
}

impl PartState {
    /// Reads the state of this process's threads.
    pub(super) fn read(shared: &SharedState) -> Self {
        let count = |counter: &AtomicUsize| counter.load(Ordering::Relaxed);
        Self {
            done: DoneMembers {
                publishers: count(&shared.publishers_done),
                consumers: count(&shared.consumers_done),
                callers: count(&shared.callers_done),
                churn_slots: count(&shared.churners_done),
            },
            // The order matters: a draining thread already counts as one that awaits confirms.
            draining: count(&shared.draining),
            confirming: count(&shared.confirming),
            ended: 0,
        }
    }
}

impl WorkerUpdate {
    /// Returns the compressed JSON.
    pub fn encode(&self) -> Vec<u8> {
        let mut encoder = DeflateEncoder::new(Vec::new(), Compression::default());
        serde_json::to_writer(&mut encoder, self)
            .expect("numbers and texts can be written to memory");
        encoder.finish().expect("writing to memory does not fail")
    }

    /// Decodes an update. The caller must check it against earlier updates with [`super::bounds::Bounds::admit`].
    pub(crate) fn decode(bytes: &[u8]) -> Result<Self, UpdateError> {
        let mut text = Vec::new();
        DeflateDecoder::new(bytes).take(MAX_BYTES).read_to_end(&mut text)?;
        let extent: Extent = serde_json::from_slice(&text).map_err(io::Error::from)?;
        extent.check().map_err(UpdateError::Impossible)?;
        Ok(serde_json::from_slice(&text).map_err(io::Error::from)?)
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::Latency;

    use super::*;

    #[test]
    fn what_is_no_update_is_refused() {
        let whole = WorkerUpdate { number: 7, ..WorkerUpdate::default() }.encode();
        assert_eq!(WorkerUpdate::decode(&whole).unwrap().number, 7);
        for cut in 0..whole.len() {
            assert!(WorkerUpdate::decode(&whole[..cut]).is_err(), "{cut}");
        }
        assert!(WorkerUpdate::decode(b"anything").is_err());
        let mut many = DeflateEncoder::new(Vec::new(), Compression::fast());
        io::copy(&mut io::repeat(b' ').take(MAX_BYTES + 9), &mut many).unwrap();
        assert!(
            WorkerUpdate::decode(&many.finish().unwrap()).is_err(),
            "a bomb is not read to its end"
        );
    }

    #[test]
    fn what_would_take_the_memory_is_refused_before_it_is_read() {
        #[track_caller]
        fn check(text: &str, expected: &str) {
            let mut encoder = DeflateEncoder::new(Vec::new(), Compression::fast());
            io::copy(&mut text.as_bytes(), &mut encoder).unwrap();
            let read = WorkerUpdate::decode(&encoder.finish().unwrap());
            let said = read.err().map(|error| error.to_string()).unwrap_or_default();
            assert!(said.contains(expected) && said.is_empty() == expected.is_empty(), "{said}");
        }
        let many = |count: usize, of: &str| vec![of; count].join(",");
        let interval = |measured: &str| {
            format!(
                r#"{{"worker":0,"second":0,"start":0,"end":9,"draining":false,"is-last":false,
                "measured":{{{measured}}},"publisher-counts":{{}}}}"#
            )
        };
        let update = |intervals: &str| format!(r#"{{"number":1,"intervals":[{intervals}]}}"#);
        let one = |measured: &str| update(&interval(measured));
        let slot = format!("[[300000000000000000,1]{}]", ",[]".repeat(Latency::ALL.len() - 1));
        let slot = slot.as_str();
        check(&one(&format!(r#""slots":[{}]"#, many(201, slot))), "");
        check(&one(&format!(r#""slots":[{}]"#, many(202, slot))), "202 slots");
        let second = interval(&format!(r#""slots":[{}]"#, many(201, slot)));
        check(&update(&many(8, &second)), "KiB of histograms");
        check(&update(&many(10_001, &interval(""))), "10001 intervals");
        check(
            &one(&format!(r#""churn":[{}]"#, many(10_001, r#"{"open":[],"close":[]}"#))),
            "churn",
        );
        let long = slot.replace("300000000000000000", "1,2,18446744073709551615");
        check(&one(&format!(r#""slots":[{long}]"#)), "longer than");
        check(&one(r#""churn":[{"open":[],"close":[5]}]"#), "has no count");
        check(&format!(r#"{{"cut-short":[{}]}}"#, many(10_001, r#""""#)), "reasons");
        check(&format!(r#"{{"changes":[{}]}}"#, many((1 << 20) + 1, "1")), "changes");
    }
}
