//! `[[queues]]`: what RabbitMQ would refuse is refused here, with the reason.

use super::super::{
    error::{Problem, refuse},
    model::{Binding, QueueSpec, QueueType},
    wire,
};

pub(super) fn queue(wire: wire::Queue) -> Result<QueueSpec, Problem> {
    if wire.name.is_empty() || wire.name.len() > 255 {
        return refuse("name", "must have 1 to 255 bytes");
    }
    if wire.name.starts_with("amq.") {
        return refuse("name", "must not start with `amq.`, which RabbitMQ keeps for itself");
    }
    if wire.arguments.contains_key("x-queue-type") {
        let refused: Result<(), Problem> = refuse("x-queue-type", "is set by `type`");
        refused.map_err(|problem| problem.under("arguments"))?;
    }
    let bindings = wire.bindings.into_iter().enumerate().map(|(index, wire)| {
        binding(wire).map_err(|problem| problem.under(index.to_string()).under("bindings"))
    });
    let queue = QueueSpec {
        name: wire.name,
        queue_type: wire.kind.unwrap_or(QueueType::Classic),
        durable: wire.durable.unwrap_or(true),
        exclusive: wire.exclusive.unwrap_or(false),
        auto_delete: wire.auto_delete.unwrap_or(false),
        arguments: wire.arguments,
        bindings: bindings.collect::<Result<_, _>>()?,
        keep: wire.keep.unwrap_or(false),
    };
    flags(&queue)?;
    Ok(queue)
}

fn binding(wire: wire::Binding) -> Result<Binding, Problem> {
    if wire.exchange.is_empty() {
        return refuse("exchange", "every queue is bound to the default exchange by its name");
    }
    Ok(Binding { exchange: wire.exchange, routing_key: wire.routing_key.unwrap_or_default() })
}

fn flags(queue: &QueueSpec) -> Result<(), Problem> {
    let kind = match queue.queue_type {
        QueueType::Classic => None,
        QueueType::Quorum => Some("a quorum queue"),
        QueueType::Stream => Some("a stream"),
    };
    match kind {
        Some(kind) if !queue.durable => {
            refuse("durable", format!("{kind} is always durable: leave this out"))
        }
        Some(kind) if queue.exclusive => {
            refuse("exclusive", format!("{kind} cannot be exclusive: only a classic queue can"))
        }
        Some(kind) if queue.auto_delete => {
            refuse("auto-delete", format!("{kind} cannot be auto-delete: only a classic queue can"))
        }
        _ if queue.keep && (queue.exclusive || queue.auto_delete) => {
            refuse("keep", "an exclusive or auto-delete queue goes away by itself")
        }
        _ => Ok(()),
    }
}
