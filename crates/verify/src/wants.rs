//! The consumers that get a publisher's messages: those without a filter, and those whose filter lets them through.

use rabbitscope_runs::scenario::Scenario;

use super::queue_index::QueueIndex;

/// The messages that each consumer wants.
#[derive(Debug)]
pub(super) struct Wants {
    /// Groups of the publishers, and of the consumers, by their numbers.
    publishers: Vec<usize>,
    consumers: Vec<usize>,
    /// By group of publishers: true for each group of consumers that wants its messages.
    wanted: Vec<Vec<bool>>,
    /// Groups of consumers, by the queue that they read.
    readers: Vec<Vec<usize>>,
}

impl Wants {
    pub(super) fn from_scenario(scenario: &Scenario, queues: &QueueIndex) -> Self {
        let mut readers = vec![Vec::new(); queues.names().len()];
        for (group, consumers) in scenario.consumers.iter().enumerate() {
            let numbers = scenario.sources(consumers);
            for queue in numbers.iter().filter_map(|name| queues.number(name)) {
                readers[queue as usize].push(group);
            }
        }
        let wanted = scenario.publishers.iter().map(|publishers| {
            // A check of the scenario refuses filters whose effect is unknown.
            let wants = scenario.consumers.iter().map(|group| group.wants(publishers));
            wants.map(|wants| wants.unwrap_or(true)).collect()
        });
        Self {
            publishers: members(scenario.publishers.iter().map(|group| group.count)),
            consumers: members(scenario.consumers.iter().map(|group| group.count)),
            wanted: wanted.collect(),
            readers,
        }
    }

    /// Returns whether a consumer gets the messages of a publisher.
    pub(super) fn by_consumer(&self, publisher: usize, consumer: u32) -> bool {
        let group = self.consumers.get(consumer as usize);
        group.is_none_or(|group| self.by_group(publisher, *group))
    }

    /// Returns whether a consumer of one of these queues gets the messages of a publisher, or nobody reads them.
    pub(super) fn by_any(&self, publisher: usize, queues: impl Iterator<Item = u32>) -> bool {
        let mut groups = queues.flat_map(|queue| &self.readers[queue as usize]).peekable();
        groups.peek().is_none() || groups.any(|group| self.by_group(publisher, *group))
    }

    fn by_group(&self, publisher: usize, group: usize) -> bool {
        self.publishers.get(publisher).is_none_or(|publishers| self.wanted[*publishers][group])
    }
}

/// Returns the group of each member.
fn members(counts: impl Iterator<Item = u32>) -> Vec<usize> {
    let groups = counts.enumerate();
    groups.flat_map(|(group, count)| (0..count).map(move |_| group)).collect()
}
