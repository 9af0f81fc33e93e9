//! Checks of queues and sets of them.

use std::collections::HashSet;

use super::super::{
    super::{
        error::{Problem, quoted, refuse, refuse_at},
        model::{FieldValue, QueueNames, QueueSpec, QueueType, has_placeholder},
    },
    exchanges, fields,
};
use crate::scenario::validate::context::{TextFiles, check_each};

/// Body size of messages that wait, if the scenario does not say, in bytes.
const PREFILL_SIZE: u32 = 1_000;
/// Most messages of an entry that wait, and most bytes of bodies.
const PREFILL_MAX: u64 = 1_000_000;
const PREFILL_BYTES_MAX: u64 = 1 << 30;

pub(in crate::scenario::validate) fn queue(
    queue: &mut QueueSpec,
    files: &mut TextFiles<'_>,
) -> Result<(), Problem> {
    name("name", &queue.name)?;
    let says_classic = FieldValue::Text("classic".to_owned());
    let is_classic = queue.queue_type == QueueType::Classic;
    let said = queue.arguments.get("x-queue-type");
    if said.is_some_and(|said| !(is_classic && *said == says_classic)) {
        return refuse_at(&["arguments", "x-queue-type"], "is set by `type`");
    }
    names(queue, files)?;
    check_each("bindings", &mut queue.bindings, |_, bound| exchanges::binding(bound))?;
    flags(queue)?;
    predeclared(queue)?;
    existing(queue)?;
    named_by_broker(queue)?;
    prefill(queue)
}

/// Checks messages that wait when the load starts.
fn prefill(queue: &mut QueueSpec) -> Result<(), Problem> {
    if queue.prefill == 0 {
        return match queue.prefill_size {
            Some(_) => refuse("prefill-size", "needs `prefill`"),
            None => Ok(()),
        };
    }
    let size = *queue.prefill_size.get_or_insert(PREFILL_SIZE);
    let messages = queue.prefill.saturating_mul(queue.queue_names().len() as u64);
    if messages > PREFILL_MAX || messages.saturating_mul(u64::from(size)) > PREFILL_BYTES_MAX {
        let reason = "is too much: at most 1,000,000 messages and 1 GiB of bodies in all queues of the entry";
        return refuse("prefill", reason);
    }
    let others = [
        (
            queue.queue_type == QueueType::Stream,
            "is of classic and quorum queues: publish into the stream before",
        ),
        (queue.server_named, "needs queues with names"),
        (queue.exclusive, "is published by another connection than that of an exclusive queue"),
        (queue.predeclared || queue.if_missing, "is of queues that the run declares"),
        (queue.keep, "would stay in the queue: leave `keep` out"),
    ];
    match others.into_iter().find(|(is_other, _)| *is_other) {
        Some((_, reason)) => refuse("prefill", reason),
        None => Ok(()),
    }
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

fn names(queue: &mut QueueSpec, files: &mut TextFiles<'_>) -> Result<(), Problem> {
    let is_numbered = fields::numbers("name", Some(&queue.name), &mut queue.from, queue.to)?;
    let (is_listed, is_in_file) = (queue.names.is_some(), queue.names_file.is_some());
    if queue.server_named && (is_numbered || is_listed || is_in_file) {
        return refuse("server-named", "the broker names these queues: give no names");
    }
    let one_of_two = "give either a name with `{}`, `from` and `to`, or `names`, or `names-file`";
    if is_numbered && is_listed {
        return refuse("names", one_of_two);
    }
    if is_in_file && (is_numbered || is_listed) {
        return refuse("names-file", one_of_two);
    }
    let key = if is_in_file { "names-file" } else { "names" };
    if let Some(path) = queue.names_file.take() {
        let text = files(&path).map_err(|why| {
            Problem::new(format!("cannot read {}: {why}", quoted(&path))).under(key)
        })?;
        let lines = text.lines().map(str::trim).filter(|line| !line.is_empty());
        queue.names = Some(lines.map(str::to_owned).collect());
    }
    let Some(names) = &queue.names else { return Ok(()) };
    if names.is_empty() {
        return refuse(key, "has no name");
    }
    names.iter().try_for_each(|listed| name(key, listed))
}

/// Checks that no two entries stand for the same queue.
pub(in crate::scenario::validate) fn distinct(queues: &[QueueSpec]) -> Result<(), Problem> {
    let mut seen = HashSet::new();
    for (index, queue) in queues.iter().enumerate() {
        let twice = queue.queue_names().into_iter().find(|name| !seen.insert(name.clone()));
        if let Some(name) = twice {
            let path = ["queues", &index.to_string(), "name"];
            return refuse_at(&path, format!("`{name}` is there twice"));
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

/// Checks queues that may exist before the run.
fn existing(queue: &mut QueueSpec) -> Result<(), Problem> {
    if queue.predeclared && queue.if_missing {
        return refuse("if-missing", fields::PREDECLARED_OR_IF_MISSING);
    }
    let is_bound = !queue.bindings.is_empty();
    if queue.bind_existing == Some(true) && !is_bound {
        return refuse("bind-existing", "needs `bindings`");
    }
    queue.bind_existing = is_bound.then_some(queue.bind_existing == Some(true));
    Ok(())
}

/// Checks a queue whose name only its consumer learns.
fn named_by_broker(queue: &QueueSpec) -> Result<(), Problem> {
    if !queue.server_named {
        return Ok(());
    }
    if queue.queue_type != QueueType::Classic {
        return refuse("server-named", "RabbitMQ gives names to classic queues only");
    }
    let others = [
        ("predeclared", queue.predeclared),
        ("if-missing", queue.if_missing),
        ("bind-existing", queue.bind_existing == Some(true)),
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
    if matches!(queue.queues(), QueueNames::One | QueueNames::ByBroker) {
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
