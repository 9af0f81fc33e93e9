//! The connections of a worker that were made again, and how long each of its links has held.

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
    /// By link.
    pub(super) backoffs: Vec<Backoff>,
}

impl Reconnections {
    /// `waker` wakes the poll of the worker.
    pub(super) fn new(links: usize, waker: Waker) -> Self {
        let (sender, received) = channel();
        Self {
            received,
            inbox: (sender, Arc::new(waker)),
            backoffs: vec![Backoff::default(); links],
        }
    }

    /// Where connections that were made again are handed in, and the waker to call then.
    pub(super) fn inbox(&self) -> (ReconnectedLinks, Arc<Waker>) {
        self.inbox.clone()
    }
}
