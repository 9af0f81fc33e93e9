//! Slots: the numbers under which load threads record the latencies of groups and queues.
//!
//! A slot is a group, or a queue as one group of consumers reads it. Each measurement is recorded once, into the histograms
//! of the selected slot; totals are sums over the slots, made once a second by the aggregator. So no message costs a second
//! record or a search.

use rabbitscope_runs::scenario::Scenario;

use super::{histogram::LatencyHistogram, kind::Latency};

/// Slots of groups, and of queues. A slot takes about 200 KiB for each latency that it measures, on each
/// load thread and once more in all.
pub(super) const MOST_GROUPS: usize = 100;

const MOST_QUEUES: usize = 100;

/// A gauge for each [`Latency`].
pub(crate) type HistogramSet = [LatencyHistogram; Latency::ALL.len()];

/// Which slot is whose. The slot behind those of the groups is for groups beyond [`MOST_GROUPS`].
#[derive(Clone, Debug, Default)]
pub(crate) struct Slots {
    /// Kind and name, in the order of the scenario.
    pub(super) groups: Vec<(&'static str, String)>,
    publishers: usize,
    consumers: usize,
    /// Behind the slots of the groups: a group's number, and a queue that it reads.
    pub(super) queues: Vec<(usize, String)>,
    pub(super) left_out: u64,
}

impl Slots {
    pub(crate) fn of(scenario: &Scenario) -> Self {
        let publishers = scenario.publishers.iter().map(|it| ("publishers", it.name.clone()));
        let consumers = scenario.consumers.iter().map(|it| ("consumers", it.name.clone()));
        let requests = scenario.requests.iter().map(|it| ("requests", it.name.clone()));
        let mut slots = Self {
            groups: publishers.chain(consumers).chain(requests).collect(),
            publishers: scenario.publishers.len(),
            consumers: scenario.consumers.len(),
            queues: Vec::new(),
            left_out: 0,
        };
        if scenario.run.latency_by_queue {
            slots.add_queues(scenario);
        }
        let room = slots.groups.len().saturating_sub(MOST_GROUPS);
        slots.left_out += u64::try_from(room).unwrap_or(u64::MAX);
        slots
    }

    fn add_queues(&mut self, scenario: &Scenario) {
        for (number, group) in scenario.consumers.iter().enumerate() {
            for queue in scenario.queue_names(&group.queue) {
                if self.queues.len() < MOST_QUEUES {
                    self.queues.push((self.publishers + number, queue));
                } else {
                    self.left_out += 1;
                }
            }
        }
    }

    pub(crate) fn consumers(&self, number: usize) -> u16 {
        group_slot(self.publishers + number)
    }

    pub(crate) fn requests(&self, number: usize) -> u16 {
        group_slot(self.publishers + self.consumers + number)
    }

    /// What consumers of this group read from this queue.
    pub(crate) fn queue(&self, consumers: usize, queue: &str) -> u16 {
        let group = self.publishers + consumers;
        let known = self.queues.iter().position(|(of, name)| *of == group && name == queue);
        known.map_or_else(
            || group_slot(group),
            |at| u16::try_from(MOST_GROUPS + 1 + at).unwrap_or(0),
        )
    }
}

/// Of a group of publishers: they come first.
pub(crate) fn publisher_slot(number: usize) -> u16 {
    group_slot(number)
}

pub(super) fn group_slot(group: usize) -> u16 {
    u16::try_from(group.min(MOST_GROUPS)).unwrap_or(0)
}

/// Adds slot by slot.
pub(crate) fn add_slots(sum: &mut Vec<HistogramSet>, part: &[HistogramSet]) {
    if sum.len() < part.len() {
        sum.resize_with(part.len(), HistogramSet::default);
    }
    for (sum, part) in sum.iter_mut().zip(part) {
        merge(sum, part);
    }
}

/// All slots together.
pub(crate) fn total_of_slots(slots: &[HistogramSet]) -> HistogramSet {
    let mut sum = HistogramSet::default();
    for histograms in slots {
        merge(&mut sum, histograms);
    }
    sum
}

pub(super) fn merge(sum: &mut HistogramSet, part: &HistogramSet) {
    for (sum, part) in sum.iter_mut().zip(part) {
        sum.add(part);
    }
}
