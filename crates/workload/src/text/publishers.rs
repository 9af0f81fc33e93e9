//! Groups of publishers, and of callers.

use super::{
    content, keys,
    lines::{Lines, counted, figure, percent, size, time, time_text},
    protocols, streams,
};
use crate::{
    groups::{Arrival, Model, PublisherGroup, Target, Window},
    observe::{ConfirmMode, Protocol},
};

/// Number of messages below which a rate may be off by more than 3 %.
const RATE_MESSAGES: u64 = 8_500;
/// Number of messages below which sizes may be off by more than 0.05 of their distribution.
const SIZE_MESSAGES: u64 = 1_500;

pub(super) fn write(lines: &mut Lines, model: &Model) {
    for group in &model.publishers {
        lines.blank();
        match &group.settings.target {
            Target::Queues(set) if group.is_of_requests() => requests(lines, model, group, *set),
            _ => publishers(lines, model, group),
        }
    }
}

fn publishers(lines: &mut Lines, model: &Model, group: &PublisherGroup) {
    origin(lines, model, group, "publisher");
    content::comments(lines, group);
    lines.table("publishers");
    lines.text("name", &group.name);
    protocols::write(lines, group.settings.protocol);
    layout(lines, group);
    keys::target(lines, model, group);
    content::sizes(lines, group);
    streams::publishing(lines, group);
    if group.settings.mandatory {
        lines.key("mandatory", "true");
    }
    content::properties(lines, group);
    content::way_of_writing(lines, group);
    promise(lines, group);
    schedule(lines, group);
    if let Some(messages) = group.stops_after {
        lines.comment("They stopped long before the observation ended.");
        lines.key("messages", &messages.to_string());
    }
}

/// Writes the number, the programs and the messages of a group.
fn origin(lines: &mut Lines, model: &Model, group: &PublisherGroup, thing: &str) {
    let product = program(&group.settings.product);
    let (count, connections, observed_rate) = group.observed;
    let each = if count > 1 { " each" } else { "" };
    lines.comment(&format!(
        "{}{} on {}{product}: {} in {} s, {} a second{each}{}.",
        counted(count as u64, thing),
        protocols::by(group.settings.protocol),
        counted(connections as u64, "connection"),
        counted(group.messages, "message"),
        figure(model.seconds),
        figure(observed_rate),
        spread(group),
    ));
    scaled(lines, group);
    few_messages(lines, group);
    if group.active_share < 0.8 && group.messages > 10 {
        lines.comment(&format!(
            "Active in at most {} of the time; the rate is that of the active time.",
            percent(group.active_share)
        ));
    }
}

/// Says how far the rate of a member differs from the observed one.
fn scaled(lines: &mut Lines, group: &PublisherGroup) {
    let factor = group.rate / group.observed.2;
    if !group.looped.is_closed && (factor - 1.0).abs() > 0.005 {
        lines.comment(&format!("Scaled: {} of the observed rate each.", percent(factor)));
    }
}

/// Says which figures have too few messages. The rate of a timer has no noise, and one size needs no shares.
fn few_messages(lines: &mut Lines, group: &PublisherGroup) {
    let is_random = !matches!(group.arrival, Arrival::Constant | Arrival::Bursts { .. });
    if is_random && !group.looped.is_closed && group.messages < RATE_MESSAGES {
        lines.comment(&format!("The rate is rough: {RATE_MESSAGES} messages would fix it to 3 %."));
    }
    if group.sizes.single().is_none() && group.messages < SIZE_MESSAGES {
        lines
            .comment(&format!("Sizes are rough: {SIZE_MESSAGES} messages would fix their shares."));
    }
}

/// Returns the name of the clients' program for a comment.
pub(super) fn program(product: &str) -> String {
    if product.is_empty() { String::new() } else { format!(" of {}", product.escape_debug()) }
}

