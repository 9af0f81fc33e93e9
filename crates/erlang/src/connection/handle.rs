//! The handle of a connection.

use std::{sync::Arc, thread::JoinHandle, time::Duration};

use super::{
    Mailbox,
    switchboard::{Command, Renewal, Switchboard},
};
use crate::{
    Cookie, Term,
    distribution::{Outgoing, frame_of},
    term::Pid,
};

/// A connection, which threads may share. A drop closes it.
#[derive(Debug)]
pub struct Connection {
    pub(super) shared: Arc<Switchboard>,
    pub(super) link: Option<JoinHandle<()>>,
    pub(super) dead_man: Duration,
    pub(super) cookie: Cookie,
}

impl Connection {
    /// The node's name.
    pub fn node(&self) -> &str {
        self.shared.node()
    }

    /// Time that the keeper of a module waits for a sign of life before it removes the module.
    pub(crate) fn dead_man(&self) -> Duration {
        self.dead_man
    }

    /// The cookie of the connection, for its removal from texts.
    pub(crate) fn cookie(&self) -> &Cookie {
        &self.cookie
    }

    /// Makes a mailbox, which looks like a process to the node.
    pub fn mailbox(&self) -> Mailbox {
        Mailbox::new(&self.shared)
    }

    /// Sends the message once a second from now on. The link's thread does so, even while other threads are busy.
    pub(crate) fn renew(&self, process: &Pid, message: Term) -> Renewal {
        let renewal = Renewal(self.shared.number());
        let frame = frame_of(Outgoing::Message { to: process.clone(), message });
        self.command(Command::Renew(renewal, frame));
        renewal
    }

    pub(crate) fn command(&self, command: Command) {
        self.shared.command(command);
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        self.command(Command::Close);
        if let Some(link) = self.link.take() {
            let _ = link.join();
        }
    }
}
