//! Who sits where: a scenario's groups spread over connections and channels.

mod groups;

use std::sync::Arc;

use rabbitscope_runs::scenario::{
    ConsumerGroup, PublisherGroup, QueueNames, QueueSpec, RequestGroup, ResponderGroup, Scenario,
};

pub(crate) use groups::{ChurnMembers, churned_bindings, churned_queues, queues_of};

use crate::{
    LoadError,
    breakdown::{Slots, publishers},
    message::{Messages, Random},
    topology::QueueSet,
    verify::Places,
};

/// One connection and who uses it.
#[derive(Clone, Debug)]
pub(crate) struct LinkPlan<'a> {
    /// Shown by the broker's management.
    pub(crate) name: String,
    /// Channels to open, numbered from 1.
    pub(crate) channels: u16,
    /// Where what its members measure is added up.
    pub(crate) slot: u16,
    pub(crate) members: Members<'a>,
}

/// Those who use a connection.
#[derive(Clone, Debug)]
pub(crate) enum Members<'a> {
    Publishers { group: &'a PublisherGroup, messages: Arc<Messages<'a>>, seats: Vec<Seat> },
    Consumers { reading: Arc<Reading<'a>>, seats: Vec<Seat> },
    Callers { group: &'a RequestGroup, random: Random, seats: Vec<Seat>, queues: Vec<String> },
    Responders { group: &'a ResponderGroup, seats: Vec<Seat>, queues: Vec<String> },
    Churn { churn: ChurnMembers<'a>, seats: Vec<Seat> },
}

impl Members<'_> {
    fn seats(&self) -> &[Seat] {
        match self {
            Self::Publishers { seats, .. }
            | Self::Consumers { seats, .. }
            | Self::Callers { seats, .. }
            | Self::Responders { seats, .. }
            | Self::Churn { seats, .. } => seats,
        }
    }
}

/// What a group of consumers reads.
#[derive(Debug)]
pub(crate) struct Reading<'a> {
    pub(crate) group: &'a ConsumerGroup,
    pub(crate) queues: Vec<String>,
    /// Queues that the group's connections declare: those that belong to them, or that the broker names.
    own: Option<&'a QueueSpec>,
    /// Their numbers, for the check of deliveries.
    pub(crate) places: Vec<u32>,
    /// Where latencies of what was read from them are added up.
    pub(crate) slots: Vec<u16>,
    /// Number of the group's first consumer among all of the scenario.
    pub(crate) first_consumer: u32,
    /// Some messages have their stamp in a header.
    pub(crate) has_stamp_headers: bool,
}

impl<'a> Reading<'a> {
    fn of(
        group: &'a ConsumerGroup,
        first_consumer: u32,
        places: &Places,
        slot: impl Fn(&str) -> u16,
        scenario: &'a Scenario,
    ) -> Self {
        let spec = scenario.queue_spec(&group.queue);
        let is_named_by_broker = spec.is_some_and(|spec| spec.names == QueueNames::ByBroker);
        let queues = if is_named_by_broker {
            vec![String::new()]
        } else {
            scenario.queue_names(&group.queue)
        };
        let places = queues.iter().map(|name| places.number(name).unwrap_or(u32::MAX)).collect();
        let slots = queues.iter().map(|name| slot(name)).collect();
        let own = spec.filter(|spec| spec.exclusive || is_named_by_broker);
        let mut bodies = scenario.publishers.iter().map(|group| &group.body);
        let has_stamp_headers = bodies.any(rabbitscope_runs::scenario::Body::is_kept_intact);
        Self { group, queues, own, places, slots, first_consumer, has_stamp_headers }
    }

    /// Numbers of the queues that a consumer reads.
    pub(crate) fn queues_of(&self, seat: Seat) -> impl Iterator<Item = usize> {
        let group = self.group;
        queues_of(group.member_queues, seat.member, group.count, self.queues.len())
    }

    /// Each consumer has a queue of its own, which the broker names.
    pub(crate) fn has_own_queues(&self) -> bool {
        self.own.is_some_and(|spec| spec.names == QueueNames::ByBroker)
    }

    /// What a connection has to declare on this channel for those who use it.
    pub(crate) fn declared_on(&self, channel: u16, seats: &[Seat]) -> Option<QueueSet> {
        let spec = self.own?;
        if self.has_own_queues() {
            let uses = seats.iter().any(|seat| seat.channel == channel);
            return uses.then(|| QueueSet::named_by_broker(spec));
        }
        let read = |name: &str| {
            let mut read = seats.iter().flat_map(|seat| self.queues_of(*seat));
            read.any(|queue| self.queues[queue] == name)
        };
        (channel == 1).then(|| QueueSet::of(spec, |_, name| read(name)))
    }
}

/// Place of one publisher or consumer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Seat {
    /// Number within the group, from 0.
    pub(crate) member: u32,
    /// Of publishers, the number among all of the scenario, from 0.
    pub(crate) number: u32,
    /// Channel number, from 1.
    pub(crate) channel: u16,
}

