//! All connections of a server, and which of them is closed when the server is full.

use std::{collections::BTreeMap, time::Instant};

use super::{Limits, connection::Connection};

/// Connections by key. Keys are never reused.
#[derive(Debug)]
pub(crate) struct Connections {
    open: BTreeMap<usize, Connection>,
    limits: Limits,
}

impl Connections {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { open: BTreeMap::new(), limits }
    }

    pub(crate) fn insert(&mut self, key: usize, connection: Connection) {
        self.open.insert(key, connection);
    }

    pub(crate) fn get(&mut self, key: usize) -> Option<&mut Connection> {
        self.open.get_mut(&key)
    }

    pub(crate) fn close(&mut self, key: usize) {
        self.open.remove(&key);
    }

    /// Returns the next deadline.
    pub(crate) fn next_deadline(&self) -> Option<Instant> {
        self.open.values().map(|connection| connection.deadline(&self.limits)).min()
    }

    /// Returns the connections whose deadline has passed.
    pub(crate) fn overdue(&self, now: Instant) -> Vec<usize> {
        let is_overdue = |connection: &Connection| connection.deadline(&self.limits) <= now;
        let overdue = self.open.iter().filter(|(_, connection)| is_overdue(connection));
        overdue.map(|(key, _)| *key).collect()
    }

    /// Returns true if another connection can be accepted, possibly in place of an existing one.
    pub(crate) fn can_take_one(&self) -> bool {
        self.open.len() < self.limits.connections
            || self.open.values().any(|connection| connection.dispensable().is_some())
    }

    /// Returns the connection to close after `newest` was accepted, if the server is full.
    pub(crate) fn surplus(&self, newest: usize) -> Option<usize> {
        if let Some(peer) = self.open.get(&newest).map(Connection::peer) {
            let unasked = self.open.iter().filter(|(_, other)| other.is_unasked_of(peer));
            if unasked.clone().count() > self.limits.unasked_of_peer {
                return first_to_go(unasked, newest);
            }
        }
        let is_full = self.open.len() > self.limits.connections;
        is_full.then(|| first_to_go(self.open.iter(), newest)).flatten()
    }

    /// Returns the connection to close after `newest` received its response, if responses hold too much memory.
    pub(crate) fn holds_too_much(&self, newest: usize) -> Option<usize> {
        let bytes: usize = self.open.values().map(Connection::unsent_bytes).sum();
        let sending = self.open.iter().filter(|(_, connection)| connection.unsent_bytes() > 0);
        let is_too_much = bytes > self.limits.unsent_bytes;
        is_too_much.then(|| first_to_go(sending, newest)).flatten()
    }
}

fn first_to_go<'a>(
    among: impl Iterator<Item = (&'a usize, &'a Connection)>,
    newest: usize,
) -> Option<usize> {
    let others = among.filter(|(key, _)| **key != newest);
    let ranked = others.filter_map(|(key, other)| Some((other.dispensable()?, *key)));
    ranked.min().map(|(_, key)| key)
}
