//! The plan of all connections of a scenario and their members.

use std::{collections::BTreeMap, sync::Arc};

use rabbitscope_runs::{
    Random,
    scenario::{ChurnKind, GroupLayout, Scenario},
};
use rabbitscope_timing::{Slots, publisher_slot};
use rabbitscope_verify::QueueIndex;

use super::{
    churn::ChurnMembers,
    consumer_plan::ConsumerPlan,
    link_plan::{Guest, LinkPlan, Members, link_plan},
    placement::{Placement, spread},
};
use crate::{
    error::LoadError,
    message::{BodyFiles, Messages},
    share::Share,
};

/// Returns the connections of a share of a scenario, except those that churn opens. `run` is the token of the run, for
/// names. Reads the files that publishers send, if `files` allows it.
pub(crate) fn plan_links<'a>(
    scenario: &'a Scenario,
    run: &str,
    share: Share,
    files: &BodyFiles<'_>,
) -> Result<Vec<LinkPlan<'a>>, LoadError> {
    let mut links = Links::default();
    let (queue_index, slots, mut first) =
        (QueueIndex::from_scenario(scenario), Slots::from_scenario(scenario), 0);
    let layout = scenario.layout();
    let (of_consumers, of_publishers) = layout.split_at(scenario.consumers.len());
    for (number, (group, layout)) in scenario.consumers.iter().zip(of_consumers).enumerate() {
        let plan = ConsumerPlan::new(group, first, &queue_index, (&slots, number), scenario);
        let plan = Arc::new(plan);
        first += group.count;
        for (at, placements) in spread(group.count, group.connections, group.channels).enumerate() {
            let members = Members::Consumers { plan: Arc::clone(&plan), placements };
            let members = (slots.consumers(number), members);
            links.add(layout, at, members);
        }
    }
    first = 0;
    for (position, (group, layout)) in scenario.publishers.iter().zip(of_publishers).enumerate() {
        let messages = Arc::new(Messages::new(group, scenario, files)?);
        for (at, placements) in spread(group.count, group.connections, group.channels).enumerate() {
            let number =
                |placement: Placement| Placement { number: first + placement.member, ..placement };
            let placements = placements.into_iter().map(number).collect();
            let members =
                Members::Publishers { group, messages: Arc::clone(&messages), placements };
            let members = (publisher_slot(position), members);
            links.add(layout, at, members);
        }
        first += group.count;
    }
    let mut links = links.joined();
    other_links(scenario, run, &slots, &mut links);
    for (number, link) in links.iter_mut().enumerate() {
        link.number = number;
        run.clone_into(&mut link.run);
    }
    links.retain(|link| share.has(link.number));
    Ok(links)
}

/// Connections of publishers and consumers, and members that use those of another group.
#[derive(Default)]
struct Links<'a> {
    all: Vec<LinkPlan<'a>>,
    /// The connection of each name of a group and position within it.
    by_group: BTreeMap<(&'a str, usize), usize>,
    /// Members of each guest, with the name of the host and the position of the connection.
    guests: Vec<(&'a str, usize, Guest<'a>)>,
}

impl<'a> Links<'a> {
    /// Adds the members of a group at one position: their connection, or their place on that of the host.
    fn add(&mut self, group: &GroupLayout<'a>, at: usize, (slot, members): (u16, Members<'a>)) {
        if group.connections > 0 {
            self.by_group.insert((group.name, at), self.all.len());
            self.all.push(link_plan(group.name, at, slot, members));
        } else {
            let first = u16::try_from(*group.channels.start()).unwrap_or(u16::MAX);
            self.guests.push((group.host, at, Guest::new(slot, members, first)));
        }
    }

    /// Returns the connections with all their members.
    fn joined(mut self) -> Vec<LinkPlan<'a>> {
        for (host, at, guest) in self.guests {
            if let Some(link) = self.by_group.get(&(host, at)) {
                self.all[*link].guests.push(guest);
            }
        }
        self.all
    }
}

/// Returns the number of connections of a scenario, including those that churn opens.
pub fn planned_connections(scenario: &Scenario) -> usize {
    let of_churn = scenario.churn.iter().map(|group| match group.kind {
        ChurnKind::Connections => group.concurrency,
        _ => group.connections.unwrap_or(1),
    });
    let layout = scenario.layout();
    let groups = (layout.iter().map(|group| group.connections))
        .chain(scenario.requests.iter().map(|group| group.connections))
        .chain(scenario.responders.iter().map(|group| group.connections));
    groups.chain(of_churn).map(|connections| connections as usize).sum()
}

/// Slot of groups that measure no latency of messages.
const NO_SLOT: u16 = 0;

