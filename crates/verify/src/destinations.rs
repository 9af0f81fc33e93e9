//! The queues to which each publisher's messages are routed, as far as the scenario determines them.

use std::collections::HashMap;

use rabbitscope_runs::scenario::{
    Binding, ConsumerGroup, PublisherGroup, RoutingKeys, Scenario, assigned_queues,
};

use super::queue_index::QueueIndex;

/// The exchange of MQTT.
const MQTT_EXCHANGE: &str = "amq.topic";

/// The queues of a publisher's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum Destination {
    /// Some messages carry no stamp and cannot be identified.
    Unstamped,
    /// Each message goes to an unknown queue.
    Somewhere,
    /// Each message goes to all of these queues.
    Fixed(Vec<u32>),
}

/// Returns the destination of each publisher, in the order of their numbers.
pub(super) fn destinations(scenario: &Scenario, queues: &QueueIndex) -> Vec<Destination> {
    let mut known: HashMap<(&str, String), Destination> = HashMap::new();
    let mut destinations = Vec::new();
    for group in &scenario.publishers {
        let members = 0..group.count;
        if !group.is_stamped() {
            destinations.extend(members.map(|_| Destination::Unstamped));
            continue;
        }
        let keys = keys_of(group, scenario);
        destinations.extend(members.map(|member| {
            let Some(key) = only_key(&keys, member, group) else { return Destination::Somewhere };
            let destination =
                known.entry((group.exchange(), key.to_owned())).or_insert_with(|| {
                    let mut fixed = queues_for(group.exchange(), key, scenario, queues);
                    fixed.retain(|queue| !queues.kind(*queue).dead_letters);
                    if fixed.is_empty() {
                        Destination::Somewhere
                    } else {
                        Destination::Fixed(fixed)
                    }
                });
            destination.clone()
        }));
    }
    destinations
}

/// Returns the routing keys that the publishers of a group share out among themselves. Empty if each publisher uses all
/// keys.
fn keys_of(group: &PublisherGroup, scenario: &Scenario) -> Vec<String> {
    match group.keys() {
        RoutingKeys::QueueNames => scenario.queue_names(group.routing_key()),
        RoutingKeys::Fixed => vec![group.routing_key().to_owned()],
        RoutingKeys::Numbered(range) => range.names(group.routing_key()).collect(),
        RoutingKeys::Listed(_) | RoutingKeys::Random(_) => Vec::new(),
    }
}

/// Returns the routing key of a publisher that uses only one.
fn only_key<'a>(keys: &'a [String], member: u32, group: &PublisherGroup) -> Option<&'a str> {
    if keys.is_empty() {
        return None;
    }
    let mut mine = assigned_queues(group.member_queues, member, group.count, keys.len());
    match (mine.next(), mine.next()) {
        (Some(only), None) => Some(&keys[only]),
        _ => None,
    }
}

