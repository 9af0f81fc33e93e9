//! Policies, exchanges and queues.

use rabbitscope_runs::scenario::FieldValue;
use rabbitscope_text::grouped;

use super::lines::{Lines, list, quoted, size};
use crate::{
    groups::{Model, Names, QueueSet, Target, UsedExchange},
    topology::{Arguments, NodeFacts},
};

/// Fewest messages that wait: fewer are on their way.
const READY_MIN: u64 = 100;
/// Most messages that the queues of a set get before the load, and most bytes.
const PREFILL_MAX: u64 = 1_000_000;
const PREFILL_BYTES_MAX: f64 = 1e9;
/// Size of a body in bytes, if none was published.
const BODY_BYTES: f64 = 1_000.0;

pub(super) fn write(lines: &mut Lines, model: &Model) {
    broker(lines, model);
    for exchange in &model.exchanges {
        exchange_table(lines, exchange);
    }
    for (place, set) in model.sets.sets.iter().enumerate() {
        queue_table(lines, set, body_bytes(model, place));
    }
}

fn broker(lines: &mut Lines, model: &Model) {
    let of_node = |text: fn(&NodeFacts) -> String| model.node.as_ref().map(text);
    let config = of_node(NodeFacts::config).unwrap_or_default();
    let advanced = of_node(NodeFacts::advanced_config).unwrap_or_default();
    if model.policies.is_empty() && config.is_empty() && advanced.is_empty() {
        return;
    }
    lines.blank();
    lines.line("[broker]");
    for (key, text) in [("config", config), ("advanced-config", advanced)] {
        if !text.is_empty() {
            lines.text(key, &text);
        }
    }
    if !model.policies.is_empty() {
        policies(lines, model);
    }
}

fn policies(lines: &mut Lines, model: &Model) {
    lines.line("policies = [");
    for policy in &model.policies {
        lines.line(&format!(
            "    {{ name = {}, pattern = {}, definition = {}, apply-to = {}, priority = {} }},",
            quoted(&policy.name),
            quoted(&policy.pattern),
            quoted(&policy.definition.to_string()),
            quoted(&policy.apply_to),
            policy.priority,
        ));
    }
    lines.line("]");
}

fn exchange_table(lines: &mut Lines, used: &UsedExchange) {
    let UsedExchange { name, exchange, bindings } = used;
    lines.blank();
    lines.table("exchanges");
    lines.text("name", name);
    lines.text("type", &exchange.kind);
    for (key, is_set, default) in [
        ("durable", exchange.durable, true),
        ("auto-delete", exchange.auto_delete, false),
        ("internal", exchange.internal, false),
    ] {
        if is_set != default {
            lines.key(key, &is_set.to_string());
        }
    }
    arguments(lines, &exchange.arguments);
    let none = Arguments::new();
    bound(lines, bindings.iter().map(|(source, key)| (source.as_str(), key.as_str(), &none)));
}

fn queue_table(lines: &mut Lines, set: &QueueSet, body_bytes: f64) {
    lines.blank();
    lines.table("queues");
    lines.text("name", &set.name);
    match &set.names {
        _ if set.queue.server_named => lines.key("server-named", "true"),
        Names::One(_) => {}
        Names::Numbered { from, to, .. } => {
            lines.key("from", &from.to_string());
            lines.key("to", &to.to_string());
        }
        Names::Listed(names) => lines.key("names", &list(names)),
    }
    let mut without_type = set.queue.arguments.clone();
    let kind = match without_type.remove("x-queue-type") {
        Some(FieldValue::Text(kind)) if kind == "quorum" || kind == "stream" => Some(kind),
        _ => None,
    };
    if let Some(kind) = &kind {
        lines.text("type", kind);
    }
    if !set.queue.durable && kind.is_none() {
        lines.key("durable", "false");
    }
    // A queue that belongs to one connection would need all its clients on that connection.
    let goes_away = set.queue.auto_delete || set.queue.exclusive || set.queue.server_named;
    if goes_away && kind.is_none() {
        lines.key("auto-delete", "true");
    }
    // With a time to live, the load itself makes messages wait.
    let expires = without_type.contains_key("x-message-ttl");
    if kind.as_deref() != Some("stream") && !set.queue.server_named && !expires {
        prefill(lines, set, body_bytes);
    }
    arguments(lines, &without_type);
    let bindings = set.bindings.iter();
    bound(lines, bindings.map(|(source, key, table)| (source.as_str(), key.as_str(), table)));
}

