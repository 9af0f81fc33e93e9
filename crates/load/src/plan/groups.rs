//! Connections of callers, of responders and of what comes and goes.

use rabbitscope_runs::scenario::{ChurnGroup, ChurnSubject, MemberQueues, Scenario};

use super::{LinkPlan, Members, link, spread};
use crate::{
    breakdown::Slots,
    message::Random,
    topology::{OwnedBinding, OwnedQueue},
};

/// A group of churn on one connection.
#[derive(Clone, Debug)]
pub(crate) struct ChurnMembers<'a> {
    pub(crate) group: &'a ChurnGroup,
    /// Number among the churn groups of the scenario.
    pub(crate) number: usize,
    /// Front of the names of this group in this run.
    prefix: String,
}

impl<'a> ChurnMembers<'a> {
    /// All groups that churn what lives on a connection.
    fn all(scenario: &'a Scenario, run: &str) -> impl Iterator<Item = Self> {
        let groups = scenario.churn.iter().enumerate();
        let on_links = groups.filter(|(_, group)| group.subject != ChurnSubject::Connections);
        on_links.map(move |(number, group)| {
            let prefix = format!("rabbitscope-churn-{run}-{number}");
            Self { group, number, prefix }
        })
    }

    /// A name that no other slot of this run has, nor any slot of another run.
    pub(crate) fn name_of(&self, slot: u32) -> String {
        format!("{}-{slot}", self.prefix)
    }
}

/// Of those who measure no latency of messages.
const NO_SLOT: u16 = 0;

/// Connections that every one of these groups needs.
pub(super) fn links<'a>(
    scenario: &'a Scenario,
    run: &str,
    slots: &Slots,
    links: &mut Vec<LinkPlan<'a>>,
) {
    for group in &scenario.responders {
        for (at, seats) in spread(group.count, group.connections, group.channels).enumerate() {
            let queues = scenario.queue_names(&group.queue);
            let members = Members::Responders { group, seats, queues };
            links.push(link(&group.name, at, NO_SLOT, members));
        }
    }
    for (number, group) in scenario.requests.iter().enumerate() {
        let random = Random::new(scenario.seed).fork(&group.name);
        for (at, seats) in spread(group.count, group.connections, group.channels).enumerate() {
            let queues = scenario.queue_names(&group.queue);
            let members = Members::Callers { group, random: random.clone(), seats, queues };
            links.push(link(&group.name, at, slots.requests(number), members));
        }
    }
    for churn in ChurnMembers::all(scenario, run) {
        let group = churn.group;
        let channels = group.concurrency.div_ceil(group.connections);
        for (at, seats) in spread(group.concurrency, group.connections, channels).enumerate() {
            let members = Members::Churn { churn: churn.clone(), seats };
            let mut plan = link(&group.name, at, NO_SLOT, members);
            if group.subject == ChurnSubject::Channels {
                plan.channels = 0;
            }
            links.push(plan);
        }
    }
}

/// Queues that churn of this run may leave behind if it is killed.
pub(crate) fn churned_queues(scenario: &Scenario, run: &str) -> Vec<OwnedQueue> {
    let mut owned = Vec::new();
    for churn in ChurnMembers::all(scenario, run) {
        let ChurnSubject::Queues(queue) = &churn.group.subject else { continue };
        let slots = if queue.exclusive { 0..0 } else { 0..churn.group.concurrency };
        owned.extend(slots.map(|slot| OwnedQueue {
            name: churn.name_of(slot),
            queue_type: queue.queue_type,
            durable: queue.durable,
            named_by_token: true,
        }));
    }
    owned
}

/// Bindings of queues that stay, which churn of this run may leave behind if it is killed.
pub(crate) fn churned_bindings(scenario: &Scenario, run: &str) -> Vec<OwnedBinding> {
    let mut owned = Vec::new();
    for churn in ChurnMembers::all(scenario, run) {
        let ChurnSubject::Bindings { queue: Some(queue), exchange, arguments } =
            &churn.group.subject
        else {
            continue;
        };
        owned.extend((0..churn.group.concurrency).map(|slot| OwnedBinding {
            queue: queue.clone(),
            exchange: exchange.clone(),
            routing_key: churn.name_of(slot),
            arguments: arguments.clone(),
        }));
    }
    owned
}

