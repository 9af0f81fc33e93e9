//! Groups of consumers, of programs that poll, and of responders.

use rabbitscope_runs::scenario::FieldValue;

use super::{
    lines::{Lines, counted, figure, list, percent, quoted, size, time, time_text},
    protocols,
    publishers::{clients, links, members, program, times},
    streams,
};
use crate::{
    groups::{Model, ReaderGroup, Settling, Source},
    observe::{Prefetch, Protocol, Version},
};

/// Share of the settlements above which an outcome counts.
const MIXED: f64 = 0.001;
/// Number of measured times below which p50 may be off by more than 5 %.
const TIMES_MIN: u64 = 100;

pub(super) fn write(lines: &mut Lines, model: &Model) {
    for group in &model.readers {
        lines.blank();
        consumers(lines, model, group);
    }
    for responders in &model.responders {
        lines.blank();
        let group = &responders.reader;
        origin(lines, group, "responder");
        lines.comment("Not expressed: the time for an answer. Responders answer at once.");
        lines.table("responders");
        lines.text("name", &group.name);
        layout(lines, model, group);
        if let Prefetch::Consumer(count) = group.settings.prefetch {
            lines.key("prefetch", &count.to_string());
        }
        if group.settings.settling == Settling::Never {
            lines.key("auto-ack", "true");
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
        lines.key("size", &size(responders.reply_bytes.round() as u64));
    }
}

fn consumers(lines: &mut Lines, model: &Model, group: &ReaderGroup) {
    origin(lines, group, if group.settings.is_polling { "reader" } else { "consumer" });
    comments(lines, group);
    lines.table("consumers");
    lines.text("name", &group.name);
    protocols::write(lines, group.settings.protocol);
    layout(lines, model, group);
    match group.settings.protocol {
        Protocol::Mqtt { version, qos } => limit_by_mqtt(lines, group, (version, qos)),
        Protocol::Amqp10 => {
            prefetch(lines, group);
            settling(lines, group, is_stream(model, group));
            streams::offset(lines, group);
        }
        Protocol::Stream => {
            streams::reading(lines, group);
            streams::offset(lines, group);
        }
        Protocol::Amqp091 => {
            if group.settings.is_polling {
                polling(lines, group);
            } else {
                prefetch(lines, group);
            }
            settling(lines, group, false);
            forward(lines, group);
        }
    }
    match (processing(group), &group.processing) {
        (Some(_), Some(processing)) if processing.is_spread() => {
            let entry = |(nanos, share): &(f64, f64)| {
                format!("{{ time = {}, share = {} }}", time(*nanos), figure(*share))
            };
            lines.list("processing-time-shares", processing.shares.iter().map(entry));
        }
        (Some(nanos), _) => lines.key("processing-time", &time(nanos)),
        (None, _) => {}
    }
    if let Some(concurrency) = concurrency(group) {
        lines.number("concurrency", concurrency);
    }
    let is_amqp091 = group.settings.protocol == Protocol::Amqp091;
    if is_amqp091 && group.settings.exclusive && group.count <= group.queues.len() {
        lines.key("exclusive", "true");
    }
    if let Some(priority) =
        group.settings.priority.filter(|_| group.settings.protocol != Protocol::Stream)
    {
        lines.key("priority", &priority.to_string());
    }
}

fn origin(lines: &mut Lines, group: &ReaderGroup, thing: &str) {
    let queues = match group.queues.len() {
        1 => String::new(),
        count => format!(" of {}", counted(count as u64, "queue")),
    };
    lines.comment(&format!(
        "{}{}{queues} on {}{}: {}, {} a second{}.",
        counted(group.observed.0 as u64, thing),
        protocols::by(group.settings.protocol),
        counted(group.observed.1 as u64, "connection"),
        program(&group.settings.product),
        counted(group.deliveries, "message"),
        figure(group.rate),
        if group.observed.0 > 1 { " each" } else { "" },
    ));
}

/// Writes everything that the keys do not say.
fn comments(lines: &mut Lines, group: &ReaderGroup) {
    if let Source::Topics { is_assumed: true, .. } = group.settings.source {
        lines.comment(
            "Assumed: no source shows the subscription, only the topics that were delivered.",
        );
    }
    let [acks, requeues, discards] = group.settled_shares;
    let outcomes = group.settled_shares.into_iter().filter(|share| *share > MIXED).count();
    if outcomes > 1 && refused(group).is_none() {
        lines.comment(&format!(
            "Not expressed: {} are acknowledged, {} requeued, {} dropped; here all are treated as most are.",
            percent(acks),
            percent(requeues),
            percent(discards)
        ));
    }
    if group.redelivered_share > 0.001 {
        let share = percent(group.redelivered_share);
        lines.comment(&format!("{share} of the deliveries were repeated ones."));
    }
    if group.settings.settling == Settling::Never {
        return;
    }
    let Some(processing) = &group.processing else {
        if group.deliveries > 0 && group.settings.protocol != Protocol::Stream {
            lines.comment("No settlement was seen: here each message is settled at once.");
        }
        return;
    };
    let [p10, p50, p90, p99] = [processing.p10, processing.p50, processing.p90, processing.p99];
    if processing.concurrency > 1 {
        lines.comment(&format!(
            "A message was settled while {} were unsettled: workers share a consumer.",
            counted(processing.concurrency as u64 - 1, "earlier one")
        ));
        if group.settings.protocol != Protocol::Amqp091 {
            lines.comment("Not expressed: other consumers than those of AMQP 0-9-1 process one message after the other.");
        }
    }
    if processing.nanos().is_some() {
        lines.comment(&format!(
            "Processing time of {}: {}.",
            counted(processing.measured, "measurement"),
            times([p10, p50, p90, p99])
        ));
        if !processing.is_even() && !processing.is_spread() {
            lines.comment("Not expressed: its distribution. The mean keeps the same rate.");
        }
    } else {
        lines.comment(&format!(
            "No processing time: the client settles {} after it has a message.",
            time_text(p50)
        ));
    }
    if processing.measured < TIMES_MIN {
        lines.comment(&format!("Few measurements: below {TIMES_MIN} they are rough."));
    }
}

fn layout(lines: &mut Lines, model: &Model, group: &ReaderGroup) {
    match group.settings.protocol {
        Protocol::Mqtt { .. } => clients(lines, group.count),
        Protocol::Amqp10 | Protocol::Stream => {
            links(lines, (group.count, group.connections), group.settings.protocol);
        }
        Protocol::Amqp091 => {
            members(lines, group.host.as_deref(), (group.count, group.connections, group.channels));
        }
    }
    let set = match &group.settings.source {
        Source::Queues(set) => &model.sets.sets[*set],
        Source::Topics { filters, .. } => return lines.key("topics", &list(filters)),
    };
    match group.queues.first().filter(|_| group.queues.len() == 1 && !set.queue.server_named) {
        Some(queue) => lines.text("queue", queue),
        None => lines.text("queue", &set.name),
    }
}

/// Returns the processing time in nanoseconds; none for consumers that settle nothing, or at once.
fn processing(group: &ReaderGroup) -> Option<f64> {
    if group.settings.settling == Settling::Never || group.settings.is_polling {
        return None;
    }
    group.processing.as_ref()?.nanos()
}

/// Returns the messages that a consumer processes at the same time; none for one, and for what a scenario cannot express.
fn concurrency(group: &ReaderGroup) -> Option<usize> {
    if group.settings.protocol != Protocol::Amqp091 {
        return None;
    }
    let settles_each = group.batch.is_some_and(|(messages, ..)| messages == 1);
    processing(group).filter(|_| settles_each)?;
    let concurrency = group.processing.as_ref()?.concurrency;
    (concurrency > 1).then_some(concurrency)
}

/// Writes the limit of unacknowledged messages that MQTT 5 has. Else only the broker limits them.
fn limit_by_mqtt(lines: &mut Lines, group: &ReaderGroup, (version, qos): (Version, u8)) {
    match group.settings.prefetch {
        Prefetch::Consumer(count) if version == Version::V5 && qos > 0 => {
            lines.key("prefetch", &count.to_string());
        }
        _ => {}
    }
}

fn prefetch(lines: &mut Lines, group: &ReaderGroup) {
    match group.settings.prefetch {
        Prefetch::Consumer(count) => lines.key("prefetch", &count.to_string()),
        Prefetch::Channel(count) => lines.key("channel-prefetch", &count.to_string()),
        _ if group.settings.settling == Settling::Never => {}
        Prefetch::Unlimited if processing(group).is_none() && group.settings.forward.is_none() => {}
        Prefetch::Unlimited => {
            lines.comment("The client has no limit; here one is needed.");
            lines.key("prefetch", "65535");
        }
        Prefetch::Unknown => {
            lines.comment(
                "Assumed: the capture does not show the limit, only the most unsettled messages.",
            );
            lines.key("prefetch", &group.most_unsettled.clamp(1, 65_535).to_string());
        }
    }
}

/// Share of followed messages above which all are.
const ALL_FOLLOWED: f64 = 0.97;

/// Writes the message that a consumer publishes before it settles one.
fn forward(lines: &mut Lines, group: &ReaderGroup) {
    let Some(forward) = &group.settings.forward else { return };
    let share = group.followed_share;
    lines.comment(&format!(
        "{} of the messages are followed by one that the consumer publishes before it settles them.",
        percent(share)
    ));
    if forward.has_confirms {
        lines.comment("Not expressed: its messages have confirms.");
    }
    let mut entries = if forward.exchange.is_empty() {
        vec![format!("queue = {}", quoted(&forward.key))]
    } else {
        let exchange = format!("exchange = {}", quoted(&forward.exchange));
        vec![exchange, format!("routing-key = {}", quoted(&forward.key))]
    };
    entries.extend(forward.size.map(|bytes| format!("size = {}", size(bytes))));
    if forward.persistent {
        entries.push("persistent = true".to_owned());
    }
    if share < ALL_FOLLOWED {
        entries.push(format!("share = {}", figure(share)));
    }
    lines.key("forward", &format!("{{ {} }}", entries.join(", ")));
}

fn polling(lines: &mut Lines, group: &ReaderGroup) {
    lines.key("polling", "true");
    let Some((nanos, empty)) = group.polling else { return };
    lines.comment(&format!(
        "{}, {} of which found nothing.",
        counted(group.gets, "question"),
        percent(empty)
    ));
    lines.key("poll-interval", &time(nanos));
}

/// Returns the share of refused messages, and the share of these that goes back into the queue. None if a scenario does not
/// express it: all are treated alike, or in batches.
fn refused(group: &ReaderGroup) -> Option<(f64, f64)> {
    if group.settings.protocol != Protocol::Amqp091 {
        return None;
    }
    let shares = group.settled_shares;
    let is_single =
        group.batch.is_none_or(|(messages, frequent, _)| messages == 1 && frequent > 0.9);
    let is_mixed = shares.iter().filter(|share| **share > MIXED).count() > 1;
    let [_, requeues, discards] = shares.map(|share| if share > MIXED { share } else { 0.0 });
    let refused = requeues + discards;
    (is_mixed && is_single).then(|| (refused, requeues / refused))
}

/// Returns whether a group reads streams.
fn is_stream(model: &Model, group: &ReaderGroup) -> bool {
    let Source::Queues(set) = group.settings.source else { return false };
    let kind = model.sets.sets[set].queue.arguments.get("x-queue-type");
    matches!(kind, Some(FieldValue::Text(kind)) if kind == "stream")
}

fn settling(lines: &mut Lines, group: &ReaderGroup, is_stream: bool) {
    if let Some((share, requeued)) = refused(group) {
        lines.key("nack", "true");
        if requeued == 0.0 {
            lines.key("requeue", "false");
        } else if requeued < 1.0 {
            lines.key("requeue-share", &figure(requeued));
        }
        if share < 1.0 - MIXED {
            lines.key("nack-share", &figure(share));
        }
        return;
    }
    match group.settings.settling {
        Settling::Never if is_stream => {
            return lines.comment("Not expressed: the broker settles their messages.");
        }
        Settling::Never => return lines.key("auto-ack", "true"),
        Settling::Requeue => lines.key("nack", "true"),
        Settling::Discard => {
            lines.key("nack", "true");
            lines.key("requeue", "false");
        }
        Settling::Ack => {}
    }
    let Some((messages, frequent, mean)) = group.batch else { return };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at least one")]
    let every = if frequent >= 0.5 { messages } else { mean.round().max(1.0) as u64 };
    let limit = match group.settings.prefetch {
        Prefetch::Consumer(count) | Prefetch::Channel(count) => u64::from(count),
        _ => group.most_unsettled.max(1),
    };
    let every = every.min(limit);
    if every > 1 && !group.settings.is_polling {
        lines.key("multi-ack-every", &every.to_string());
    }
}
