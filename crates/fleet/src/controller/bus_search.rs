//! The search for a bus that was lost during a run. A thread makes the attempts, because one can take as long as the
//! network lets it.

use std::{
    sync::{
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, RecvTimeoutError, Sender, channel},
    },
    thread,
    time::{Duration, Instant},
};

use super::options::{ControllerOptions, connect};
use crate::bus::Bus;

/// Interval between attempts to reconnect to the bus.
const RECONNECT_INTERVAL: Duration = Duration::from_millis(500);

/// Wait for a lost bus before its workers count as lost. Chosen: enough for a restart.
const BUS_TIMEOUT: Duration = Duration::from_secs(60);

/// Interval at which the wait checks `stop`. Chosen: too short for a person to notice.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Rest of the search once the user has asked for the end. Chosen: an attempt, and no wait for a person.
const TIME_AFTER_STOP: Duration = Duration::from_millis(700);

/// A search that has not ended.
pub(super) struct BusSearch(Receiver<Bus>);

/// The end of a search.
pub(super) enum Searched {
    /// A connection that reads the log again from its beginning.
    Found(Box<Bus>),
    /// Not found before the user asked for the end.
    Stopped,
    /// Not found in time.
    GivenUp,
}

impl BusSearch {
    pub(super) fn start(options: &ControllerOptions) -> Self {
        let (sender, found) = channel();
        let options = options.clone();
        thread::spawn(move || search(&options, &sender));
        Self(found)
    }

    /// Waits for the bus, until it takes too long or the user asks for the end.
    pub(super) fn wait(self, stop: &AtomicBool) -> Searched {
        let began = Instant::now();
        let mut stopped: Option<Instant> = None;
        while began.elapsed() < BUS_TIMEOUT {
            match self.0.recv_timeout(STOP_POLL_INTERVAL) {
                Ok(bus) => return Searched::Found(Box::new(bus)),
                // The thread has ended without a result.
                Err(RecvTimeoutError::Disconnected) => thread::sleep(STOP_POLL_INTERVAL),
                Err(RecvTimeoutError::Timeout) => {}
            }
            if stop.load(Ordering::Relaxed) {
                let at = *stopped.get_or_insert_with(Instant::now);
                if at.elapsed() >= TIME_AFTER_STOP {
                    return Searched::Stopped;
                }
            }
        }
        Searched::GivenUp
    }
}

/// Attempts to connect until one works or the time is over. While the bus has not noticed the loss of the previous
/// connection, that one still counts as the fleet's controller.
fn search(options: &ControllerOptions, sender: &Sender<Bus>) {
    let began = Instant::now();
    while began.elapsed() < BUS_TIMEOUT {
        thread::sleep(RECONNECT_INTERVAL);
        if let Ok(Some(mut bus)) = connect(options)
            && bus.read_log().is_ok()
        {
            sender.send(bus).ok();
            return;
        }
    }
}
