//! The windows of a profile on their way to a live page: processes get their names on a thread of its own, so that the
//! recorder waits for neither node nor page.

use std::{
    sync::mpsc::{self, Receiver, SyncSender},
    thread::{self, Scope},
};

use rabbitscope_erlang::{ConnectOptions, Connection};
use rabbitscope_inside::{IdentityModule, KnownIdentities};
use rabbitscope_profiles::Profile;

use crate::progress::WindowSink;

/// Windows that may wait for names. Later ones are missing on the page.
const MAX_WAITING: usize = 16;

/// Starts the thread, which ends after the sender.
pub(super) fn start<'scope>(
    scope: &'scope Scope<'scope, '_>,
    node: Option<ConnectOptions>,
    sink: WindowSink,
) -> std::io::Result<SyncSender<Profile>> {
    let (windows, waiting) = mpsc::sync_channel(MAX_WAITING);
    let pass_on = move || pass_on(node.as_ref(), &waiting, &sink);
    thread::Builder::new().name("live-windows".to_owned()).spawn_scoped(scope, pass_on)?;
    Ok(windows)
}

/// Passes windows on. Without an answer from the node, processes have pids only; the run's own profile tells why.
fn pass_on(node: Option<&ConnectOptions>, waiting: &Receiver<Profile>, sink: &WindowSink) {
    let connection = node.and_then(|node| Connection::open(node).ok());
    // The connection was made; nothing else here needs a privilege.
    let _ = rabbitscope_probe::drop_privileges();
    let mut module = connection.as_ref().and_then(|node| IdentityModule::new(node).ok());
    let mut known = KnownIdentities::default();
    for window in waiting {
        let mut windows = [window];
        if known.resolve(module.as_ref(), &mut windows).is_err() {
            module = None;
        }
        let [window] = windows;
        sink(window);
    }
}