/// All connections of a scenario, but for those that come and go. `run` tells this run from others
/// in names. Files that publishers send are read now.
pub(crate) fn links<'a>(scenario: &'a Scenario, run: &str) -> Result<Vec<LinkPlan<'a>>, LoadError> {
    let mut links = Vec::new();
    let (places, slots, mut first) = (Places::of(scenario), Slots::of(scenario), 0);
    for (number, group) in scenario.consumers.iter().enumerate() {
        let slot_of = |queue: &str| slots.queue(number, queue);
        let reading = Arc::new(Reading::of(group, first, &places, slot_of, scenario));
        first += group.count;
        for (at, seats) in spread(group.count, group.connections, group.channels).enumerate() {
            let members = Members::Consumers { reading: Arc::clone(&reading), seats };
            links.push(link(&group.name, at, slots.consumers(number), members));
        }
    }
    first = 0;
    for (position, group) in scenario.publishers.iter().enumerate() {
        let messages = Arc::new(Messages::of(group, scenario)?);
        for (at, seats) in spread(group.count, group.connections, group.channels).enumerate() {
            let number = |seat: Seat| Seat { number: first + seat.member, ..seat };
            let seats = seats.into_iter().map(number).collect();
            let members = Members::Publishers { group, messages: Arc::clone(&messages), seats };
            links.push(link(&group.name, at, publishers(position), members));
        }
        first += group.count;
    }
    groups::links(scenario, run, &slots, &mut links);
    Ok(links)
}

fn link<'a>(group: &str, at: usize, slot: u16, members: Members<'a>) -> LinkPlan<'a> {
    let channels = members.seats().iter().map(|seat| seat.channel).max().unwrap_or(1);
    LinkPlan { name: format!("rabbitscope {group} {at}"), channels, slot, members }
}

/// Members in turn over connections, and within each over its channels.
fn spread(count: u32, connections: u32, channels: u32) -> impl Iterator<Item = Vec<Seat>> {
    (0..connections).map(move |connection| {
        let members = (connection..count).step_by(connections.max(1) as usize);
        let seats = members.zip(0_u32..).map(|(member, position)| {
            let channel = 1 + u16::try_from(position % channels.max(1)).unwrap_or(0);
            Seat { member, number: member, channel }
        });
        seats.collect()
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn members_are_spread_in_turn() {
        fn check(count: u32, connections: u32, channels: u32, expected: &[&[(u32, u16)]]) {
            let seats: Vec<Vec<_>> = spread(count, connections, channels)
                .map(|seats| seats.iter().map(|seat| (seat.member, seat.channel)).collect())
                .collect();
            assert_eq!(seats, expected);
        }
        check(1, 1, 1, &[&[(0, 1)]]);
        check(5, 2, 2, &[&[(0, 1), (2, 2), (4, 1)], &[(1, 1), (3, 2)]]);
        check(3, 1, 3, &[&[(0, 1), (1, 2), (2, 3)]]);
    }
}
