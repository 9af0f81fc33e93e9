//! Starts the HTTP server and waits for its end.

use std::{
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use rabbitscope_erlang::{ConnectOptions, Connection};

use rabbitscope_http::{Limits, Listener, Server};

use super::{answers, shared_reader::SharedReader};
use crate::InsideError;

/// How often the stop flag is read; a person notices no delay of this length after Ctrl-C.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Serves until `stop` is set. The agent on the node is removed with the connection.
pub fn serve(
    listener: Listener,
    connection: Connection,
    options: ConnectOptions,
    stop: &AtomicBool,
) -> Result<(), InsideError> {
    let reader = SharedReader::start(connection, options);
    // The first client does not wait for the compiler on the node.
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
