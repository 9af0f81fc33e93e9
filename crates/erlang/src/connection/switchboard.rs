//! State that the link and the users of a connection share.

use std::{
    collections::HashMap,
    sync::{
        Arc, Mutex, MutexGuard, PoisonError,
        atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering},
        mpsc,
    },
};

use mio::Waker;

use crate::{
    ErlangError, Term,
    distribution::{Outgoing, frame_of},
    term::{Atom, Pid, Reference, encode},
};

/// Limit of unread bytes in one mailbox.
pub(super) const MAX_UNREAD_BYTES: usize = 64 << 20;

/// Limit of other processes' monitors and links to one mailbox. The agents need a handful.
const MAX_WATCHERS: usize = 1_000;

/// The number of a message that the link sends each second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Renewal(pub(super) u32);

/// A command to the link.
#[derive(Debug)]
pub(crate) enum Command {
    /// Send this frame.
    Send(Vec<u8>),
    /// Send this frame once a second from now on.
    Renew(Renewal, Vec<u8>),
    /// Stop a renewal.
    StopRenewing(Renewal),
    /// Send the remaining frames, then end.
    Close,
}

/// An item for a mailbox; messages are still encoded.
#[derive(Debug)]
pub(super) enum Arrived {
    Message(Vec<u8>),
    Down { reference: Reference, reason: Term },
    Exit { from: Pid, reason: Term },
}

impl Arrived {
    /// Approximate memory of an unread item: its place in the queue, and for a decoded term some tens of bytes per
    /// byte.
    pub(super) fn cost_bytes(&self) -> usize {
        const PLACE: usize = 160;
        const DECODED: usize = 32;
        PLACE
            + match self {
                Self::Message(payload) => payload.len(),
                Self::Down { reason, .. } | Self::Exit { reason, .. } => {
                    DECODED * encode(reason).len()
                }
            }
    }
}

/// Delivered but unread bytes, and a mark that the limit was exceeded.
#[derive(Debug, Default)]
pub(super) struct Backlog {
    pub(super) bytes: AtomicUsize,
    pub(super) overflowed: AtomicBool,
}

/// A mailbox in the link's view.
#[derive(Debug)]
pub(super) struct Entry {
    pub(super) sender: mpsc::Sender<Arrived>,
    pub(super) backlog: Arc<Backlog>,
    monitors: Vec<(Pid, Reference)>,
    links: Vec<Pid>,
}

#[derive(Debug, Default)]
pub(super) struct State {
    pub(super) mailboxes: HashMap<u32, Entry>,
    /// The reason for the loss of the connection.
    pub(super) lost: Option<String>,
}

/// State of the link and of all users of the connection.
#[derive(Debug)]
pub(crate) struct Switchboard {
    node: String,
    own: Atom,
    creation: u32,
    commands: mpsc::Sender<Command>,
    waker: Waker,
    numbers: AtomicU32,
    pub(super) silence_ms: AtomicU64,
    state: Mutex<State>,
}

impl Switchboard {
    pub(super) fn new(
        node: String,
        own: &str,
        creation: u32,
        commands: mpsc::Sender<Command>,
        waker: Waker,
    ) -> Self {
        /// The default tick time.
        const USUAL_SILENCE_MS: u64 = 60_000;
        Self {
            node,
            own: Atom::new(own),
            creation,
            commands,
            waker,
            numbers: AtomicU32::new(1),
            silence_ms: AtomicU64::new(USUAL_SILENCE_MS),
            state: Mutex::default(),
        }
    }

    pub(super) fn node(&self) -> &str {
        &self.node
    }

    /// Locks the state, even a poisoned one: no panic can leave it incomplete.
    pub(super) fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn number(&self) -> u32 {
        self.numbers.fetch_add(1, Ordering::Relaxed)
    }

    /// The pid of a mailbox.
    pub(super) fn pid(&self, id: u32) -> Pid {
        Pid { node: self.own.clone(), id, serial: 0, creation: self.creation }
    }

    pub(crate) fn make_reference(&self) -> Reference {
        let ids = vec![self.number(), 0, 0];
        Reference { node: self.own.clone(), creation: self.creation, ids }
    }

    /// Sends a command. A link that has ended reads none; waiting users then get its error.
    pub(crate) fn command(&self, command: Command) {
        if self.commands.send(command).is_ok() {
            let _ = self.waker.wake();
        }
    }

    pub(crate) fn send(&self, outgoing: Outgoing) -> Result<(), ErlangError> {
        if let Some(reason) = &self.state().lost {
            return Err(self.lost_because(reason));
        }
        self.command(Command::Send(frame_of(outgoing)));
        Ok(())
    }

    /// The error for all waiting users.
    pub(super) fn lost(&self) -> ErlangError {
        let state = self.state();
        self.lost_because(state.lost.as_deref().unwrap_or("it was closed"))
    }

    fn lost_because(&self, reason: &str) -> ErlangError {
        ErlangError::Lost { node: self.node.clone(), reason: reason.to_owned() }
    }

    /// Closes all mailboxes, which wakes waiting users and lets no user begin to wait.
    pub(super) fn lose(&self, reason: String) {
        let mut state = self.state();
        state.lost.get_or_insert(reason);
        state.mailboxes.clear();
    }
}

impl State {
    /// Returns the mailbox of a pid of the hidden node.
    pub(super) fn entry(&mut self, pid: &Pid) -> Option<&mut Entry> {
        self.mailboxes.get_mut(&pid.id)
    }
}

impl Entry {
    pub(super) fn new(sender: mpsc::Sender<Arrived>, backlog: Arc<Backlog>) -> Self {
        Self { sender, backlog, monitors: Vec::new(), links: Vec::new() }
    }

    /// Delivers an item, unless the mailbox's unread bytes would exceed the limit.
    pub(super) fn deliver(&self, arrived: Arrived) {
        let bytes = arrived.cost_bytes();
        if self.backlog.bytes.fetch_add(bytes, Ordering::Relaxed) + bytes > MAX_UNREAD_BYTES {
            self.backlog.overflowed.store(true, Ordering::Relaxed);
            self.backlog.bytes.fetch_sub(bytes, Ordering::Relaxed);
            return;
        }
        // A receiver that is being dropped needs no item.
        let _ = self.sender.send(arrived);
    }

    pub(super) fn add_monitor(&mut self, from: Pid, reference: Reference) {
        if self.monitors.len() < MAX_WATCHERS {
            self.monitors.push((from, reference));
        }
    }

    pub(super) fn remove_monitor(&mut self, reference: &Reference) {
        self.monitors.retain(|(_, found)| found != reference);
    }

    pub(super) fn add_link(&mut self, from: Pid) {
        if self.links.len() < MAX_WATCHERS {
            self.links.push(from);
        }
    }

    pub(super) fn remove_link(&mut self, from: &Pid) {
        self.links.retain(|found| found != from);
    }

    /// Returns the frames that report this mailbox's end to all processes that monitor it or are linked to it.
    pub(super) fn farewells(self, own: &Pid) -> Vec<Outgoing> {
        let reason = || Term::atom("normal");
        let downs = self.monitors.into_iter().map(|(to, reference)| Outgoing::Down {
            from: own.clone().into(),
            to,
            reference,
            reason: reason(),
        });
        let exits = self.links.into_iter().map(|to| Outgoing::Exit {
            from: own.clone(),
            to,
            reason: reason(),
        });
        downs.chain(exits).collect()
    }
}
