//! Waits for signals, without a thread that looks again and again.

use std::{
    sync::mpsc::{Receiver, RecvTimeoutError, channel},
    thread,
    time::{Duration, Instant},
};

use signal_hook::{
    consts::{SIGHUP, SIGINT, SIGTERM},
    iterator::Signals,
};

/// What a signal asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Asked {
    /// Nothing, the time is up.
    Nothing,
    /// Read the configuration file again.
    Reload,
    /// End, with everything written.
    Stop,
}

/// The signals of this process from now on.
pub(super) struct SignalInbox(Receiver<Asked>);

impl SignalInbox {
    /// Takes SIGHUP, SIGINT and SIGTERM. To be called while no capability is raised, because it starts a thread.
    pub(super) fn open() -> anyhow::Result<Self> {
        let mut signals = Signals::new([SIGHUP, SIGINT, SIGTERM])?;
        let (sender, receiver) = channel();
        thread::Builder::new().name("signals".to_owned()).spawn(move || {
            for signal in signals.forever() {
                let asked = if signal == SIGHUP { Asked::Reload } else { Asked::Stop };
                if sender.send(asked).is_err() {
                    break;
                }
            }
        })?;
        Ok(Self(receiver))
    }

    /// Waits for a signal, until `deadline` at most.
    pub(super) fn wait_until(&self, deadline: Instant) -> Asked {
        match self.0.recv_timeout(deadline.saturating_duration_since(Instant::now())) {
            Ok(asked) => asked,
            Err(RecvTimeoutError::Timeout) => Asked::Nothing,
            // The thread cannot end before this is dropped; if it did, waiting would have to take its time.
            Err(RecvTimeoutError::Disconnected) => {
                thread::sleep(Duration::from_secs(1));
                Asked::Nothing
            }
        }
    }
}
