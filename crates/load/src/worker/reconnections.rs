//! Replacements for a worker's lost connections, and the lifetimes of each link's connections.

use std::sync::{
    Arc,
    mpsc::{Receiver, channel},
};

use mio::Waker;

use super::backoff::Backoff;
use crate::connect::{PreparedConnection, ReconnectedLinks};

/// The receiving side of the reconnector.
pub(super) struct Reconnections {
    pub(super) received: Receiver<(usize, PreparedConnection)>,
    inbox: (ReconnectedLinks, Arc<Waker>),
    /// Lifetimes of connections, by link.
    pub(super) backoffs: Vec<Backoff>,
}

impl Reconnections {
    /// Creates the channel. `waker` wakes the poll of the worker.
    pub(super) fn new(links: usize, waker: Waker) -> Self {
        let (sender, received) = channel();
        Self {
            received,
            inbox: (sender, Arc::new(waker)),
            backoffs: vec![Backoff::default(); links],
        }
    }

    /// Returns the sender for replaced connections, and the waker to call afterwards.
    pub(super) fn inbox(&self) -> (ReconnectedLinks, Arc<Waker>) {
        self.inbox.clone()
    }
}
