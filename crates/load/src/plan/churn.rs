//! Churn on separate connections: its members, and the objects that it may leave on the broker.

use rabbitscope_runs::scenario::{ChurnGroup, ChurnKind, ChurnSubject, Scenario};
use rabbitscope_topology::{OwnedBinding, OwnedQueue, churn_prefix};

use crate::share::Share;

/// A group of churn on one connection.
#[derive(Clone, Debug)]
pub(crate) struct ChurnMembers<'a> {
    pub(crate) group: &'a ChurnGroup,
    /// Index among the churn groups of the scenario.
    pub(crate) number: usize,
    /// Prefix of the names of this group in this run.
    prefix: String,
}

impl<'a> ChurnMembers<'a> {
    /// All groups that churn channels, queues, bindings or consumers.
    pub(super) fn all(scenario: &'a Scenario, run: &str) -> impl Iterator<Item = Self> {
        let groups = scenario.churn.iter().enumerate();
        let on_links = groups.filter(|(_, group)| group.kind != ChurnKind::Connections);
        on_links.map(move |(number, group)| {
            let prefix = format!("{}{number}", churn_prefix(run));
            Self { group, number, prefix }
        })
    }

    /// Returns a name that no other slot of any run has.
    pub(crate) fn name_of(&self, slot: u32) -> String {
        format!("{}-{slot}", self.prefix)
    }
}

/// Queues that churn of this run may leave behind if it is killed.
pub(crate) fn churned_queues(scenario: &Scenario, run: &str) -> Vec<OwnedQueue> {
    let mut owned = Vec::new();
    for churn in ChurnMembers::all(scenario, run) {
        let ChurnSubject::Queues { queue_type, durable, exclusive, .. } = churn.group.subject()
        else {
            continue;
        };
        let slots = if exclusive { 0..0 } else { 0..churn.group.concurrency };
        owned.extend(slots.map(|slot| OwnedQueue {
            name: churn.name_of(slot),
            queue_type,
            durable,
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
            churn.group.subject()
        else {
            continue;
        };
        owned.extend((0..churn.group.concurrency).map(|slot| OwnedBinding {
            queue: queue.clone(),
            exchange: exchange.to_owned(),
            routing_key: churn.name_of(slot),
            arguments: arguments.clone(),
        }));
    }
    owned
}

/// Connections that churn may have at the same time in this share of a run.
pub(crate) fn churned_connections(scenario: &Scenario, share: Share) -> usize {
    let groups = scenario.churn.iter();
    let of_connections = groups.filter(|group| group.kind == ChurnKind::Connections);
    of_connections.map(|group| share.of_members(group.concurrency).count()).sum()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

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
        let keys: Vec<_> =
            owned.iter().map(|binding| (&*binding.queue, &*binding.routing_key)).collect();
        let expected = [("q", "rabbitscope-churn-run-0-0"), ("q", "rabbitscope-churn-run-0-1")];
        assert_eq!(keys, expected);
    }
}
