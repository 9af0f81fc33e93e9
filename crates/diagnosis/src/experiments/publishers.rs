//! Publishers of a case.

use rabbitscope_wire::report::{PacketReport, Side};

use super::{
    focus::Focus,
    load::{Confirms, Figure, MAX_MEMBERS, MAX_RATE, MAX_SIZE, Publishers, part, whole},
};
use crate::case::{Blocker, Case, ChannelCase, QueueCase};

/// Bytes of a published message besides its body: method, header and frames with short names.
const ENVELOPE: f64 = 70.0;
/// Bytes of an AMQP frame besides its payload.
const FRAME: u64 = 8;
/// Size of a message in bytes, if it is unknown.
const ASSUMED_SIZE: u64 = 1_000;
/// Smallest size with a stamp, which measures latencies.
const MIN_SIZE: u64 = 12;
/// Messages per second, if they are unknown.
const ASSUMED_RATE: f64 = 1_000.0;
/// Unconfirmed messages, if they are unknown.
const ASSUMED_WINDOW: u64 = 100;

/// Returns the publishers into these queues.
pub(super) fn publishers(case: &Case, queues: &[&QueueCase], focus: &Focus<'_>) -> Publishers {
    let channels = publishing(case, focus);
    let (count, connections) = members(case, queues, &channels);
    let is_persistent = queues.first().is_none_or(|queue| queue.is_durable);
    Publishers {
        connections: Figure::at_most(connections.min(count.value), MAX_MEMBERS, "connections"),
        count,
        size_bytes: size(case, &channels),
        is_persistent,
        confirms: confirms(case, &channels),
        rate: Some(rate(case, queues)),
    }
}

/// Returns the channels that publish: those of the finding, else all.
fn publishing<'a>(case: &'a Case, focus: &Focus<'a>) -> Vec<&'a ChannelCase> {
    let publishes =
        |channel: &&ChannelCase| channel.published_per_second.is_some_and(|rate| rate > 0.0);
    let own: Vec<&ChannelCase> = focus.channels.iter().copied().filter(publishes).collect();
    if !own.is_empty() {
        return own;
    }
    let all = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    all.iter().filter(publishes).collect()
}

/// Returns the numbers of publishing channels and of their connections.
fn members(case: &Case, queues: &[&QueueCase], channels: &[&ChannelCase]) -> (Figure<u64>, u64) {
    let mut connections: Vec<&str> = channels.iter().map(|channel| &*channel.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    let share = share_of_messages(case, queues);
    let connections = part(connections.len() as u64, share);
    match (waiting(case, queues), channels.len() as u64) {
        (0, 0) => match publishing_on_the_wire(case) {
            0 => (Figure::noted(1, "assumed: no publishing channel was seen"), 1),
            number => (Figure::at_most(number, MAX_MEMBERS, "publishing connections"), number),
        },
        (0, publishing) => {
            let count = part(publishing, share);
            (Figure::at_most(count, MAX_MEMBERS, "publishing channels"), connections)
        }
        (waiting, _) => (Figure::at_most(waiting, MAX_MEMBERS, "waiting channels"), connections),
    }
}

/// Returns the number of connections on the wire that publish. A node without statistics has no rates of channels.
fn publishing_on_the_wire(case: &Case) -> u64 {
    let Ok(packets) = &case.packets else { return 0 };
    packets.connections.iter().filter(|connection| connection.messages.published > 0).count() as u64
}

/// Returns the number of channels that wait for these queues.
fn waiting(case: &Case, queues: &[&QueueCase]) -> u64 {
    let is_one = |blocker: &Blocker| {
        queues.iter().any(|queue| match blocker {
            Blocker::Process(pid) => !pid.is_empty() && *pid == queue.pid,
            Blocker::Queue(vhost, name) => *vhost == queue.vhost && *name == queue.name,
            Blocker::Other(_) => false,
        })
    };
    let Ok(flow) = &case.flow else { return 0 };
    let waiting = flow.processes.iter().filter(|process| {
        process.role == "channel" && process.blocked_by.iter().any(|(blocker, _)| is_one(blocker))
    });
    waiting.count() as u64
}

/// Returns the share of all published messages that these queues get. 1 if it is unknown.
fn share_of_messages(case: &Case, queues: &[&QueueCase]) -> f64 {
    let all = case.queues.as_ref().map_or(&[][..], |queues| &queues.rows);
    let sum: f64 = all.iter().filter_map(published).sum();
    let own: f64 = queues.iter().filter_map(|queue| published(queue)).sum();
    if own > 0.0 && sum > own { own / sum } else { 1.0 }
}

fn published(queue: &QueueCase) -> Option<f64> {
    queue.published_per_second.filter(|rate| rate.is_finite() && *rate > 0.0)
}

fn rate(case: &Case, queues: &[&QueueCase]) -> Figure<f64> {
    let of_queues: f64 = queues.iter().filter_map(|queue| published(queue)).sum();
    let of_node = case.broker.as_ref().ok().and_then(|broker| broker.rates.published);
    let of_node = of_node.filter(|rate| rate.is_finite() && *rate >= 0.001);
    // A look at many queues may miss rates of some.
    let part_of_node = of_node.map_or(0.0, |rate| rate * share_of_messages(case, queues));
    let observed = if of_queues >= 0.001 { Some(of_queues.max(part_of_node)) } else { of_node };
    match observed {
        None => Figure::noted(ASSUMED_RATE, "assumed: no message was published"),
        Some(rate) if rate > MAX_RATE => {
            Figure::noted(MAX_RATE, format!("the observed rate was {:.0} a second", rate.min(1e12)))
        }
        Some(rate) => Figure::seen(rate),
    }
}

/// Returns the size of a body: from frames, else from received bytes.
fn size(case: &Case, channels: &[&ChannelCase]) -> Figure<u64> {
    if let Some(bytes) = case.packets.as_ref().ok().and_then(body_bytes) {
        return Figure::noted(bytes.clamp(MIN_SIZE, MAX_SIZE), "mean of the bodies");
    }
    match bytes_per_message(case, channels) {
        Some(bytes) => {
            let size = whole(bytes - ENVELOPE, MAX_SIZE).max(MIN_SIZE);
            Figure::noted(size, "received bytes for each published message, less its frames")
        }
        None => Figure::noted(ASSUMED_SIZE, "assumed"),
    }
}

fn body_bytes(packets: &PacketReport) -> Option<u64> {
    /// Fewest messages.
    const MESSAGES: u64 = 20;
    let from_client = |kind: &'static str| {
        packets.frames.iter().filter(move |row| row.from == Side::Client && row.kind == kind)
    };
    let published: u64 =
        from_client("basic.publish").map(|row| row.frames).fold(0, u64::saturating_add);
    let bodies =
        from_client("body").map(|row| row.bytes.saturating_sub(row.frames.saturating_mul(FRAME)));
    let bytes = bodies.fold(0, u64::saturating_add);
    (published >= MESSAGES).then(|| bytes / published)
}

