//! Those who watch a run while it goes: each is told every second.
//!
//! What does not live here: what the seconds say, and what remains of a run.

mod csv;
mod json_lines;
mod line;
mod live;
mod prometheus;

pub use csv::Csv;
use hdrhistogram::Histogram;
pub use json_lines::JsonLines;
pub use line::Line;
pub use live::{Head, Live};
pub use prometheus::Endpoint;
use rabbitscope_data::run::SecondRow;

/// Somebody who watches.
pub trait Watcher {
    /// So many connections are made.
    fn connecting(&mut self, _done: usize, _of: usize) {}

    /// The first message is about to be sent.
    fn started(&mut self) {}

    /// What was measured of a latency in the second that [`Watcher::second`] is told of next, in
    /// nanoseconds.
    fn latency(&mut self, _name: &str, _histogram: &Histogram<u64>) {}

    /// A second has passed. An error ends the run.
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()>;
}

/// All who watch one run. They are done with it when this is dropped.
#[derive(Default)]
pub struct Watchers(Vec<Box<dyn Watcher>>);

impl Watchers {
    /// These, in this order.
    pub fn new(watchers: Vec<Box<dyn Watcher>>) -> Self {
        Self(watchers)
    }

    pub(crate) fn connecting(&mut self, done: usize, of: usize) {
        self.0.iter_mut().for_each(|watcher| watcher.connecting(done, of));
    }

    pub(crate) fn started(&mut self) {
        self.0.iter_mut().for_each(|watcher| watcher.started());
    }

    pub(crate) fn latency(&mut self, name: &str, histogram: &Histogram<u64>) {
        self.0.iter_mut().for_each(|watcher| watcher.latency(name, histogram));
    }

    pub(crate) fn second(&mut self, row: &SecondRow) -> anyhow::Result<()> {
        self.0.iter_mut().try_for_each(|watcher| watcher.second(row))
    }
}
