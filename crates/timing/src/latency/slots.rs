//! Slots: the numbers for recording the latencies of groups and queues.
//!
//! A slot is a group, or a queue as one group of consumers reads it. Each measurement is recorded once, in the
//! histograms of the selected slot. The aggregator sums the slots once a second. No message therefore costs a second
//! record or a search. The histograms are in `slot_histograms.rs`.

use rabbitscope_runs::{
    record::Latency,
    scenario::{ConsumerGroup, LatencyEnds, Scenario},
};

use super::slot_histograms::HistogramSet;

/// Slots for groups. A slot takes about 200 KiB per measured latency on each load thread, and as much in the
/// aggregator: 20 MB for 100 groups on one thread.
pub const MAX_GROUPS: usize = 100;

/// Slots for queues; see [`MAX_GROUPS`] for their size.
const MAX_QUEUES: usize = 100;

/// Maximum number of slots, including the one for groups beyond [`MAX_GROUPS`].
pub const MAX_SLOTS: usize = MAX_GROUPS + 1 + MAX_QUEUES;

/// The slots of the groups and queues of a scenario. The slot after those of the groups is for groups beyond
/// [`MAX_GROUPS`].
#[derive(Clone, Debug, Default)]
pub struct Slots {
    /// Kind and name, in the order of the scenario.
    pub groups: Vec<(&'static str, String)>,
    publishers: usize,
    consumers: usize,
    /// Group number and queue. Their slots follow those of the groups.
    pub queues: Vec<(usize, String)>,
    /// Number of groups and queues without a slot of their own.
    pub left_out: u64,
    /// Ends of end-to-end latencies that at least one group distinguishes from delivery.
    ends: LatencyEnds,
    /// Per group of consumers: the ends that it records itself.
    recorded: Vec<LatencyEnds>,
}

impl Slots {
    /// Returns the slots of a scenario.
    pub fn from_scenario(scenario: &Scenario) -> Self {
        let publishers = scenario.publishers.iter().map(|group| ("publishers", group.name.clone()));
        let consumers = scenario.consumers.iter().map(|group| ("consumers", group.name.clone()));
        let requests = scenario.requests.iter().map(|group| ("requests", group.name.clone()));
        let mut slots = Self {
            groups: publishers.chain(consumers).chain(requests).collect(),
            publishers: scenario.publishers.len(),
            consumers: scenario.consumers.len(),
            queues: Vec::new(),
            left_out: 0,
            ends: LatencyEnds::from_scenario(scenario),
            recorded: Vec::new(),
        };
        slots.recorded = scenario
            .consumers
            .iter()
            .zip(0..)
            .map(|(group, number)| slots.ends_of(group, number))
            .collect();
        if scenario.run.latency_by_queue {
            slots.add_queues(scenario);
        }
        let room = slots.groups.len().saturating_sub(MAX_GROUPS);
        slots.left_out += u64::try_from(room).unwrap_or(u64::MAX);
        slots
    }

    /// Returns the ends that a group of consumers records itself: those at which its messages wait. Groups that share a
    /// slot each record every end that one of them records.
    fn ends_of(&self, group: &ConsumerGroup, number: usize) -> LatencyEnds {
        let shares = self.publishers + number >= MAX_GROUPS;
        LatencyEnds {
            processed: self.ends.processed && (shares || group.starts_later()),
            settled: self.ends.settled && (shares || group.settles_later()),
        }
    }

    /// Returns the ends that a group of consumers records itself; see [`Slots::fill`].
    pub fn recorded(&self, number: usize) -> LatencyEnds {
        self.recorded.get(number).copied().unwrap_or_default()
    }

    /// Fills in ends that a group does not record itself but other groups distinguish, with the latencies of the
    /// previous end. The sum over all groups then has every message.
    pub fn fill(&self, by_slot: &mut [HistogramSet]) {
        if self.ends == LatencyEnds::default() {
            return;
        }
        for (number, recorded) in self.recorded.iter().enumerate() {
            let group = self.publishers + number;
            let queues = self.queues.iter().enumerate().filter(|(_, (of, _))| *of == group);
            let queues = queues.map(|(at, _)| MAX_GROUPS + 1 + at);
            for slot in queues.chain([usize::from(group_slot(group))]) {
                if let Some(histograms) = by_slot.get_mut(slot) {
                    fill(histograms, self.ends, *recorded);
                }
            }
        }
    }

    fn add_queues(&mut self, scenario: &Scenario) {
        for (number, group) in scenario.consumers.iter().enumerate() {
            for queue in scenario.sources(group) {
                if self.queues.len() < MAX_QUEUES {
                    self.queues.push((self.publishers + number, queue));
                } else {
                    self.left_out += 1;
                }
            }
        }
    }

    /// Returns the slot of a group of consumers.
    pub fn consumers(&self, number: usize) -> u16 {
        group_slot(self.publishers + number)
    }

    /// Returns the slot of a group of callers.
    pub fn requests(&self, number: usize) -> u16 {
        group_slot(self.publishers + self.consumers + number)
    }

    /// Returns the slot of a queue as this group of consumers reads it.
    pub fn queue(&self, consumers: usize, queue: &str) -> u16 {
        let group = self.publishers + consumers;
        let known = self.queues.iter().position(|(of, name)| *of == group && name == queue);
        known.map_or_else(
            || group_slot(group),
            |index| u16::try_from(MAX_GROUPS + 1 + index).unwrap_or(0),
        )
    }
}

fn fill(histograms: &mut HistogramSet, ends: LatencyEnds, recorded: LatencyEnds) {
    let mut copy = |from: [Latency; 2], to: [Latency; 2]| {
        for (from, to) in from.into_iter().zip(to) {
            histograms[to as usize] = histograms[from as usize].clone();
        }
    };
    let delivered = [Latency::EndToEnd, Latency::EndToEndIntended];
    let processed = [Latency::Processed, Latency::ProcessedIntended];
    if ends.processed && !recorded.processed {
        copy(delivered, processed);
    }
    if ends.settled && !recorded.settled {
        let before = if ends.processed { processed } else { delivered };
        copy(before, [Latency::Settled, Latency::SettledIntended]);
    }
}

/// Returns the slot of a group of publishers.
pub fn publisher_slot(number: usize) -> u16 {
    group_slot(number)
}

/// Returns the slot of a group.
pub fn group_slot(group: usize) -> u16 {
    u16::try_from(group.min(MAX_GROUPS)).unwrap_or(0)
}