/// Writes the messages that waited.
fn prefill(lines: &mut Lines, set: &QueueSet, body_bytes: f64) {
    let Some([least, mean, most]) = set.ready.filter(|[_, mean, _]| *mean >= READY_MIN) else {
        return;
    };
    let queues = set.names.count();
    let of_each = if queues > 1 { " of each queue, the mean" } else { "" };
    if most > least {
        lines.comment(&format!("From {} to {} messages waited.", grouped(least), grouped(most)));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
    let by_bytes = (PREFILL_BYTES_MAX / body_bytes.max(1.0)) as u64;
    let prefill = mean.min(PREFILL_MAX.min(by_bytes) / queues.max(1)).max(1);
    if prefill < mean {
        lines.comment(&format!("A part of {} messages{of_each}.", grouped(mean)));
    }
    lines.key("prefill", &prefill.to_string());
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    lines.key("prefill-size", &size(body_bytes.round() as u64));
}

/// Returns the mean size of the bodies that are published to a set of queues; of all, if none are by name.
fn body_bytes(model: &Model, place: usize) -> f64 {
    let mean = |is_meant: &dyn Fn(&Target) -> bool| {
        let groups = model.publishers.iter().filter(|group| is_meant(&group.settings.target));
        let (messages, bytes) = groups.fold((0.0, 0.0), |(messages, bytes), group| {
            let more = group.messages as f64;
            (messages + more, bytes + more * group.sizes.mean)
        });
        (messages > 0.0).then(|| bytes / messages)
    };
    let of_set = mean(&|target| *target == Target::Queues(place));
    of_set.or_else(|| mean(&|_| true)).unwrap_or(BODY_BYTES)
}

fn bound<'a>(lines: &mut Lines, bindings: impl Iterator<Item = (&'a str, &'a str, &'a Arguments)>) {
    let rows: Vec<String> = bindings
        .map(|(source, key, arguments)| {
            let key = (!key.is_empty()).then(|| format!("routing-key = {}", quoted(key)));
            let table =
                (!arguments.is_empty()).then(|| format!("arguments = {}", table(arguments)));
            let entries = [Some(format!("exchange = {}", quoted(source))), key, table];
            let entries: Vec<String> = entries.into_iter().flatten().collect();
            format!("{{ {} }}", entries.join(", "))
        })
        .collect();
    match &rows[..] {
        [] => {}
        [row] => lines.key("bindings", &format!("[{row}]")),
        rows => {
            lines.line("bindings = [");
            for row in rows {
                lines.line(&format!("    {row},"));
            }
            lines.line("]");
        }
    }
}

fn arguments(lines: &mut Lines, arguments: &Arguments) {
    if !arguments.is_empty() {
        lines.key("arguments", &table(arguments));
    }
}

/// Returns a table of arguments.
pub(super) fn table(arguments: &Arguments) -> String {
    let entries =
        arguments.iter().map(|(key, value)| format!("{} = {}", key_text(key), field(value)));
    format!("{{ {} }}", entries.collect::<Vec<_>>().join(", "))
}

fn key_text(key: &str) -> String {
    let is_bare = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !key.is_empty() && key.chars().all(is_bare) { key.to_owned() } else { quoted(key) }
}

fn field(value: &FieldValue) -> String {
    match value {
        FieldValue::Bool(value) => value.to_string(),
        FieldValue::Integer(value) => value.to_string(),
        FieldValue::Float(value) => format!("{value:?}"),
        FieldValue::Text(value) => quoted(value),
        FieldValue::Array(items) => {
            format!("[{}]", items.iter().map(field).collect::<Vec<_>>().join(", "))
        }
        FieldValue::Table(entries) => table(entries),
        FieldValue::Time(time) => time.seconds.to_string(),
    }
}
