//! Check of the declarations that the log of a fleet claims. The log is on the bus, where others may write.

use rabbitscope_runs::scenario::Scenario;
use rabbitscope_topology::{OwnedQueue, OwnedTopology};

use super::churn::{churned_bindings, churned_queues};

/// Returns the first claimed object that no run of this scenario with this token declares; absent if there is none.
pub(crate) fn foreign_claim(claimed: &OwnedTopology, scenario: &Scenario) -> Option<String> {
    if !claimed.has_token() {
        return Some("a token that no run has".to_owned());
    }
    let churned = churned_queues(scenario, &claimed.token);
    let is_declared = |name: &str| {
        let mut specs = scenario.queues.iter().filter(|spec| !spec.keep && !spec.predeclared);
        specs.any(|spec| spec.queue_names().iter().any(|one| one == name))
    };
    let is_foreign = |queue: &OwnedQueue| {
        if queue.named_by_token { !churned.contains(queue) } else { !is_declared(&queue.name) }
    };
    let queue = claimed.queues.iter().find(|queue| is_foreign(queue));
    let exchange = claimed.exchanges.iter().find(|one| {
        let mut specs = scenario.exchanges.iter().filter(|spec| !spec.keep && !spec.predeclared);
        !specs.any(|spec| spec.name == one.name)
    });
    let bound = churned_bindings(scenario, &claimed.token);
    let binding = claimed.bindings.iter().find(|binding| !bound.contains(binding));
    queue
        .map(|queue| format!("queue `{}`", queue.name))
        .or_else(|| exchange.map(|exchange| format!("exchange `{}`", exchange.name)))
        .or_else(|| binding.map(|binding| format!("binding of queue `{}`", binding.queue)))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;
    use rabbitscope_topology::{OwnedBinding, OwnedExchange};

    use super::*;

    const TEXT: &str = r#"
        name = "c"
        run.duration = "1s"
        exchanges = [{ name = "e", type = "topic" }, { name = "kept", keep = true }]
        queues = [{ name = "q-{}", to = 3 }, { name = "kept", keep = true }, { name = "there", predeclared = true }]
        churn = [
            { kind = "queues", concurrency = 2 },
            { name = "b", kind = "bindings", queue = "q-1", exchange = "e", concurrency = 2 },
        ]
    "#;

    const TOKEN: &str = "0123456789abcdef0123456789abcdef";

    fn queue(name: &str, named_by_token: bool) -> OwnedQueue {
        let queue_type = scenario::QueueType::Classic;
        OwnedQueue { name: name.to_owned(), queue_type, durable: false, named_by_token }
    }

    /// The declarations of a run of the scenario.
    fn honest() -> (Scenario, OwnedTopology) {
        let scenario = scenario::parse(TEXT, "test", &[]).unwrap();
        let mut queues = churned_queues(&scenario, TOKEN);
        queues.extend([queue("q-1", false), queue("q-3", false)]);
        let declared = OwnedTopology {
            token: TOKEN.to_owned(),
            queues,
            exchanges: vec![OwnedExchange { name: "e".to_owned(), durable: true }],
            bindings: churned_bindings(&scenario, TOKEN),
            bound: Vec::new(),
        };
        (scenario, declared)
    }

    #[track_caller]
    fn check(change: impl Fn(&mut OwnedTopology), expected: Option<&str>) {
        let (scenario, mut claimed) = honest();
        change(&mut claimed);
        assert_eq!(foreign_claim(&claimed, &scenario).as_deref(), expected);
    }

    #[test]
    fn only_what_the_scenario_declares_can_be_claimed() {
        check(|_| {}, None);
        for name in ["orders", "kept", "there", "q-4"] {
            let said = format!("queue `{name}`");
            check(|claimed| claimed.queues.push(queue(name, false)), Some(&said));
            check(|claimed| claimed.queues.push(queue(name, true)), Some(&said));
        }
        check(|claimed| claimed.queues.push(queue("q-1", true)), Some("queue `q-1`"));
        let kept = |claimed: &mut OwnedTopology| "kept".clone_into(&mut claimed.exchanges[0].name);
        check(kept, Some("exchange `kept`"));
        let other = |binding: &mut OwnedBinding| "orders".clone_into(&mut binding.routing_key);
        check(|claimed| other(&mut claimed.bindings[0]), Some("binding of queue `q-1`"));
    }

    /// The token is a part of the names of files and markers.
    #[test]
    fn a_token_is_32_hexadecimal_digits() {
        for token in ["", "../../x", "0123456789ABCDEF0123456789ABCDEF", &"a".repeat(33)] {
            check(|claimed| token.clone_into(&mut claimed.token), Some("a token that no run has"));
        }
    }
}
