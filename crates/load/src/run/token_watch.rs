//! A look at the file of a token, each second.

use std::{
    sync::atomic::Ordering,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_measurements::SharedState;
use rabbitscope_topology::TokenFile;

/// Time from one look at the file to the next.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time from one look at the end of the run to the next.
const STEP: Duration = Duration::from_millis(50);

/// Reads the token again each second, until the run is over. Connections take a new one at their next tick.
pub(super) fn watch(token: &TokenFile, shared: &SharedState) {
    let mut read = Instant::now();
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(STEP);
        if read.elapsed() >= INTERVAL {
            token.look();
            read = Instant::now();
        }
    }
}
