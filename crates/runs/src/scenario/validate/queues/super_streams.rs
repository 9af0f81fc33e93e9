//! Super streams: an exchange, and a stream for each partition that is bound to it, as RabbitMQ's own tools make them.

use super::super::super::{
    error::{Problem, refuse},
    model::{Binding, ExchangeSpec, FieldValue, PARTITION_ORDER, QueueSpec, QueueType, Scenario},
};

/// Argument of an exchange that makes it a super stream.
const SUPER_STREAM: &str = "x-super-stream";

/// Most partitions: as many as a connection can publish to.
const PARTITIONS: u32 = 255;

/// Replaces each entry with `partitions` by the exchange and the set of streams that it stands for. Groups that refer to its
/// name then refer to the set.
pub(in crate::scenario::validate) fn expand(scenario: &mut Scenario) -> Result<(), Problem> {
    for (index, queue) in scenario.queues.iter_mut().enumerate() {
        let Some(partitions) = queue.partitions.take() else { continue };
        let path = |problem: Problem| problem.under(index.to_string()).under("queues");
        check(queue, partitions).map_err(path)?;
        let set = format!("{}-{{}}", queue.name);
        let name = std::mem::replace(&mut queue.name, set);
        (queue.from, queue.to) = (Some(0), Some(partitions - 1));
        if !queue.predeclared {
            queue.bindings.push(Binding {
                exchange: name.clone(),
                routing_key: "{}".to_owned(),
                arguments: [(PARTITION_ORDER.to_owned(), FieldValue::Text("{}".to_owned()))].into(),
            });
        }
        for group in scenario.consumers.iter_mut().filter(|group| group.queue == name) {
            if group.single_active_consumer {
                group.super_stream.get_or_insert_with(|| name.clone());
            }
        }
        let publishers = scenario.publishers.iter_mut().filter_map(|group| group.queue.as_mut());
        let consumers = scenario.consumers.iter_mut().map(|group| &mut group.queue);
        for reference in publishers.chain(consumers).filter(|reference| **reference == name) {
            reference.clone_from(&queue.name);
        }
        scenario.exchanges.push(exchange(name, queue));
    }
    Ok(())
}

fn check(queue: &QueueSpec, partitions: u32) -> Result<(), Problem> {
    if queue.queue_type != QueueType::Stream {
        return refuse("partitions", "is of streams: add `type = \"stream\"`");
    }
    if !(1..=PARTITIONS).contains(&partitions) {
        return refuse("partitions", format!("must be from 1 to {PARTITIONS}"));
    }
    let others = [
        ("from", queue.from.is_some()),
        ("to", queue.to.is_some()),
        ("names", queue.names.is_some()),
        ("names-file", queue.names_file.is_some()),
    ];
    match others.into_iter().find(|(_, is_given)| *is_given) {
        Some((key, _)) => refuse(key, "a super stream names its partitions itself: leave it out"),
        None => Ok(()),
    }
}

/// Returns the exchange of a super stream.
fn exchange(name: String, queue: &QueueSpec) -> ExchangeSpec {
    ExchangeSpec {
        name,
        kind: "direct".to_owned(),
        durable: true,
        auto_delete: false,
        internal: false,
        predeclared: queue.predeclared,
        if_missing: queue.if_missing,
        keep: queue.keep,
        arguments: [(SUPER_STREAM.to_owned(), FieldValue::Bool(true))].into(),
        bindings: Vec::new(),
    }
}
