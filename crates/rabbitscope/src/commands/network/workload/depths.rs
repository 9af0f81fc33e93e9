//! The depth of all queues of the observed node, beside the capture of its packets.

use std::{
    sync::mpsc::{RecvTimeoutError, Sender, channel},
    thread::{self, JoinHandle},
    time::Duration,
};

use rabbitscope_erlang::Connection;
use rabbitscope_inside::FiguresReader;

/// Interval of readings. A reading of very many queues takes longer, and is repeated more rarely.
const INTERVAL: Duration = Duration::from_secs(1);

/// Readings in progress.
pub(super) struct Depths {
    /// Dropped to end them.
    stop: Sender<()>,
    thread: JoinHandle<Vec<u64>>,
}

impl Depths {
    /// Starts to read the figures of a node.
    pub(super) fn start(connection: Connection) -> Self {
        let (stop, stopped) = channel();
        let thread = thread::spawn(move || {
            let mut ready = Vec::new();
            let Ok(mut reader) = FiguresReader::new(&connection) else { return ready };
            loop {
                let queues = reader.read().ok().and_then(|figures| figures.queues);
                // A node that keeps no statistics does not know.
                let Some(queues) = queues else { return Vec::new() };
                ready.push(queues.ready);
                match stopped.recv_timeout(INTERVAL) {
                    Err(RecvTimeoutError::Timeout) => {}
                    Ok(()) | Err(RecvTimeoutError::Disconnected) => return ready,
                }
            }
        });
        Self { stop, thread }
    }

    /// Ends the readings. Returns the ready messages of all queues at each; empty if they are unknown.
    pub(super) fn finish(self) -> Vec<u64> {
        drop(self.stop);
        self.thread.join().unwrap_or_default()
    }
}
