//! The number of messages in the scenario's queues, polled over a separate connection.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, AtomicU64, Ordering},
    },
    thread,
    time::Duration,
};

use rabbitscope_runs::scenario::{QueueNames, QueueType, Scenario};

use super::connection::Topology;
use crate::{dial::Dialer, error::TopologyError};

/// Maximum number of polled queues; with more, polling would be a load of its own. Chosen.
const QUEUES_MAX: usize = 8;

/// Time between two polls. Chosen: two polls per row of the series.
const DEPTH_POLL_INTERVAL: Duration = Duration::from_millis(500);

/// Interval at which a pause checks for the end of the run.
const END_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Value for an unknown depth.
const UNKNOWN: u64 = u64::MAX;

/// The sum of messages in the queues of a scenario, updated by a thread.
#[derive(Debug)]
pub struct QueueDepths {
    messages: Arc<AtomicU64>,
    has_ended: Arc<AtomicBool>,
}

impl QueueDepths {
    /// Starts polling. Absent if the scenario has too many queues, or none that can be polled. Streams never become
    /// empty, and exclusive queues answer only their own connection. Also absent for several independent brokers.
    pub fn watch(scenario: &Scenario, dialer: &Dialer) -> Result<Option<Self>, TopologyError> {
        let is_simple = scenario.queues.iter().all(|queue| queue.queues() == QueueNames::One);
        let can_be_asked = scenario
            .queues
            .iter()
            .filter(|queue| !queue.exclusive && queue.queue_type != QueueType::Stream);
        let names: Vec<String> = can_be_asked.map(|queue| queue.name.clone()).collect();
        let is_one_broker = !scenario.broker.spec.is_several_brokers();
        if !is_simple || !is_one_broker || names.is_empty() || names.len() > QUEUES_MAX {
            return Ok(None);
        }
        let topology = Topology::connect(dialer)?;
        let messages = Arc::new(AtomicU64::new(UNKNOWN));
        let has_ended = Arc::new(AtomicBool::new(false));
        let depths = Self { messages: Arc::clone(&messages), has_ended: Arc::clone(&has_ended) };
        // If the scenario's connections recover, this one does, too.
        let again = scenario.broker.connecting.recovery.map(|_| dialer.clone());
        thread::spawn(move || {
            ask(topology, &names, &messages, &has_ended);
            while let Some(dialer) = again.as_ref().filter(|_| pause(&has_ended)) {
                if let Ok(topology) = Topology::connect(dialer) {
                    ask(topology, &names, &messages, &has_ended);
                }
            }
        });
        Ok(Some(depths))
    }

    /// Returns the number of ready messages at the last poll; absent if the broker did not answer.
    pub fn messages(&self) -> Option<u64> {
        let messages = self.messages.load(Ordering::Relaxed);
        (messages != UNKNOWN).then_some(messages)
    }
}

impl Drop for QueueDepths {
    fn drop(&mut self) {
        self.has_ended.store(true, Ordering::Relaxed);
    }
}

/// Polls until the end, or until the broker does not answer. In the latter case the depth is unknown.
pub(super) fn ask(
    mut topology: Topology,
    names: &[String],
    messages: &AtomicU64,
    has_ended: &AtomicBool,
) {
    while !has_ended.load(Ordering::Relaxed) {
        let sum = names
            .iter()
            .try_fold(0, |sum, name| topology.messages(name).map(|messages| sum + messages));
        messages.store(sum.unwrap_or(UNKNOWN), Ordering::Relaxed);
        if sum.is_none() {
            return;
        }
        pause(has_ended);
    }
    topology.close();
}

/// Waits for the next poll. Returns false at the end of the run.
fn pause(has_ended: &AtomicBool) -> bool {
    let mut waited = Duration::ZERO;
    while waited < DEPTH_POLL_INTERVAL && !has_ended.load(Ordering::Relaxed) {
        thread::sleep(END_POLL_INTERVAL);
        waited += END_POLL_INTERVAL;
    }
    !has_ended.load(Ordering::Relaxed)
}
