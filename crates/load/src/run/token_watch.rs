//! A look at the file of a token, each second.

use std::{
    sync::atomic::Ordering,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use rabbitscope_measurements::SharedState;
use rabbitscope_topology::{Dialer, TokenFile};

/// Time from one look at the file to the next.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time from one look at the end of the run to the next.
const STEP: Duration = Duration::from_millis(50);

/// Starts the thread that reads the token of the logins, if they have one.
pub(super) fn watch_token<'s>(
    scope: &'s Scope<'s, '_>,
    dialer: &'s Dialer,
    shared: &'s SharedState,
) {
    if let Some(token) = dialer.token() {
        scope.spawn(move || watch(token, shared));
    }
}

/// Reads the token again each second, until the run is over. Connections take a new one at their next tick.
fn watch(token: &TokenFile, shared: &SharedState) {
    let mut read = Instant::now();
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(STEP);
        if read.elapsed() >= INTERVAL {
            token.look();
            read = Instant::now();
        }
    }
}
