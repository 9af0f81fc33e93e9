//! The start of the HTTP server and the wait for its end.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_erlang::{ConnectOptions, Connection};

use rabbitscope_http::{Limits, Listener, Server};

use super::{answers, shared_reader::SharedReader};
use crate::InsideError;

/// Interval at which the stop flag is read. A person does not notice such a delay after Ctrl-C.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Serves until `stop` is set. The end of the connection removes the agent from the node.
pub fn serve(
    listener: Listener,
    connection: Connection,
    options: ConnectOptions,
    stop: &AtomicBool,
) -> Result<(), InsideError> {
    let reader = SharedReader::start(connection, options);
    // The first client should not wait for the compiler on the node.
    reader.next(Duration::ZERO).map_err(InsideError::Reading)?;
    let _server = Server::start(listener, Limits::default(), move |request| {
        answers::respond(request, &reader)
    })
    .map_err(InsideError::Server)?;
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(STOP_POLL_INTERVAL);
    }
    Ok(())
}
