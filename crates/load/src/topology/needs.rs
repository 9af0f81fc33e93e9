//! What a scenario needs on the broker, and what of it is there.

use std::collections::BTreeSet;

use rabbitscope_runs::scenario::{ExchangeSpec, QueueSpec, Scenario};

use super::Topology;
use crate::LoadError;

/// Exchanges and queues to declare.
#[derive(Clone, Debug, Default)]
pub(crate) struct Declarations {
    pub(crate) exchanges: Vec<ExchangeSpec>,
    pub(crate) queues: Vec<QueueSet>,
}

/// Queues that differ by name only.
#[derive(Clone, Debug)]
pub(crate) struct QueueSet {
    pub(crate) spec: QueueSpec,
    pub(crate) names: Vec<String>,
    /// Routing keys of each binding of `spec`, in the order of `names`.
    pub(crate) keys: Vec<Vec<String>>,
}

impl QueueSet {
    /// Those queues of `spec` whose name is wanted.
    pub(crate) fn of(spec: &QueueSpec, wanted: impl Fn(usize, &str) -> bool) -> Self {
        let names = spec.queue_names();
        let is_wanted: Vec<_> =
            names.iter().enumerate().map(|(at, name)| wanted(at, name)).collect();
        let select = |all: Vec<String>| -> Vec<String> {
            let pairs = all.into_iter().zip(&is_wanted);
            pairs.filter(|(_, wanted)| **wanted).map(|(one, _)| one).collect()
        };
        let keys = spec.bindings.iter().map(|binding| select(spec.binding_keys(binding)));
        Self { keys: keys.collect(), names: select(names), spec: spec.clone() }
    }

    /// One queue that the broker names. Later requests on the same channel call it by an empty name,
    /// which stands for the last queue that was declared there (AMQP 0-9-1, rule `default-queue`).
    pub(crate) fn named_by_broker(spec: &QueueSpec) -> Self {
        let keys = spec.bindings.iter().map(|binding| spec.binding_keys(binding));
        Self { keys: keys.collect(), names: vec![String::new()], spec: spec.clone() }
    }
}

/// Everything that a scenario needs on the broker.
#[derive(Debug, Default)]
pub(crate) struct Needs {
    /// To be created.
    pub(crate) missing: Declarations,
    /// There already, to be checked.
    pub(crate) present: Declarations,
    /// Queues that are there already and get bindings.
    pub(crate) to_bind: Declarations,
}

/// Looks up every queue and exchange that the scenario names.
pub(crate) fn look_up(scenario: &Scenario, topology: &mut Topology) -> Result<Needs, LoadError> {
    let mut needs = Needs::default();
    exchanges(scenario, topology, &mut needs)?;
    for spec in &scenario.queues {
        let names = spec.queue_names();
        let there = topology.has_queues(&names)?;
        if spec.predeclared {
            if let Some(at) = there.iter().position(|there| !there) {
                return Err(LoadError::QueueMissing { queue: names[at].clone() });
            }
            continue;
        }
        let existing = QueueSet::of(spec, |at, _| spec.bind_existing && there[at]);
        needs.to_bind.queues.extend(Some(existing).filter(|set| !set.names.is_empty()));
        let present = QueueSet::of(spec, |at, _| there[at]);
        let missing = QueueSet::of(spec, |at, _| !there[at]);
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
        Some((queue, _)) => Err(LoadError::QueueMissing { queue }),
        None => Ok(needs),
    }
}

/// Queues that groups refer to.
fn references(scenario: &Scenario) -> BTreeSet<&str> {
    let to_queues = scenario.publishers.iter().filter(|group| group.exchange.is_empty());
    let published = to_queues.map(|group| group.routing_key.as_str());
    let consumed = scenario.consumers.iter().map(|group| group.queue.as_str());
    published.chain(consumed).chain(of_groups(scenario)).collect()
}

/// Queues of callers, responders and churn.
fn of_groups(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let requests = scenario.requests.iter().map(|group| group.queue.as_str());
    let responders = scenario.responders.iter().map(|group| group.queue.as_str());
    let churn = scenario.churn.iter().filter_map(|group| group.subject.queue());
    requests.chain(responders).chain(churn)
}

fn exchanges(
    scenario: &Scenario,
    topology: &mut Topology,
    needs: &mut Needs,
) -> Result<(), LoadError> {
    let names: Vec<_> = scenario.exchanges.iter().map(|spec| spec.name.clone()).collect();
    let there = topology.has_exchanges(&names)?;
    for (spec, there) in scenario.exchanges.iter().zip(there) {
        match (there, spec.predeclared) {
            (true, true) => {}
            (false, true) => {
                return Err(LoadError::ExchangeMissing { exchange: spec.name.clone() });
            }
            (true, false) if spec.if_missing => {}
            (true, false) => needs.present.exchanges.push(spec.clone()),
            (false, false) => needs.missing.exchanges.push(spec.clone()),
        }
    }
    let used: BTreeSet<_> = scenario
        .publishers
        .iter()
        .map(|group| &group.exchange)
        .filter(|name| !name.is_empty() && !names.contains(name))
        .cloned()
        .collect();
    let used = Vec::from_iter(used);
    let there = topology.has_exchanges(&used)?;
    match used.into_iter().zip(there).find(|(_, there)| !there) {
        Some((exchange, _)) => Err(LoadError::ExchangeMissing { exchange }),
        None => Ok(()),
    }
}
