//! A process of the hidden node, from the other node's view: it has a pid, receives messages, and monitors.

use std::{
    sync::{Arc, atomic::Ordering, mpsc},
    time::{Duration, Instant},
};

use super::switchboard::{Arrived, Backlog, Entry, MAX_UNREAD_BYTES, Switchboard};
use crate::{
    ErlangError, Term,
    distribution::{Outgoing, message_of},
    term::{Pid, Reference},
};

/// A receiver of messages. Its drop informs the processes that monitor it.
#[derive(Debug)]
pub struct Mailbox {
    shared: Arc<Switchboard>,
    pid: Pid,
    arrivals: mpsc::Receiver<Arrived>,
    backlog: Arc<Backlog>,
}

/// An item that a mailbox receives.
#[derive(Clone, Debug, PartialEq)]
pub enum Received {
    /// A message.
    Message(Term),
    /// The end of a monitored process.
    Down {
        /// The reference that [`Mailbox::monitor`] returned.
        reference: Reference,
        /// The reason for the end.
        reason: Term,
    },
    /// An exit signal.
    Exit {
        /// The sender.
        from: Pid,
        /// The reason for the end.
        reason: Term,
    },
}

impl Mailbox {
    pub(super) fn new(shared: &Arc<Switchboard>) -> Self {
        let (sender, arrivals) = mpsc::channel();
        let backlog = Arc::new(Backlog::default());
        let id = shared.number();
        let mut state = shared.state();
        // Without a connection the sender is dropped, and `receive` reports the loss.
        if state.lost.is_none() {
            state.mailboxes.insert(id, Entry::new(sender, Arc::clone(&backlog)));
        }
        drop(state);
        Self { shared: Arc::clone(shared), pid: shared.pid(id), arrivals, backlog }
    }

    /// The pid of the mailbox.
    pub fn pid(&self) -> &Pid {
        &self.pid
    }

    /// Sends a message to a process. Like every Erlang message it may be lost.
    pub fn send(&self, to: &Pid, message: Term) -> Result<(), ErlangError> {
        self.shared.send(Outgoing::Message { to: to.clone(), message })
    }

    /// Sends a message to a registered name on the node.
    pub fn send_to_name(&self, name: &'static str, message: Term) -> Result<(), ErlangError> {
        self.shared.send(Outgoing::ToName { from: self.pid.clone(), name, message })
    }

    /// Monitors a process: [`Received::Down`] follows when it ends, or at once if it does not exist.
    pub fn monitor(&self, process: &Pid) -> Result<Reference, ErlangError> {
        let reference = self.shared.make_reference();
        let (from, to) = (self.pid.clone(), process.clone());
        self.shared.send(Outgoing::Monitor { from, to, reference: reference.clone() })?;
        Ok(reference)
    }

    /// Makes a unique reference.
    pub fn make_reference(&self) -> Reference {
        self.shared.make_reference()
    }

    /// Receives the next item; `None` if none arrives in time.
    pub fn receive(&self, within: Duration) -> Result<Option<Received>, ErlangError> {
        self.receive_map(within, Some)
    }

    /// Returns the first value that `wanted` returns for an item, and drops all earlier items.
    pub(crate) fn receive_map<T>(
        &self,
        within: Duration,
        wanted: impl Fn(Received) -> Option<T>,
    ) -> Result<Option<T>, ErlangError> {
        let deadline = Instant::now() + within;
        loop {
            let left = deadline.saturating_duration_since(Instant::now());
            let arrived = match self.arrivals.recv_timeout(left) {
                Ok(arrived) => arrived,
                Err(mpsc::RecvTimeoutError::Timeout) => return self.check_backlog().map(|()| None),
                Err(mpsc::RecvTimeoutError::Disconnected) => return Err(self.shared.lost()),
            };
            self.check_backlog()?;
            self.backlog.bytes.fetch_sub(arrived.cost_bytes(), Ordering::Relaxed);
            if let Some(found) = self.read(arrived)?.and_then(&wanted) {
                return Ok(Some(found));
            }
            // Unwanted items may arrive without end.
            if left.is_zero() {
                return Ok(None);
            }
        }
    }

    fn check_backlog(&self) -> Result<(), ErlangError> {
        if self.backlog.overflowed.load(Ordering::Relaxed) {
            let limit_mib = MAX_UNREAD_BYTES >> 20;
            return Err(ErlangError::TooMuch { node: self.shared.node().to_owned(), limit_mib });
        }
        Ok(())
    }

    fn read(&self, arrived: Arrived) -> Result<Option<Received>, ErlangError> {
        let payload = match arrived {
            Arrived::Down { reference, reason } => {
                return Ok(Some(Received::Down { reference, reason }));
            }
            Arrived::Exit { from, reason } => return Ok(Some(Received::Exit { from, reason })),
            Arrived::Message(payload) => payload,
        };
        let message = message_of(&payload)
            .map_err(|source| ErlangError::Term { node: self.shared.node().to_owned(), source })?;
        if let Some([from, reply_as, _]) = message.as_tagged("io_request") {
            self.refuse_io(from, reply_as)?;
            return Ok(None);
        }
        Ok(Some(Received::Message(message)))
    }

    /// Refuses requests of the I/O protocol, because a process that prints would wait forever.
    fn refuse_io(&self, from: &Term, reply_as: &Term) -> Result<(), ErlangError> {
        let Some(from) = from.as_pid() else { return Ok(()) };
        let refused = Term::tuple([Term::atom("error"), Term::atom("enotsup")]);
        self.send(from, Term::tuple([Term::atom("io_reply"), reply_as.clone(), refused]))
    }
}

impl Drop for Mailbox {
    fn drop(&mut self) {
        let entry = self.shared.state().mailboxes.remove(&self.pid.id);
        for farewell in entry.into_iter().flat_map(|entry| entry.farewells(&self.pid)) {
            // A lost connection has no peer that a message could reach.
            let _ = self.shared.send(farewell);
        }
    }
}
