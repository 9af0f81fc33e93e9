//! The look-up of a scenario's exchanges and queues on the broker.

use std::collections::BTreeSet;

use rabbitscope_runs::scenario::{PublisherGroup, Scenario};

use super::{
    connection::Topology,
    declarations::{Needs, QueueSet},
};
use crate::error::TopologyError;

/// Looks up every queue and exchange that the scenario names.
pub fn look_up(scenario: &Scenario, topology: &mut Topology) -> Result<Needs, TopologyError> {
    let mut needs = Needs::default();
    exchanges(scenario, topology, &mut needs)?;
    for spec in &scenario.queues {
        let names = spec.queue_names();
        let there = topology.has_queues(&names)?;
        if spec.predeclared {
            if let Some(at) = there.iter().position(|there| !there) {
                return Err(TopologyError::QueueMissing { queue: names[at].clone() });
            }
            continue;
        }
        let existing =
            QueueSet::select(spec, |index, _| spec.bind_existing == Some(true) && there[index]);
        needs.to_bind.queues.extend(Some(existing).filter(|set| !set.names.is_empty()));
        let present = QueueSet::select(spec, |index, _| there[index]);
        let missing = QueueSet::select(spec, |index, _| !there[index]);
        let is_checked = |set: &QueueSet| !set.names.is_empty() && !spec.if_missing;
        needs.present.queues.extend(Some(present).filter(is_checked));
        needs.missing.queues.extend(Some(missing).filter(|set| !set.names.is_empty()));
    }
    let undeclared: Vec<_> = references(scenario)
        .into_iter()
        .filter(|name| scenario.queue_spec(name).is_none())
        .map(str::to_owned)
        .collect();
    let there = topology.has_queues(&undeclared)?;
    match undeclared.into_iter().zip(there).find(|(_, there)| !there) {
        Some((queue, _)) => Err(TopologyError::QueueMissing { queue }),
        None => Ok(needs),
    }
}

/// Queues that groups refer to.
fn references(scenario: &Scenario) -> BTreeSet<&str> {
    let to_queues = scenario.publishers.iter().filter(|group| group.exchange().is_empty());
    let published = to_queues.map(PublisherGroup::routing_key);
    let readers = scenario.consumers.iter().filter(|group| group.topics.is_empty());
    let consumed = readers.map(|group| group.queue.as_str());
    published.chain(consumed).chain(of_groups(scenario)).collect()
}

/// Queues of callers, responders and churn, and those to which consumers publish.
fn of_groups(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let forwards = scenario.consumers.iter().filter_map(|group| group.forward.as_ref());
    let forwarded = forwards.filter_map(|forward| forward.queue.as_deref());
    let requests = scenario.requests.iter().map(|group| group.queue.as_str());
    let responders = scenario.responders.iter().map(|group| group.queue.as_str());
    let churn = scenario.churn.iter().filter_map(|group| group.queue.as_deref());
    forwarded.chain(requests).chain(responders).chain(churn)
}

fn exchanges(
    scenario: &Scenario,
    topology: &mut Topology,
    needs: &mut Needs,
) -> Result<(), TopologyError> {
    let names: Vec<_> = scenario.exchanges.iter().map(|spec| spec.name.clone()).collect();
    let there = topology.has_exchanges(&names)?;
    for (spec, there) in scenario.exchanges.iter().zip(there) {
        match (there, spec.predeclared) {
            (true, true) => {}
            (false, true) => {
                return Err(TopologyError::ExchangeMissing { exchange: spec.name.clone() });
            }
            (true, false) if spec.if_missing => {}
            (true, false) => needs.present.exchanges.push(spec.clone()),
            (false, false) => needs.missing.exchanges.push(spec.clone()),
        }
    }
    let published = scenario.publishers.iter().filter_map(|group| group.exchange.as_ref());
    let forwards = scenario.consumers.iter().filter_map(|group| group.forward.as_ref());
    let used: BTreeSet<_> = published
        .chain(forwards.filter_map(|forward| forward.exchange.as_ref()))
        .filter(|name| !names.contains(name))
        .cloned()
        .collect();
    let used = Vec::from_iter(used);
    let there = topology.has_exchanges(&used)?;
    match used.into_iter().zip(there).find(|(_, there)| !there) {
        Some((exchange, _)) => Err(TopologyError::ExchangeMissing { exchange }),
        None => Ok(()),
    }
}
