//! The threads that observe a node while somebody views its page.

use std::{
    io,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::{Receiver, Sender, SyncSender, channel, sync_channel},
    },
    thread,
};

use rabbitscope_check::CheckOptions;
use rabbitscope_profiles::Profile;

use super::{
    asking::Asking,
    looks::look,
    outside::Outside,
    recorder::{Ways, record},
    report::Report,
};

/// Windows that wait for names.
const MAX_WAITING: usize = 2;

/// A running observation. Dropping it ends its threads soon: the connections close, and the node removes the modules.
pub(super) struct Observation {
    stop: Arc<AtomicBool>,
    pub(super) reports: Receiver<Report>,
    pub(super) outside: Option<Outside>,
}

impl Observation {
    /// Starts all threads for which the node permits something.
    pub(super) fn start(subject: &CheckOptions) -> io::Result<Self> {
        let stop = Arc::new(AtomicBool::new(false));
        let (sender, reports) = channel();
        let observation =
            Self { stop: Arc::clone(&stop), reports, outside: subject.pid.map(Outside::new) };
        let names = start_asking(subject, &sender, &stop)?;
        if let Some(pid) = subject.pid {
            let (ways, stop) = (Ways { names, reports: sender.clone() }, Arc::clone(&stop));
            start("recorder", move || record(pid, &ways, &stop))?;
        }
        let subject = subject.clone();
        start("looks", move || look(&subject, &sender, &stop))?;
        Ok(observation)
    }
}

/// Starts the thread that asks the node, if there is a way. Returns the way of windows to it.
fn start_asking(
    subject: &CheckOptions,
    reports: &Sender<Report>,
    stop: &Arc<AtomicBool>,
) -> io::Result<Option<SyncSender<Box<Profile>>>> {
    let Ok(connect) = subject.connect.clone() else { return Ok(None) };
    let (names, windows) = sync_channel(MAX_WAITING);
    let (reports, stop) = (reports.clone(), Arc::clone(stop));
    start("asking", move || Asking::new(&connect, &windows, &reports, &stop).run())?;
    Ok(Some(names))
}

fn start(name: &str, work: impl FnOnce() + Send + 'static) -> io::Result<()> {
    thread::Builder::new().name(name.to_owned()).spawn(work).map(drop)
}

impl Drop for Observation {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
    }
}