/// Adds the connections of responders, callers and churn.
fn other_links<'a>(
    scenario: &'a Scenario,
    run: &str,
    slots: &Slots,
    links: &mut Vec<LinkPlan<'a>>,
) {
    for group in &scenario.responders {
        for (at, placements) in spread(group.count, group.connections, group.channels).enumerate() {
            let queues = scenario.queue_names(&group.queue);
            let members = Members::Responders { group, placements, queues };
            links.push(link_plan(&group.name, at, NO_SLOT, members));
        }
    }
    for (number, group) in scenario.requests.iter().enumerate() {
        let random = Random::new(scenario.seed.number()).fork(&group.name);
        for (at, placements) in spread(group.count, group.connections, group.channels).enumerate() {
            let queues = scenario.queue_names(&group.queue);
            let members = Members::Callers { group, random: random.clone(), placements, queues };
            links.push(link_plan(&group.name, at, slots.requests(number), members));
        }
    }
    for churn in ChurnMembers::all(scenario, run) {
        let group = churn.group;
        let connections = group.connections.unwrap_or(1);
        let channels = group.concurrency.div_ceil(connections);
        for (at, placements) in spread(group.concurrency, connections, channels).enumerate() {
            let members = Members::Churn { churn: churn.clone(), placements };
            let mut plan = link_plan(&group.name, at, NO_SLOT, members);
            if group.kind == ChurnKind::Channels {
                plan.channels = 0;
            }
            links.push(plan);
        }
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;
    use crate::plan::churn::churned_queues;

    #[test]
    fn a_number_shows_the_group_of_its_connection() {
        let text = r#"
            name = "c"
            run.duration = "1s"
            queues = [{ name = "q" }]
            publishers = [
                { name = "p", queue = "q", count = 3, connections = 2 },
                { name = "m", protocol = "mqtt", topic = "a", count = 3 },
            ]
            consumers = [
                { name = "a", queue = "q", count = 2 },
                { name = "b", protocol = "mqtt", topics = ["x"], count = 2 },
            ]
            requests = [{ name = "r", queue = "q" }]
        "#;
        let scenario = scenario::parse(text, "test", &[]).unwrap();
        let groups = scenario.groups_by_connection();
        assert_eq!(groups, ["a", "b", "b", "p", "p", "m", "m", "m"]);
        let links = plan_links(&scenario, "run", Share::WHOLE, &BodyFiles::anywhere()).unwrap();
        for (number, group) in groups.iter().enumerate() {
            let start = format!("rabbitscope {group} ");
            assert!(links[number].number == number && links[number].name.starts_with(&start));
        }
    }

    #[test]
    fn guests_use_the_connections_of_their_host_on_other_channels() {
        let text = r#"
            name = "c"
            run.duration = "1s"
            queues = [{ name = "q" }]
            publishers = [{ name = "p", queue = "q", count = 5, connections = 2 }]
            consumers = [
                { name = "a", queue = "q", count = 3, connections-of = "p" },
                { name = "b", queue = "q", connections-of = "p" },
                { name = "c", queue = "q" },
            ]
        "#;
        let scenario = scenario::parse(text, "test", &[]).unwrap();
        let links = plan_links(&scenario, "run", Share::WHOLE, &BodyFiles::anywhere()).unwrap();
        assert_eq!((links.len(), planned_connections(&scenario)), (3, 3));
        let names: Vec<_> = links.iter().map(|link| link.name.as_str()).collect();
        assert_eq!(names, ["rabbitscope c 0", "rabbitscope p 0", "rabbitscope p 1"]);
        let ranges = |link: &LinkPlan<'_>| -> Vec<_> {
            let guests = link.guests.iter().map(|guest| &guest.members);
            let all = std::iter::once(&link.members).chain(guests);
            all.map(Members::channel_range).collect()
        };
        assert_eq!(ranges(&links[1]), [1..=3, 4..=5, 6..=6]);
        // The host has three channels, of which this connection needs two.
        assert_eq!(ranges(&links[2]), [1..=2, 4..=4]);
        assert_eq!(scenario.groups_by_connection().len(), links.len());
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
        other_links(&scenario, "run", &Slots::from_scenario(&scenario), &mut plans);
        let found: Vec<_> = plans.iter().map(|plan| (plan.name.as_str(), plan.channels)).collect();
        let expected = [
            ("rabbitscope churn-0 0", 2),
            ("rabbitscope quorum 0", 2),
            ("rabbitscope channels 0", 0),
            ("rabbitscope channels 1", 0),
        ];
        assert_eq!(found, expected);
    }
}
