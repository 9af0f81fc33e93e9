//! Reads the queues of one node, or of all nodes of a cluster at the same time.

use std::{thread, time::Duration};

use rabbitscope_erlang::ErlangError;
use rabbitscope_inside::{Listing, MissingNode, QueueFilter, QueueReader};

use super::cluster::{ClusterConnections, nobody};

/// A reader for each node.
pub(super) struct QueueNodes<'a> {
    /// At least one.
    readers: Vec<(String, QueueReader<'a>)>,
    missing: Vec<MissingNode>,
}

/// The result of one reading.
pub(super) struct ReadQueues {
    pub(super) listing: Listing,
    /// A node keeps no statistics, so that its queues were asked.
    pub(super) without_statistics: bool,
    /// The reason why a node could not be read, although others could.
    pub(super) lost: Option<ErlangError>,
}

impl<'a> QueueNodes<'a> {
    /// Loads the agents. If one node refuses, the others are still read.
    pub(super) fn start(of: &'a ClusterConnections) -> anyhow::Result<Self> {
        let (mut readers, mut missing) = (Vec::new(), of.missing.clone());
        for connection in &of.nodes {
            let node = connection.node().to_owned();
            match QueueReader::new(connection) {
                Ok(reader) => readers.push((node, reader)),
                Err(error) if of.nodes.len() == 1 => return Err(error.into()),
                Err(error) => missing.push(MissingNode { node, reason: error.to_string() }),
            }
        }
        if readers.is_empty() { Err(nobody(&missing)) } else { Ok(Self { readers, missing }) }
    }

    /// Asks each queue, on any node, through the first node.
    pub(super) fn ask_queues(
        &mut self,
        filter: &QueueFilter,
        within: Duration,
    ) -> anyhow::Result<ReadQueues> {
        let listing = self.readers[0].1.ask_queues(filter, within)?;
        Ok(ReadQueues { listing, without_statistics: false, lost: None })
    }

    /// Reads the nodes' tables. On a node without statistics, the tables have nothing about classic queues. These
    /// queues are then asked, within the time limit.
    pub(super) fn read_tables(
        &mut self,
        filter: &QueueFilter,
        within: Duration,
    ) -> anyhow::Result<ReadQueues> {
        if let ([(_, reader)], true) = (&mut self.readers[..], self.missing.is_empty()) {
            let listing = reader.read_tables(filter)?;
            return self.with_statistics(listing, None, filter, within);
        }
        let (mut listings, mut missing, mut lost) = (Vec::new(), self.missing.clone(), None);
        for (node, read) in self.read_all(filter) {
            match read {
                Ok(listing) => listings.push(listing),
                Err(error) => {
                    missing.push(MissingNode { node, reason: error.to_string() });
                    lost.get_or_insert(error);
                }
            }
        }
        match (Listing::joined(listings, missing.clone()), lost) {
            (Some(listing), lost) => self.with_statistics(listing, lost, filter, within),
            (None, Some(error)) => Err(error.into()),
            (None, None) => Err(nobody(&missing)),
        }
    }

    fn read_all(&mut self, filter: &QueueFilter) -> Vec<(String, Result<Listing, ErlangError>)> {
        thread::scope(|scope| {
            let read = self.readers.iter_mut().map(|(node, reader)| {
                (node.clone(), scope.spawn(move || reader.read_tables(filter)))
            });
            let begun: Vec<_> = read.collect();
            let ended = begun.into_iter();
            ended.map(|(node, read)| (node, read.join().expect("reading panicked"))).collect()
        })
    }

    fn with_statistics(
        &mut self,
        listing: Listing,
        lost: Option<ErlangError>,
        filter: &QueueFilter,
        within: Duration,
    ) -> anyhow::Result<ReadQueues> {
        if listing.statistics {
            return Ok(ReadQueues { listing, without_statistics: false, lost });
        }
        let asked = self.ask_queues(filter, within)?;
        let Listing { nodes, missing, .. } = listing;
        let listing = Listing { nodes, missing, ..asked.listing };
        Ok(ReadQueues { listing, without_statistics: true, lost })
    }

    /// Removes the agents. If one of several nodes is gone, so is its agent.
    pub(super) fn end(self) -> Result<(), ErlangError> {
        let is_one = self.readers.len() == 1;
        let ended: Vec<_> = self.readers.into_iter().map(|(_, reader)| reader.end()).collect();
        ended.into_iter().find(|ended| is_one && ended.is_err()).unwrap_or(Ok(()))
    }
}
