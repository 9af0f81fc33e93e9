//! A look at the file of a token, each second.

use std::{
    sync::atomic::Ordering,
    thread::{self, Scope},
    time::{Duration, Instant},
};

use rabbitscope_measurements::SharedState;
use rabbitscope_runs::record::ErrorKind;
use rabbitscope_timing::RunClock;
use rabbitscope_topology::{Dialer, TokenFile};

/// Time from one look at the file to the next.
const INTERVAL: Duration = Duration::from_secs(1);

/// Time from one look at the end of the run to the next.
const STEP: Duration = Duration::from_millis(50);

/// Starts the thread that reads the token of the logins, if they have one.
pub(super) fn watch_token<'s>(
    scope: &'s Scope<'s, '_>,
    dialer: &'s Dialer,
    (shared, clock): (&'s SharedState, RunClock),
) {
    if let Some(token) = dialer.token() {
        scope.spawn(move || watch(token, dialer, (shared, clock)));
    }
}

/// Reads the token again each second, until the run is over. Connections take a new one at their next tick.
fn watch(token: &TokenFile, dialer: &Dialer, (shared, clock): (&SharedState, RunClock)) {
    let mut read = Instant::now();
    while !shared.is_over.load(Ordering::Relaxed) {
        thread::sleep(STEP);
        if read.elapsed() >= INTERVAL {
            look(token, dialer, (shared, clock));
            read = Instant::now();
        }
    }
}

/// Replaces the token by that of the file, if the broker takes it. Brokers close open connections whose new token they
/// refuse, so a login tries it first.
fn look(token: &TokenFile, dialer: &Dialer, (shared, clock): (&SharedState, RunClock)) {
    let Some(candidate) = token.candidate() else { return };
    match dialer.refusal_of(&candidate) {
        None => token.replace(candidate),
        Some(refusal) => {
            let reason = refusal.to_string();
            shared.service.failed(ErrorKind::TokenRefused, clock.now(), &reason);
            token.refuse(candidate);
        }
    }
}