/// Numbers of those of `queues` that one of `count` members has.
pub(crate) fn queues_of(
    which: MemberQueues,
    member: u32,
    count: u32,
    queues: usize,
) -> impl Iterator<Item = usize> {
    let (member, count) = (member as usize, (count as usize).max(1));
    let turn = member % queues.max(1);
    match which {
        MemberQueues::All => (0..queues).step_by(1),
        MemberQueues::One => (turn..queues.min(turn + 1)).step_by(1),
        MemberQueues::Share if queues < count => (turn..queues).step_by(count),
        MemberQueues::Share => (member..queues).step_by(count),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    #[test]
    fn queues_are_shared_out() {
        fn check(which: MemberQueues, count: u32, queues: usize, expected: &[&[usize]]) {
            let of = |member| queues_of(which, member, count, queues).collect();
            let shares: Vec<Vec<_>> = (0..count).map(of).collect();
            assert_eq!(shares, expected);
        }
        check(MemberQueues::Share, 3, 1, &[&[0], &[0], &[0]]);
        check(MemberQueues::Share, 3, 2, &[&[0], &[1], &[0]]);
        check(MemberQueues::Share, 2, 5, &[&[0, 2, 4], &[1, 3]]);
        check(MemberQueues::Share, 2, 2, &[&[0], &[1]]);
        check(MemberQueues::One, 2, 5, &[&[0], &[1]]);
        check(MemberQueues::One, 3, 2, &[&[0], &[1], &[0]]);
        check(MemberQueues::All, 2, 3, &[&[0, 1, 2], &[0, 1, 2]]);
        check(MemberQueues::All, 1, 0, &[&[]]);
    }

    #[test]
    fn bindings_of_a_queue_that_stays_are_remembered_by_slot() {
        let text = r#"
            name = "c"
            run.duration = "1s"
            queues = [{ name = "q" }]
            churn = [
                { kind = "bindings", queue = "q", exchange = "amq.topic", concurrency = 2 },
                { kind = "bindings", exchange = "amq.topic", concurrency = 2 },
            ]
        "#;
        let scenario = scenario::parse(text, "test", &[]).unwrap();
        let owned = churned_bindings(&scenario, "run");
        let keys: Vec<_> = owned.iter().map(|it| (&*it.queue, &*it.routing_key)).collect();
        let expected = [("q", "rabbitscope-churn-run-0-0"), ("q", "rabbitscope-churn-run-0-1")];
        assert_eq!(keys, expected);
    }

    #[test]
    fn only_queues_that_outlive_their_connection_are_remembered() {
        let text = r#"
            name = "c"
            run.duration = "1s"
            churn = [
                { kind = "queues", concurrency = 2 },
                { name = "quorum", kind = "queues", type = "quorum", concurrency = 2 },
                { name = "channels", kind = "channels", concurrency = 3, connections = 2 },
                { name = "connections", kind = "connections" },
            ]
        "#;
        let scenario = scenario::parse(text, "test", &[]).unwrap();
        let queues = churned_queues(&scenario, "run");
        let names: Vec<_> = queues.iter().map(|queue| queue.name.as_str()).collect();
        assert_eq!(names, ["rabbitscope-churn-run-1-0", "rabbitscope-churn-run-1-1"]);
        let mut plans = Vec::new();
        links(&scenario, "run", &Slots::of(&scenario), &mut plans);
        let found: Vec<_> = plans.iter().map(|it| (it.name.as_str(), it.channels)).collect();
        let expected = [
            ("rabbitscope churn-0 0", 2),
            ("rabbitscope quorum 0", 2),
            ("rabbitscope channels 0", 0),
            ("rabbitscope channels 1", 0),
        ];
        assert_eq!(found, expected);
    }
}
