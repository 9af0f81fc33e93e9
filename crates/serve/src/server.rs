//! The start of the server, and the wait for its end.

use std::{
    path::Path,
    sync::atomic::{AtomicBool, Ordering},
    thread,
    time::Duration,
};

use anyhow::Context;
use rabbitscope_files::SourceDirectory;
use rabbitscope_http::{Limits, Listener, Server};

use crate::answers;

/// Interval at which the stop flag is read. A person does not notice such a delay after Ctrl-C.
const STOP_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Serves the runs below `directory` until `stop` is set. `announce` receives the address, which is secret.
pub fn serve(
    directory: &Path,
    listener: Listener,
    stop: &AtomicBool,
    announce: impl FnOnce(&str),
) -> anyhow::Result<()> {
    let place = SourceDirectory::open(directory)
        .with_context(|| format!("cannot open {}", directory.display()))?;
    let listener = listener.with_path_token()?;
    let url = listener.url()?;
    let answer = move |request: &_| answers::respond(request, &place);
    let _server = Server::start(listener, Limits::default(), answer)?;
    announce(&url);
    while !stop.load(Ordering::Relaxed) {
        thread::sleep(STOP_POLL_INTERVAL);
    }
    Ok(())
}
