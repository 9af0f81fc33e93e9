//! The plan of all connections of a scenario and their members.

use std::sync::Arc;

use rabbitscope_runs::{
    Random,
    scenario::{ChurnKind, Scenario},
};
use rabbitscope_timing::{Slots, publisher_slot};
use rabbitscope_verify::QueueIndex;

use super::{
    churn::ChurnMembers,
    consumer_plan::ConsumerPlan,
    link_plan::{LinkPlan, Members, link_plan},
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
    let mut links = Vec::new();
    let (queue_index, slots, mut first) =
        (QueueIndex::from_scenario(scenario), Slots::from_scenario(scenario), 0);
    for (number, group) in scenario.consumers.iter().enumerate() {
        let plan = ConsumerPlan::new(group, first, &queue_index, (&slots, number), scenario);
        let plan = Arc::new(plan);
        first += group.count;
        for (at, placements) in spread(group.count, group.connections, group.channels).enumerate() {
            let members = Members::Consumers { plan: Arc::clone(&plan), placements };
            links.push(link_plan(&group.name, at, slots.consumers(number), members));
        }
    }
    first = 0;
    for (position, group) in scenario.publishers.iter().enumerate() {
        let messages = Arc::new(Messages::new(group, scenario, files)?);
        for (at, placements) in spread(group.count, group.connections, group.channels).enumerate() {
            let number =
                |placement: Placement| Placement { number: first + placement.member, ..placement };
            let placements = placements.into_iter().map(number).collect();
            let members =
                Members::Publishers { group, messages: Arc::clone(&messages), placements };
            links.push(link_plan(&group.name, at, publisher_slot(position), members));
        }
        first += group.count;
    }
    other_links(scenario, run, &slots, &mut links);
    for (number, link) in links.iter_mut().enumerate() {
        link.number = number;
        run.clone_into(&mut link.run);
    }
    links.retain(|link| share.has(link.number));
    Ok(links)
}

/// Returns the number of connections of a scenario, including those that churn opens.
pub fn planned_connections(scenario: &Scenario) -> usize {
    let of_churn = scenario.churn.iter().map(|group| match group.kind {
        ChurnKind::Connections => group.concurrency,
        _ => group.connections.unwrap_or(1),
    });
    let groups = (scenario.publishers.iter().map(|group| group.connections))
        .chain(scenario.consumers.iter().map(|group| group.connections))
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
