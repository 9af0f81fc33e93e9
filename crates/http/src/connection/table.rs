//! All connections of a server, and which of them is closed when the server is full.

use std::{cell::RefCell, collections::BTreeMap, rc::Rc};

use tokio::task::AbortHandle;

use super::Connection;
use crate::Limits;

/// Connections by key. Keys are never reused.
#[derive(Debug)]
pub(crate) struct Connections {
    open: RefCell<BTreeMap<u64, Open>>,
    limits: Limits,
}

#[derive(Debug)]
struct Open {
    state: Rc<Connection>,
    task: AbortHandle,
}

impl Connections {
    pub(crate) fn new(limits: Limits) -> Self {
        Self { open: RefCell::default(), limits }
    }

    pub(crate) fn limits(&self) -> &Limits {
        &self.limits
    }

    pub(crate) fn insert(&self, key: u64, state: Rc<Connection>, task: AbortHandle) {
        self.open.borrow_mut().insert(key, Open { state, task });
    }

    /// Closes a connection, if it is open.
    pub(crate) fn close(&self, key: u64) {
        if let Some(open) = self.open.borrow_mut().remove(&key) {
            open.task.abort();
        }
    }

    /// Returns true if another connection can be accepted, possibly in place of an existing one.
    pub(crate) fn can_take_one(&self) -> bool {
        let open = self.open.borrow();
        open.len() < self.limits.connections
            || open.values().any(|open| open.state.dispensable().is_some())
    }

    /// Returns true if another client can receive events.
    pub(crate) fn can_take_viewer(&self) -> bool {
        let open = self.open.borrow();
        open.values().filter(|open| open.state.is_streaming()).count() < self.limits.viewers
    }

    /// Closes others after `newest` was accepted, if the server is full.
    pub(crate) fn make_room(&self, newest: u64) {
        while let Some(other) = self.surplus(newest) {
            self.close(other);
        }
    }

    /// Closes others after `newest` received its response, if responses hold too much memory.
    pub(crate) fn free_memory(&self, newest: u64) {
        while let Some(other) = self.holds_too_much(newest) {
            self.close(other);
        }
    }

    fn surplus(&self, newest: u64) -> Option<u64> {
        let open = self.open.borrow();
        if let Some(peer) = open.get(&newest).map(|open| open.state.peer()) {
            let unasked = open.iter().filter(|(_, open)| open.state.is_unasked_of(peer));
            if unasked.clone().count() > self.limits.unasked_of_peer {
                return first_to_go(unasked, newest);
            }
        }
        let is_full = open.len() > self.limits.connections;
        is_full.then(|| first_to_go(open.iter(), newest)).flatten()
    }

    fn holds_too_much(&self, newest: u64) -> Option<u64> {
        let open = self.open.borrow();
        let bytes: usize = open.values().map(|open| open.state.unsent_bytes()).sum();
        let sending = open.iter().filter(|(_, open)| open.state.unsent_bytes() > 0);
        let is_too_much = bytes > self.limits.unsent_bytes;
        is_too_much.then(|| first_to_go(sending, newest)).flatten()
    }
}

fn first_to_go<'a>(among: impl Iterator<Item = (&'a u64, &'a Open)>, newest: u64) -> Option<u64> {
    let others = among.filter(|(key, _)| **key != newest);
    let ranked = others.filter_map(|(key, other)| Some((other.state.dispensable()?, *key)));
    ranked.min().map(|(_, key)| key)
}
