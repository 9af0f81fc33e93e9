//! `[[queues]]`: settings that RabbitMQ would refuse are refused here, with the reason.

use std::collections::HashSet;

use super::{
    super::{
        error::{Problem, quoted, refuse},
        model::{FieldValue, QueueNames, QueueSpec, QueueType, has_placeholder},
        wire,
    },
    exchanges, fields,
};
use crate::scenario::validate::context::{TextFiles, each};

pub(super) fn queue(wire: wire::Queue, files: &mut TextFiles<'_>) -> Result<QueueSpec, Problem> {
    name("name", &wire.name)?;
    let says_classic = FieldValue::Text("classic".to_owned());
    let is_classic = wire.kind.is_none_or(|kind| kind == QueueType::Classic);
    let said = wire.arguments.get("x-queue-type");
    if said.is_some_and(|said| !(is_classic && *said == says_classic)) {
        let refused: Result<(), Problem> = refuse("x-queue-type", "is set by `type`");
        refused.map_err(|problem| problem.under("arguments"))?;
    }
    let names = names(&wire, files)?;
    let queue = QueueSpec {
        name: wire.name,
        names,
        queue_type: wire.kind.unwrap_or(QueueType::Classic),
        durable: wire.durable.unwrap_or(true),
        exclusive: wire.exclusive.unwrap_or(false),
        auto_delete: wire.auto_delete.unwrap_or(false),
        predeclared: wire.predeclared.unwrap_or(false),
        if_missing: wire.if_missing.unwrap_or(false),
        bind_existing: wire.bind_existing.unwrap_or(false),
        arguments: wire.arguments,
        bindings: each("bindings", wire.bindings, |_, wire| exchanges::binding(wire))?,
        keep: wire.keep.unwrap_or(false),
    };
    flags(&queue)?;
    predeclared(&queue)?;
    existing(&queue)?;
    named_by_broker(&queue)?;
    Ok(queue)
}

fn name(key: &str, name: &str) -> Result<(), Problem> {
    if name.is_empty() || name.len() > 255 {
        return refuse(key, "must have 1 to 255 bytes");
    }
    if name.starts_with("amq.") {
        return refuse(key, "must not start with `amq.`, which RabbitMQ reserves");
    }
    Ok(())
}

fn names(wire: &wire::Queue, files: &mut TextFiles<'_>) -> Result<QueueNames, Problem> {
    let range = fields::numbers("name", Some(&wire.name), wire.from, wire.to)?;
    if wire.server_named == Some(true) {
        if range.is_some() || wire.names.is_some() || wire.names_file.is_some() {
            return refuse("server-named", "the broker names these queues: give no names");
        }
        return Ok(QueueNames::ByBroker);
    }
    let one_of_two = "give either a name with `{}`, `from` and `to`, or `names`, or `names-file`";
    let (key, names) = match (range, &wire.names, &wire.names_file) {
        (Some(_), Some(_), _) => return refuse("names", one_of_two),
        (_, Some(_), Some(_)) | (Some(_), _, Some(_)) => return refuse("names-file", one_of_two),
        (Some(range), None, None) => return Ok(QueueNames::Numbered(range)),
        (None, None, None) => return Ok(QueueNames::One),
        (None, Some(names), None) => ("names", names.clone()),
        (None, None, Some(path)) => {
            let text = files(path).map_err(|why| {
                Problem::new(format!("cannot read {}: {why}", quoted(path))).under("names-file")
            })?;
            let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
            ("names-file", lines.map(str::to_owned).collect())
        }
    };
    if names.is_empty() {
        return refuse(key, "has no name");
    }
    for listed in &names {
        name(key, listed)?;
    }
    Ok(QueueNames::Listed(names))
}

/// Checks that no two entries stand for the same queue.
pub(super) fn distinct(queues: &[QueueSpec]) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for (index, queue) in queues.iter().enumerate() {
        let twice = queue.queue_names().into_iter().find(|name| !seen.insert(name.clone()));
        if let Some(name) = twice {
            let refused: Result<(), Problem> = refuse("name", format!("`{name}` is there twice"));
            return refused.map_err(|problem| problem.under(index.to_string()).under("queues"));
        }
    }
    Ok(())
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
        _ if queue.keep && queue.exclusive => {
            refuse("keep", "an exclusive queue goes away with its connection")
        }
        _ => Ok(()),
    }
}

/// Checks queues that exist before the run.
fn existing(queue: &QueueSpec) -> Result<(), Problem> {
    if queue.predeclared && queue.if_missing {
        return refuse("if-missing", fields::PREDECLARED_OR_IF_MISSING);
    }
    if queue.bind_existing && queue.bindings.is_empty() {
        return refuse("bind-existing", "needs `bindings`");
    }
    Ok(())
}

/// Checks a queue whose name only its consumer learns.
fn named_by_broker(queue: &QueueSpec) -> Result<(), Problem> {
    if queue.names != QueueNames::ByBroker {
        return Ok(());
    }
    if queue.queue_type != QueueType::Classic {
        return refuse("server-named", "RabbitMQ gives names to classic queues only");
    }
    let others = [
        ("predeclared", queue.predeclared),
        ("if-missing", queue.if_missing),
        ("bind-existing", queue.bind_existing),
    ];
    if let Some((key, _)) = others.into_iter().find(|(_, given)| *given) {
        return refuse(key, "cannot be combined with `server-named`: such a queue is always new");
    }
    if !queue.exclusive && !queue.auto_delete && !queue.keep {
        let reason = "nobody could remove the queue after the run, as only its consumer knows the \
                      name: give `auto-delete`, `exclusive` or `keep`";
        return refuse("server-named", reason);
    }
    Ok(())
}

fn predeclared(queue: &QueueSpec) -> Result<(), Problem> {
    if matches!(queue.names, QueueNames::One | QueueNames::ByBroker) {
        let needs = "a placeholder needs a set of queues";
        if queue.bindings.iter().any(|binding| has_placeholder(&binding.routing_key)) {
            return refuse("bindings", "a placeholder in `routing-key` needs a set of queues");
        }
        if queue.bindings.iter().any(|binding| fields::placeholder_in(&binding.arguments).is_some())
        {
            return refuse("bindings", "a placeholder in `arguments` needs a set of queues");
        }
        fields::no_placeholder("arguments", &queue.arguments, needs)?;
    }
    let of_set = queue.bindings.iter().map(|binding| &binding.exchange);
    if of_set.into_iter().any(|exchange| has_placeholder(exchange)) {
        return refuse(
            "bindings",
            "a placeholder in `exchange` is not replaced: give a binding for each exchange",
        );
    }
    if !queue.predeclared {
        return Ok(());
    }
    let reason = "cannot be combined with `predeclared`, which leaves the queue as it is";
    match queue {
        QueueSpec { exclusive: true, .. } => refuse("exclusive", reason),
        QueueSpec { keep: true, .. } => refuse("keep", reason),
        QueueSpec { bindings, .. } if !bindings.is_empty() => refuse("bindings", reason),
        _ => Ok(()),
    }
}