fn spread(group: &PublisherGroup) -> String {
    let (slowest, fastest) = group.spread;
    if group.observed.0 < 2 || fastest - slowest < 0.1 {
        return String::new();
    }
    format!(", from {} to {} of that", percent(slowest), percent(fastest))
}

fn layout(lines: &mut Lines, group: &PublisherGroup) {
    match group.settings.protocol {
        Protocol::Mqtt { .. } => clients(lines, group.count),
        Protocol::Amqp10 | Protocol::Stream => {
            links(lines, (group.count, group.connections), group.settings.protocol);
        }
        Protocol::Amqp091 => {
            members(lines, group.host.as_deref(), (group.count, group.connections, group.channels));
        }
    }
}

/// Members of a connection: sessions of AMQP 1.0 that RabbitMQ permits, and publishers or readers of streams with a number.
const SESSIONS: usize = 64;
const NUMBERS: usize = 255;

/// Writes the number of members and connections, each of which has as many members as it can have at most.
pub(super) fn links(lines: &mut Lines, (count, connections): (usize, usize), protocol: Protocol) {
    let most = if protocol == Protocol::Amqp10 { SESSIONS } else { NUMBERS };
    let connections = connections.max(count.div_ceil(most)).min(count);
    if count > 1 {
        lines.number("count", count);
    }
    if connections > 1 {
        lines.number("connections", connections);
    }
}

/// Writes the number of clients of MQTT, each of which has a connection.
pub(super) fn clients(lines: &mut Lines, count: usize) {
    if count > 1 {
        lines.number("count", count);
    }
}

/// Writes the number of members, connections and channels, as far as they are not the default.
pub(super) fn members(
    lines: &mut Lines,
    host: Option<&str>,
    (count, connections, channels): (usize, usize, usize),
) {
    if count > 1 {
        lines.number("count", count);
    }
    match host {
        Some(host) => lines.text("connections-of", host),
        None if connections > 1 => lines.number("connections", connections),
        None => {}
    }
    if channels < count.div_ceil(connections.max(1)) {
        lines.number("channels", channels.max(1));
    }
}

/// Writes confirms or transactions.
fn promise(lines: &mut Lines, group: &PublisherGroup) {
    match group.settings.mode {
        ConfirmMode::Off if group.settings.protocol == Protocol::Amqp10 => {
            lines.comment("Not expressed: their messages were settled when they were sent.");
        }
        ConfirmMode::Off => {}
        ConfirmMode::Transactions => {
            lines.key("tx-size", &figure(group.per_commit.round().max(1.0)));
        }
        ConfirmMode::Confirms => confirms(lines, group),
    }
}

fn confirms(lines: &mut Lines, group: &PublisherGroup) {
    let is_closed = group.looped.is_closed;
    match group.window {
        Window::Limit(1) if !is_closed => {
            lines.comment(
                "Never more than 1 unconfirmed: a client that waits for each confirm and then for something else, or \
                 a timer. Both load a fast broker alike.",
            );
            lines.key("confirm-window", "1");
        }
        Window::Limit(window) => lines.key("confirm-window", &window.to_string()),
        Window::Unreached(most) if is_closed => lines.key("confirm-window", &most.to_string()),
        Window::Unreached(most) => {
            lines.comment(&format!("At most {most} were unconfirmed, which was no limit."));
            lines.key("confirms", "true");
        }
        Window::AtLeast(window) if is_closed => {
            lines.comment("At least: the capture does not show the numbers of the publishes.");
            lines.key("confirm-window", &window.max(1).to_string());
        }
        Window::AtLeast(_) => lines.key("confirms", "true"),
    }
}

