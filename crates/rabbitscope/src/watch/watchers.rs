//! Who is shown each second of a run, and what becomes of one that fails.

use crate::salvage::Unwritten;
use hdrhistogram::Histogram;
use rabbitscope_runs::record::SecondRow;

/// Somebody who watches.
pub trait Watcher {
    /// So many connections are made.
    fn connecting(&mut self, _done: usize, _of: usize) {}

    /// The first message is about to be sent.
    fn started(&mut self) {}

    /// Something that a person should know while the run goes on.
    fn notice(&mut self, _text: &str) {}

    /// The measurements of a latency within the second that [`Watcher::second`] gets next, in
    /// nanoseconds.
    fn latency(&mut self, _name: &str, _histogram: &Histogram<u64>) {}

    /// A second has passed. A watcher that fails gets no more seconds; the run goes on.
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()>;

    /// What it writes, for a message.
    fn name(&self) -> String {
        "what was watched".to_owned()
    }
}

/// All who watch one run. They are done with it when this is dropped.
#[derive(Default)]
pub struct Watchers {
    watching: Vec<Box<dyn Watcher>>,
    unwritten: Unwritten,
}

impl Watchers {
    /// These, in this order.
    pub fn new(watchers: Vec<Box<dyn Watcher>>) -> Self {
        Self { watching: watchers, unwritten: Unwritten::default() }
    }

    pub(crate) fn connecting(&mut self, done: usize, of: usize) {
        self.watching.iter_mut().for_each(|watcher| watcher.connecting(done, of));
    }

    pub(crate) fn started(&mut self) {
        self.watching.iter_mut().for_each(|watcher| watcher.started());
    }

    pub(crate) fn notice(&mut self, text: &str) {
        self.watching.iter_mut().for_each(|watcher| watcher.notice(text));
    }

    pub(crate) fn latency(&mut self, name: &str, histogram: &Histogram<u64>) {
        self.watching.iter_mut().for_each(|watcher| watcher.latency(name, histogram));
    }

    pub(crate) fn second(&mut self, row: &SecondRow) {
        let unwritten = &mut self.unwritten;
        self.watching.retain_mut(|watcher| match watcher.second(row) {
            Ok(()) => true,
            Err(error) => {
                unwritten.note::<(), anyhow::Error>(&watcher.name(), Err(error)).is_some()
            }
        });
    }

    /// The run has ended: what could not be written.
    pub(crate) fn finish(self) -> Unwritten {
        self.unwritten
    }
}
