//! Waits for signals and for windows that come back, without a thread that looks again and again.

use std::{
    sync::mpsc::{Receiver, Sender, channel},
    thread,
    time::Instant,
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

use super::labelled_window::LabelledWindow;

/// What is to be done.
pub(super) enum Event {
    /// What is due: the time is up.
    TimeUp,
    /// Read the configuration file again.
    Reload,
    /// End, with everything written.
    Stop,
    /// Deliver a window whose processes have their names now.
    Named(LabelledWindow),
}

/// The signals of this process from now on, and what threads of ours send.
pub(super) struct Inbox {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Inbox {
    /// Takes SIGHUP, SIGINT and SIGTERM. To be called while no capability is raised, because it starts a thread.
    pub(super) fn open() -> anyhow::Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let (sender, receiver) = channel();
        let from_signals = sender.clone();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let event = if signal == SIGHUP { Event::Reload } else { Event::Stop };
                if from_signals.send(event).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self { sender, receiver })
    }

    /// For threads that send windows back.
    pub(super) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Waits for an event, until `deadline` at most.
    pub(super) fn wait_until(&self, deadline: Instant) -> Event {
        // It cannot be disconnected: a sender is kept here.
        let wait = deadline.saturating_duration_since(Instant::now());
        self.receiver.recv_timeout(wait).unwrap_or(Event::TimeUp)
    }
}