fn schedule(lines: &mut Lines, group: &PublisherGroup) {
    if let Some(share) = group.looped.driven_share.filter(|_| group.looped.is_closed) {
        let (share, full) = (percent(share), percent(group.looped.full_share));
        if group.settings.mode == ConfirmMode::Confirms {
            lines.comment(&format!(
                "Closed loop, as fast as answers come: {share} of the pauses end soon after one, {full} begin with a \
                 full window."
            ));
            return limit(lines, group);
        }
        lines.comment(&format!(
            "Not expressed: {share} of the pauses end soon after a delivery, which this rate does not follow."
        ));
    }
    if group.looped.is_paced {
        lines.comment(
            "Not expressed: each message follows the confirm of the one before after about the same time. Here they \
             have a rate, which does not fall if confirms are late.",
        );
        return rate(lines, group, false);
    }
    match group.arrival {
        Arrival::Bursts { messages, period } => {
            let every = time(period * 1e9);
            lines.key(
                "phases",
                &format!("[{{ for = \"1h\", burst = {messages}, every = {every} }}]"),
            );
        }
        Arrival::Poisson => rate(lines, group, true),
        Arrival::Constant => rate(lines, group, false),
        Arrival::Unknown => {
            lines.comment("Too few messages to tell a timer from independent ones.");
            rate(lines, group, false);
        }
        Arrival::Unseen => {
            lines.comment("The times of messages were not seen; independent ones are assumed.");
            rate(lines, group, true);
        }
        Arrival::Irregular(dispersion) => {
            lines.comment(&format!(
                "Not expressed: burstier than independent messages (index of dispersion {}).",
                figure(dispersion)
            ));
            rate(lines, group, true);
        }
    }
}

/// Writes the upper limit of a closed loop that was scaled down.
fn limit(lines: &mut Lines, group: &PublisherGroup) {
    if let Some(rate) = group.rate_limit {
        lines.comment("Scaled: at most this rate, which the observed clients did not have.");
        lines.key("rate", &figure(rate.clamp(0.001, 1e7)));
    }
}

fn rate(lines: &mut Lines, group: &PublisherGroup, is_poisson: bool) {
    lines.key("rate", &figure(group.rate.clamp(0.001, 1e7)));
    if is_poisson {
        lines.text("arrival", "poisson");
    } else if group.takes_turns {
        lines.comment("Their timers take turns.");
    } else if group.count > 1 {
        lines.key("random-start-delay", &time((1e9 / group.rate.max(0.001)).min(6e10)));
    }
}

fn requests(lines: &mut Lines, model: &Model, group: &PublisherGroup, set: usize) {
    origin(lines, model, group, "caller");
    lines.table("requests");
    lines.text("name", &group.name);
    layout(lines, group);
    match &group.keys.shares[..] {
        [(queue, _)] => lines.text("queue", queue),
        _ => lines.text("queue", &model.sets.sets[set].name),
    }
    if !model.has_direct_replies {
        lines.text("reply", "queue");
    }
    if group.sizes.single().is_none() {
        lines.comment(&format!(
            "Not expressed: sizes differ ({}).",
            content::describe(&group.sizes)
        ));
    }
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a size")]
    let mean = group.sizes.mean.round() as u64;
    lines.key("size", &size(group.sizes.single().unwrap_or(mean)));
    if group.settings.persistent {
        lines.key("persistent", "true");
    }
    content::way_of_writing(lines, group);
    let driven = group.looped.driven_share.filter(|_| group.looped.is_closed);
    if let Some(share) = driven {
        lines.comment(&format!(
            "Closed loop: {} of the requests go soon after an answer. One open request each is assumed.",
            percent(share)
        ));
        return limit(lines, group);
    }
    lines.key("rate", &figure(group.rate.clamp(0.001, 1e7)));
    if matches!(group.arrival, Arrival::Poisson | Arrival::Unseen | Arrival::Irregular(_)) {
        lines.text("arrival", "poisson");
    }
}

/// Returns the observed times of processing for a comment.
pub(super) fn times(times: [f64; 4]) -> String {
    let [p10, p50, p90, p99] = times.map(time_text);
    format!("p10 {p10}, p50 {p50}, p90 {p90}, p99 {p99}")
}
