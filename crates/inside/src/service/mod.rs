//! Queues over HTTP, for applications that poll: a connection to the node that stays.
//!
//! ```text
//!  clients ══► server (`http`) ──► answers (its workers) ──► reader (one thread) ══► node
//! ```
//!
//! Requests that wait while the node is read are all answered by the next reading, so that more
//! clients do not mean more work for the node.

mod answers;
mod readings;

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_erlang::{ConnectOptions, Connection};

use rabbitscope_http::{Limits, Listener, Server};

use crate::InsideError;
use readings::Readings;

/// How soon Ctrl-C is heeded.
const POLL: Duration = Duration::from_millis(50);

/// Serves until it is asked to stop. What is on the node goes with the connection.
pub fn serve(
    listener: Listener,
    connection: Connection,
    options: ConnectOptions,
    stop: &AtomicBool,
) -> Result<(), InsideError> {
    let readings = Readings::start(connection, options);
    // The first client does not wait for the compiler on the node.
    readings.next(Duration::ZERO).map_err(InsideError::Reading)?;
    let _server = Server::start(listener, Limits::default(), move |request| {
        answers::respond(request, &readings)
    })
    .map_err(InsideError::Server)?;
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(POLL);
    }
    Ok(())
}
