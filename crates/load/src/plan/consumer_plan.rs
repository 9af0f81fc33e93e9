//! The queues that a group of consumers reads.

use rabbitscope_runs::{
    Random,
    scenario::{ConsumerGroup, LatencyEnds, PublisherGroup, QueueSpec, Scenario, assigned_queues},
};
use rabbitscope_timing::Slots;
use rabbitscope_topology::QueueSet;
use rabbitscope_verify::QueueIndex;

use super::placement::Placement;

/// The queues that a group of consumers reads, with the numbers for its measurements.
#[derive(Debug)]
pub(crate) struct ConsumerPlan<'a> {
    pub(crate) group: &'a ConsumerGroup,
    pub(crate) queues: Vec<String>,
    /// Queues to which the group publishes; empty without them.
    pub(crate) forwarded: Vec<String>,
    /// Queues that the group's connections declare: exclusive queues, or queues that the broker names.
    own: Option<&'a QueueSpec>,
    /// Numbers of `queues` in [`QueueIndex`].
    pub(crate) queue_numbers: Vec<u32>,
    /// Slots of the latencies of `queues`.
    pub(crate) slots: Vec<u16>,
    /// Latencies that the group records separately from delivery.
    pub(crate) recorded: LatencyEnds,
    /// The random numbers of the group.
    random: Random,
    /// Number of the group's first consumer among all consumers of the scenario.
    pub(crate) first_consumer: u32,
    /// True if some messages have their stamp in a header.
    pub(crate) has_stamp_headers: bool,
    /// True if messages are unpacked.
    pub(crate) unpacks: bool,
}

impl<'a> ConsumerPlan<'a> {
    pub(super) fn new(
        group: &'a ConsumerGroup,
        first_consumer: u32,
        queue_index: &QueueIndex,
        (slots, number): (&Slots, usize),
        scenario: &'a Scenario,
    ) -> Self {
        let spec = scenario.queue_spec(&group.queue);
        let is_named_by_broker = spec.is_some_and(|spec| spec.server_named);
        let queues = if is_named_by_broker { vec![String::new()] } else { scenario.sources(group) };
        let queue_numbers =
            queues.iter().map(|name| queue_index.number(name).unwrap_or(u32::MAX)).collect();
        let queue_slots = queues.iter().map(|name| slots.queue(number, name)).collect();
        let own = spec.filter(|spec| spec.exclusive || is_named_by_broker);
        let publishers = &scenario.publishers;
        let target = group.forward.as_ref().and_then(|forward| forward.queue.as_deref());
        Self {
            group,
            queues,
            forwarded: target.map(|queue| scenario.queue_names(queue)).unwrap_or_default(),
            own,
            queue_numbers,
            slots: queue_slots,
            recorded: slots.recorded(number),
            random: Random::new(scenario.seed.number()).fork(&group.name),
            first_consumer,
            has_stamp_headers: publishers.iter().any(PublisherGroup::has_stamp_headers),
            unpacks: group.unpack && publishers.iter().any(PublisherGroup::is_packed),
        }
    }

    /// Returns the number under which a consumer's messages are checked. Single active consumers share a stream, and one
    /// number.
    pub(crate) fn observed_consumer(&self, placement: Placement) -> u32 {
        let member = if self.group.single_active_consumer { 0 } else { placement.member };
        self.first_consumer + member
    }

    /// Returns random numbers for consumers with these placements.
    pub(crate) fn random(&self, purpose: &str, placements: &[Placement]) -> Random {
        let first = placements.first().map_or(0, |placement| placement.member);
        self.random.fork(&format!("{purpose} {first}"))
    }

    /// Returns the indices of the queues that a consumer reads.
    pub(crate) fn queues_of(&self, placement: Placement) -> impl Iterator<Item = usize> {
        let group = self.group;
        assigned_queues(group.member_queues, placement.member, group.count, self.queues.len())
    }

    /// Returns whether each consumer has a separate queue, which the broker names.
    pub(crate) fn has_own_queues(&self) -> bool {
        self.own.is_some_and(|spec| spec.server_named)
    }

    /// Returns the queues that a connection has to declare on this channel for its members.
    pub(crate) fn declared_on(&self, channel: u16, placements: &[Placement]) -> Option<QueueSet> {
        let spec = self.own?;
        if self.has_own_queues() {
            let uses = placements.iter().any(|placement| placement.channel == channel);
            return uses.then(|| QueueSet::named_by_broker(spec));
        }
        let read = |name: &str| {
            let mut read = placements.iter().flat_map(|placement| self.queues_of(*placement));
            read.any(|queue| self.queues[queue] == name)
        };
        let first = placements.iter().map(|placement| placement.channel).min();
        (Some(channel) == first).then(|| QueueSet::select(spec, |_, name| read(name)))
    }
}