/// Returns the received bytes for each message, over the connections of these channels.
fn bytes_per_message(case: &Case, channels: &[&ChannelCase]) -> Option<f64> {
    let connections = &case.clients.as_ref().ok()?.connections;
    let of_channels = connections
        .iter()
        .filter(|connection| channels.iter().any(|channel| channel.connection == connection.pid));
    let bytes: f64 =
        of_channels.filter_map(|connection| connection.received_bytes_per_second).sum();
    let messages: f64 = channels.iter().filter_map(|channel| channel.published_per_second).sum();
    let each = bytes / messages;
    (messages >= 1.0 && each.is_finite() && each > 0.0).then_some(each)
}

/// Returns the answers that most of the messages wait for.
fn confirms(case: &Case, channels: &[&ChannelCase]) -> Confirms {
    let rate = |channel: &&&ChannelCase| channel.published_per_second.unwrap_or(0.0);
    let confirming = || channels.iter().filter(|channel| channel.is_confirming);
    let of_confirming: f64 = confirming().map(|channel| rate(&channel)).sum();
    let of_all: f64 = channels.iter().map(|channel| rate(&channel)).sum();
    let on_the_wire = case.packets.as_ref().ok().and_then(|packets| {
        packets.connections.iter().map(|connection| connection.messages.max_unconfirmed).max()
    });
    if channels.is_empty() {
        return Confirms::Window(match on_the_wire {
            None | Some(0) => Figure::noted(ASSUMED_WINDOW, "assumed"),
            Some(number) => Figure::noted(number.min(100_000), "the most of a channel"),
        });
    }
    if !(of_confirming * 2.0 >= of_all && confirming().next().is_some()) {
        return Confirms::No;
    }
    let at_the_end = confirming().map(|channel| channel.unconfirmed).max().unwrap_or(0);
    Confirms::Window(match (on_the_wire.unwrap_or(0), at_the_end) {
        (0, 0..=1) => Figure::noted(ASSUMED_WINDOW, "assumed: one look showed hardly any"),
        (0, number) => Figure::noted(number.min(100_000), "the most of a channel, at the end"),
        (number, _) => Figure::noted(number.min(100_000), "the most of a channel"),
    })
}
