//! The watchers of a run, and the handling of one that fails.

use std::sync::Arc;

use hdrhistogram::Histogram;
use rabbitscope_artifacts::salvage::Unwritten;
use rabbitscope_profiles::Profile;
use rabbitscope_runs::record::{BrokerStates, SecondRow};

/// Receives each window of a run's profile while it is recorded, on another thread.
pub type WindowSink = Arc<dyn Fn(Profile) + Send + Sync>;

/// A receiver of a run's seconds and notices.
pub trait Watcher {
    /// Reports the broker, with its state before the load.
    fn broker(&mut self, _states: &BrokerStates) {}

    /// Returns the receiver of the profile's windows, if there is one. They cost the recorder some time.
    fn windows(&self) -> Option<WindowSink> {
        None
    }

    /// Reports the number of connections made so far.
    fn connecting(&mut self, _done: usize, _of: usize) {}

    /// Called right before the first message is sent.
    fn started(&mut self) {}

    /// Reports a notice for the user during the run.
    fn notice(&mut self, _text: &str) {}

    /// Gets a latency's measurements, in nanoseconds, within the second that [`Watcher::second`] gets next.
    fn latency(&mut self, _name: &str, _histogram: &Histogram<u64>) {}

    /// Called after each second. A watcher that fails gets no more seconds; the run goes on.
    fn second(&mut self, row: &SecondRow) -> anyhow::Result<()>;

    /// Returns the name of its output, for a message.
    fn name(&self) -> String {
        "what was watched".to_owned()
    }
}

/// All watchers of one run. Dropping this value ends them.
#[derive(Default)]
pub struct Watchers {
    watching: Vec<Box<dyn Watcher>>,
    unwritten: Unwritten,
}

impl Watchers {
    /// Keeps the watchers in this order.
    pub fn new(watchers: Vec<Box<dyn Watcher>>) -> Self {
        Self { watching: watchers, unwritten: Unwritten::default() }
    }

    pub(crate) fn broker(&mut self, states: &BrokerStates) {
        self.watching.iter_mut().for_each(|watcher| watcher.broker(states));
    }

    pub(crate) fn windows(&self) -> Option<WindowSink> {
        self.watching.iter().find_map(|watcher| watcher.windows())
    }

    pub(crate) fn connecting(&mut self, done: usize, of: usize) {
        self.watching.iter_mut().for_each(|watcher| watcher.connecting(done, of));
    }

    /// Reports the start of the load.
    pub fn started(&mut self) {
        self.watching.iter_mut().for_each(|watcher| watcher.started());
    }

    pub(crate) fn notice(&mut self, text: &str) {
        self.watching.iter_mut().for_each(|watcher| watcher.notice(text));
    }

    /// Reports the measurements of a latency.
    pub fn latency(&mut self, name: &str, histogram: &Histogram<u64>) {
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

    /// Ends the watchers, and returns the errors of output.
    pub fn finish(self) -> Unwritten {
        self.unwritten
    }
}
