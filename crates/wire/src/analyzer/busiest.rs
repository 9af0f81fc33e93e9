//! The connections with a row of their own: those with the most bytes.

use std::{
    cmp::{Ordering, Reverse},
    collections::BinaryHeap,
};

use super::{ladder::LadderRecorder, trace::TraceRecorder};
use crate::report::ConnectionReport;

/// A connection that has ended, with its pictures.
#[derive(Debug)]
pub(super) struct EndedConnection {
    pub(super) report: ConnectionReport,
    /// Bytes in which no frame was found.
    pub(super) unread_bytes: u64,
    pub(super) ladder: Option<Box<LadderRecorder>>,
    /// Traces of the data of the client, and of the broker.
    pub(super) traces: [Option<Box<TraceRecorder>>; 2],
}

impl EndedConnection {
    fn bytes(&self) -> u64 {
        self.report.from_client.payload_bytes + self.report.from_broker.payload_bytes
    }
}

impl PartialEq for EndedConnection {
    fn eq(&self, other: &Self) -> bool {
        self.cmp(other) == Ordering::Equal
    }
}

impl Eq for EndedConnection {}

impl PartialOrd for EndedConnection {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for EndedConnection {
    fn cmp(&self, other: &Self) -> Ordering {
        self.bytes().cmp(&other.bytes()).then(other.report.first.cmp(&self.report.first))
    }
}

/// Keeps the connections with the most bytes, up to a limit, and counts the others.
#[derive(Debug)]
pub(super) struct Busiest {
    most: usize,
    kept: BinaryHeap<Reverse<EndedConnection>>,
    pub(super) left_out: u64,
}

impl Busiest {
    pub(super) fn new(most: usize) -> Self {
        Self { most: most.max(1), kept: BinaryHeap::new(), left_out: 0 }
    }

    pub(super) fn add(&mut self, connection: EndedConnection) {
        self.kept.push(Reverse(connection));
        if self.kept.len() > self.most {
            self.kept.pop();
            self.left_out += 1;
        }
    }

    /// Returns the connections, those with the most bytes first.
    pub(super) fn into_sorted(self) -> Vec<EndedConnection> {
        let sorted = self.kept.into_sorted_vec();
        sorted.into_iter().map(|Reverse(connection)| connection).collect()
    }
}
