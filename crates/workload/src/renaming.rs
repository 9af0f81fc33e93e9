//! All names of flows and objects.

use std::collections::BTreeSet;

use rabbitscope_runs::scenario::{FieldValue, has_placeholder};
use serde_json::Value;

use crate::{
    observe::Flows,
    topology::{Arguments, Binding, Objects, Policy, Topology},
};

/// Arguments and keys of policies, without `x-`, whose texts are words of RabbitMQ.
const WORDS_OF_BROKER: [&str; 14] = [
    "queue-type",
    "queue-mode",
    "queue-version",
    "overflow",
    "queue-leader-locator",
    "queue-master-locator",
    "dead-letter-strategy",
    "max-age",
    "match",
    "delayed-type",
    "ha-mode",
    "ha-sync-mode",
    "ha-promote-on-shutdown",
    "ha-promote-on-failure",
];

/// Replaces the placeholder of scenarios where it stands in a name. Returns the number of these names.
pub(crate) fn replace_placeholders(flows: &mut Flows, topology: &mut Topology) -> usize {
    let mut replaced = BTreeSet::new();
    rename(flows, topology, &mut |name| {
        if has_placeholder(name) {
            replaced.insert(name.clone());
            *name = name.replace('{', "(").replace('}', ")");
        }
    });
    replaced.len()
}

/// Shows each name to `each`, which may replace it.
pub(crate) fn rename(
    flows: &mut Flows,
    topology: &mut Topology,
    each: &mut dyn FnMut(&mut String),
) {
    for flow in &mut flows.publishes {
        each(&mut flow.key.exchange);
        flow.routing_keys = core::mem::take(&mut flow.routing_keys).map(|mut key| {
            each(&mut key);
            key
        });
    }
    for flow in &mut flows.reads {
        flow.queue.iter_mut().for_each(&mut *each);
        if !flow.stream.name.is_empty() {
            each(&mut flow.stream.name);
        }
        flow.subscription.filters.iter_mut().for_each(&mut *each);
        flow.routes = core::mem::take(&mut flow.routes).map(|(mut exchange, mut key)| {
            each(&mut exchange);
            each(&mut key);
            (exchange, key)
        });
    }
    for topology in [topology, &mut flows.seen.topology] {
        for objects in topology.vhosts.values_mut() {
            rename_objects(objects, each);
        }
        for consumer in topology.consumers.values_mut() {
            each(&mut consumer.queue);
        }
        // Flows are complete.
        topology.links.clear();
        for publisher in topology.publishers.values_mut() {
            each(&mut publisher.stream);
        }
    }
}

fn rename_objects(objects: &mut Objects, each: &mut dyn FnMut(&mut String)) {
    let renamed = |name: &str, each: &mut dyn FnMut(&mut String)| {
        let mut name = name.to_owned();
        each(&mut name);
        name
    };
    for (name, mut exchange) in core::mem::take(&mut objects.exchanges) {
        rename_arguments(&mut exchange.arguments, each);
        objects.exchanges.insert(renamed(&name, each), exchange);
    }
    for (name, ready) in core::mem::take(&mut objects.ready) {
        objects.ready.insert(renamed(&name, each), ready);
    }
    for (name, mut queue) in core::mem::take(&mut objects.queues) {
        rename_arguments(&mut queue.arguments, each);
        objects.queues.insert(renamed(&name, each), queue);
    }
    for binding in objects.take_bindings() {
        let Binding { mut source, mut destination, mut routing_key, mut arguments, kind } = binding;
        for name in [&mut source, &mut destination, &mut routing_key] {
            each(name);
        }
        rename_arguments(&mut arguments, each);
        objects.bind(Binding { source, destination, kind, routing_key, arguments });
    }
    objects.policies.iter_mut().for_each(|policy| rename_policy(policy, each));
}

/// Patterns are renamed already.
fn rename_policy(policy: &mut Policy, each: &mut dyn FnMut(&mut String)) {
    each(&mut policy.name);
    if let Some(entries) = policy.definition.as_object_mut() {
        for (_, value) in entries.iter_mut().filter(|(key, _)| !is_word_of_broker(key)) {
            rename_json(value, each);
        }
    }
}

fn rename_json(value: &mut Value, each: &mut dyn FnMut(&mut String)) {
    match value {
        Value::String(text) => each(text),
        Value::Array(items) => items.iter_mut().for_each(|item| rename_json(item, each)),
        Value::Object(entries) => entries.values_mut().for_each(|value| rename_json(value, each)),
        _ => {}
    }
}

fn is_word_of_broker(key: &str) -> bool {
    WORDS_OF_BROKER.contains(&key.strip_prefix("x-").unwrap_or(key))
}

/// Renames arguments. Keys of RabbitMQ and of plugins begin with `x-`; all others are those of bindings to exchanges of
/// the type `headers`.
fn rename_arguments(arguments: &mut Arguments, each: &mut dyn FnMut(&mut String)) {
    for (mut key, mut value) in core::mem::take(arguments) {
        let is_of_broker = key.starts_with("x-") || key == "alternate-exchange";
        if !is_of_broker {
            each(&mut key);
        }
        if !is_word_of_broker(&key) {
            rename_value(&mut value, is_of_broker, each);
        }
        arguments.insert(key, value);
    }
}

fn rename_value(value: &mut FieldValue, is_setting: bool, each: &mut dyn FnMut(&mut String)) {
    match value {
        FieldValue::Text(text) => each(text),
        FieldValue::Integer(number) if !is_setting => {
            let mut digits = number.unsigned_abs().to_string();
            each(&mut digits);
            *number = digits.parse().unwrap_or_default();
        }
        FieldValue::Float(number) if !is_setting => *number = 0.0,
        FieldValue::Array(items) => {
            for item in items {
                rename_value(item, is_setting, each);
            }
        }
        FieldValue::Table(entries) => {
            for item in entries.values_mut() {
                rename_value(item, is_setting, each);
            }
        }
        _ => {}
    }
}
