//! An inbox for signals and named windows. It blocks instead of polling.

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

/// An event for the main loop.
pub(super) enum Event {
    /// A deadline is reached.
    TimeUp,
    /// Reload the configuration file.
    Reload,
    /// End, with everything written.
    Stop,
    /// Deliver a window whose processes now have names.
    Named(LabelledWindow),
}

/// The signals of this process from now on, and events from its threads.
pub(super) struct Inbox {
    sender: Sender<Event>,
    receiver: Receiver<Event>,
}

impl Inbox {
    /// Takes over SIGHUP, SIGINT and SIGTERM. Call it while no capability is raised, because it starts a thread.
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

    /// Returns a sender for threads that send windows back.
    pub(super) fn sender(&self) -> Sender<Event> {
        self.sender.clone()
    }

    /// Waits for an event, until `deadline` at most.
    pub(super) fn wait_until(&self, deadline: Instant) -> Event {
        // The channel cannot disconnect, because this value keeps a sender.
        let wait = deadline.saturating_duration_since(Instant::now());
        self.receiver.recv_timeout(wait).unwrap_or(Event::TimeUp)
    }
}