fn queues_for(exchange: &str, key: &str, scenario: &Scenario, queues: &QueueIndex) -> Vec<u32> {
    if exchange.is_empty() {
        return queues.number(key).into_iter().collect();
    }
    let declared = scenario.exchanges.iter().find(|spec| spec.name == exchange);
    let kind = declared.map_or_else(|| exchange.trim_start_matches("amq."), |spec| &spec.kind);
    let mut found = Vec::new();
    for spec in scenario.queues.iter().filter(|spec| !spec.predeclared) {
        let is_from = |binding: &&Binding| binding.exchange == exchange;
        for binding in spec.bindings.iter().filter(is_from) {
            let bound = spec.queue_names().into_iter().zip(spec.binding_keys(binding));
            let reached = bound.filter(|(_, pattern)| matches(kind, pattern, key));
            found.extend(reached.filter_map(|(name, _)| queues.number(&name)));
        }
    }
    if exchange == MQTT_EXCHANGE {
        let is_reached = |group: &&ConsumerGroup| {
            let mut patterns = group.topics.iter().map(|filter| pattern(filter));
            patterns.any(|pattern| matches("topic", &pattern, key))
        };
        let sources = scenario.consumers.iter().filter(is_reached);
        let names = sources.flat_map(|group| scenario.sources(group));
        found.extend(names.filter_map(|name| queues.number(&name)));
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Returns the pattern of a binding to which the broker turns a filter of MQTT.
fn pattern(filter: &str) -> String {
    filter.replace('/', ".").replace('+', "*")
}

/// Returns whether an exchange of this kind routes a message with `key` along a binding with `pattern`. Kinds that do
/// not route by keys never match.
fn matches(kind: &str, pattern: &str, key: &str) -> bool {
    match kind {
        "direct" => pattern == key,
        "fanout" => true,
        "topic" => {
            let pattern: Vec<_> = pattern.split('.').collect();
            let key: Vec<_> = key.split('.').collect();
            is_topic(&pattern, &key)
        }
        _ => false,
    }
}

/// Matches a topic pattern: `*` stands for one word, `#` for any number of words.
fn is_topic(pattern: &[&str], key: &[&str]) -> bool {
    match (pattern.split_first(), key.split_first()) {
        (None, None) => true,
        (Some((&"#", rest)), _) if is_topic(rest, key) => true,
        (Some((&"#", _)), Some((_, key))) => is_topic(pattern, key),
        (Some((&word, pattern)), Some((&of_key, key))) => {
            (word == "*" || word == of_key) && is_topic(pattern, key)
        }
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::scenario;

    use super::*;

    #[test]
    fn topics_have_patterns() {
        fn check(pattern: &str, key: &str, expected: bool) {
            assert_eq!(matches("topic", pattern, key), expected, "{pattern} {key}");
        }
        check("a.b", "a.b", true);
        check("a.*", "a.b", true);
        check("a.*", "a", false);
        check("a.*", "a.b.c", false);
        check("#", "", true);
        check("a.#", "a", true);
        check("a.#.d", "a.b.c.d", true);
        check("a.#.d", "a.b.c", false);
        check("*.*", "a.", true);
    }

    #[test]
    fn messages_are_owed_where_the_scenario_sends_them() {
        fn check(publishers: &str, expected: &[Destination]) {
            let text = format!(
                "name = \"r\"\nrun.duration = \"1s\"\n\
                 exchanges = [{{ name = \"f\", type = \"fanout\" }}]\n\
                 queues = [{{ name = \"q-{{}}\", to = 2, bindings = [{{ exchange = \"f\" }}, \
                 {{ exchange = \"amq.topic\", routing-key = \"k.{{}}\" }}] }}, {{ name = \"d\", \
                 arguments = {{ x-dead-letter-exchange = \"f\" }} }}]\n\
                 [[publishers]]\n{publishers}"
            );
            let scenario = scenario::parse(&text, "test", &[]).unwrap();
            assert_eq!(
                destinations(&scenario, &QueueIndex::from_scenario(&scenario)),
                expected,
                "{publishers}"
            );
        }
        let fixed = |queues: &[u32]| Destination::Fixed(queues.to_vec());
        check("queue = \"q-2\"", &[fixed(&[1])]);
        check("queue = \"q-{}\"", &[Destination::Somewhere]);
        check("queue = \"q-{}\"\ncount = 3", &[fixed(&[0]), fixed(&[1]), fixed(&[0])]);
        check("exchange = \"f\"", &[fixed(&[0, 1])]);
        check("exchange = \"amq.topic\"\nrouting-key = \"k.1\"", &[fixed(&[0])]);
        check("exchange = \"amq.topic\"\nrouting-key = \"x\"", &[Destination::Somewhere]);
        check("exchange = \"amq.headers\"", &[Destination::Somewhere]);
        check("queue = \"d\"", &[Destination::Somewhere]);
        check("queue = \"q-1\"\nsize = \"11B\"", &[Destination::Unstamped]);
    }
}
