//! Consumers of a case.

use rabbitscope_wire::report::{LatencyKind, PacketReport};

use super::{
    focus::Focus,
    load::{Consumers, Figure, MAX_MEMBERS, Settling, whole},
};
use crate::case::{Case, ChannelCase, QueueCase, QueueKind};

/// Largest prefetch of AMQP.
const MAX_PREFETCH: u64 = 65_535;
/// Prefetch of streams, which need one.
const STREAM_PREFETCH: u64 = 100;
/// Time in microseconds below which the load generator's own work is as long.
const LEAST_PROCESSING_US: u64 = 200;
/// Longest time in microseconds for which a consumer works on a message.
const MOST_PROCESSING_US: u64 = 1_000_000;
/// Longest time in microseconds between the gets of a client.
const MOST_PAUSE_US: u64 = 60_000_000;

/// Returns the consumers of these queues. `None` if there are none.
pub(super) fn consumers(
    case: &Case,
    kind: QueueKind,
    queues: &[&QueueCase],
    focus: &Focus<'_>,
) -> Option<Consumers> {
    let channels = reading(case, queues, focus);
    let of_queues: u64 = queues.iter().map(|queue| queue.consumers).fold(0, u64::saturating_add);
    let of_channels = channels.iter().map(|channel| channel.consumers).fold(0, u64::saturating_add);
    let are_meant = focus.channels.iter().any(|channel| channel.consumers > 0);
    let observed = if are_meant { of_channels } else { of_queues.max(of_channels) };
    if observed == 0 {
        let has_gets = kind != QueueKind::Stream && channels.iter().any(|one| gets(one) > 0.0);
        return has_gets.then(|| pollers(case, focus)).flatten();
    }
    let settling = settling(case, kind, &channels);
    let count = Figure::at_most(observed, MAX_MEMBERS, "consumers");
    let mut connections: Vec<&str> = channels.iter().map(|channel| &*channel.connection).collect();
    connections.sort_unstable();
    connections.dedup();
    let connections = (connections.len() as u64).clamp(1, count.value);
    let processing_us = processing(case, &settling);
    Some(Consumers { connections: Figure::seen(connections), count, settling, processing_us })
}

/// Returns the clients that poll: those of the finding, else all. `None` if no gets were counted.
pub(super) fn pollers(case: &Case, focus: &Focus<'_>) -> Option<Consumers> {
    let all = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    let polls = |channel: &&ChannelCase| gets(channel) > 0.0;
    let own: Vec<&ChannelCase> = focus.channels.iter().copied().filter(polls).collect();
    let polling = if own.is_empty() { all.iter().filter(polls).collect() } else { own };
    let of_channels: f64 = polling.iter().map(|channel| gets(channel)).sum();
    let rates = case.broker.as_ref().ok().map(|broker| broker.rates);
    let of_node = rates.map(|rates| [rates.got, rates.get_empty].into_iter().flatten().sum());
    let gets = if of_channels > 0.0 { of_channels } else { of_node.unwrap_or(0.0) };
    if !(gets.is_finite() && gets > 0.0) {
        return None;
    }
    let count = match polling.len() as u64 {
        0 => Figure::noted(1, "assumed: no polling channel was seen"),
        number => Figure::at_most(number, MAX_MEMBERS, "polling channels"),
    };
    let pause_us = whole(count.value as f64 * 1e6 / gets, MOST_PAUSE_US);
    let pause_us = Figure::noted(pause_us, "from the gets of a client per second");
    let (connections, processing_us) = (Figure::seen(count.value), Figure::seen(0));
    Some(Consumers { count, connections, settling: Settling::Polling { pause_us }, processing_us })
}

/// Returns the channels that read these queues: those of the finding, else all.
fn reading<'a>(case: &'a Case, queues: &[&QueueCase], focus: &Focus<'a>) -> Vec<&'a ChannelCase> {
    let reads = |channel: &ChannelCase| channel.consumers > 0 || gets(channel) > 0.0;
    let own: Vec<&ChannelCase> =
        focus.channels.iter().copied().filter(|channel| reads(channel)).collect();
    if !own.is_empty() {
        return own;
    }
    let all = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    let is_of_queue = |channel: &&ChannelCase| {
        let named = || &channel.consumed_queues;
        let consumes =
            |queue: &QueueCase| queue.vhost == channel.vhost && named().contains(&queue.name);
        gets(channel) > 0.0 || queues.iter().any(|queue| consumes(queue))
    };
    all.iter().filter(|channel| reads(channel)).filter(is_of_queue).collect()
}

fn gets(channel: &ChannelCase) -> f64 {
    let rates = [channel.got_per_second, channel.get_empty_per_second];
    rates.into_iter().flatten().filter(|rate| rate.is_finite() && *rate > 0.0).sum()
}

/// Returns the acknowledgements of most of the consumers, with the smallest prefetch.
fn settling(case: &Case, kind: QueueKind, channels: &[&ChannelCase]) -> Settling {
    let all: u64 = channels.iter().map(|one| one.consumers).fold(0, u64::saturating_add);
    let without: u64 =
        channels.iter().map(|one| one.consumers_without_ack).fold(0, u64::saturating_add);
    if without.saturating_mul(2) > all && kind != QueueKind::Stream {
        return Settling::Automatic;
    }
    let limits = channels.iter().filter_map(|channel| {
        let own = channel.prefetch.filter(|limit| *limit > 0);
        own.or(Some(channel.global_prefetch).filter(|limit| *limit > 0))
    });
    let prefetch = match (limits.min(), kind) {
        (Some(limit), _) => Figure::seen(limit.min(MAX_PREFETCH)),
        (None, QueueKind::Stream) => Figure::noted(STREAM_PREFETCH, "assumed: a stream needs one"),
        (None, _) => match unacknowledged_on_the_wire(case) {
            Some(most) if channels.iter().all(|channel| channel.prefetch.is_none()) => {
                Figure::noted(most, "the most unacknowledged messages of a channel")
            }
            _ => Figure::seen(0),
        },
    };
    let each = messages_per_ack(case);
    let each = match prefetch.value {
        0 => each,
        limit => Figure { value: each.value.min(limit), ..each },
    };
    Settling::Acknowledged { prefetch, each }
}

/// Returns the most unacknowledged messages of a channel, if they are few enough to be a limit. A node without
/// statistics has no rows of channels.
fn unacknowledged_on_the_wire(case: &Case) -> Option<u64> {
    /// Fewest deliveries of a connection.
    const DELIVERIES: u64 = 100;
    /// Largest limit that a check sees reached.
    const LIMIT: u64 = 1_000;
    let connections = &case.packets.as_ref().ok()?.connections;
    let reading = connections.iter().filter(|one| one.messages.delivered >= DELIVERIES);
    let most = reading.map(|connection| connection.messages.max_unacknowledged).max()?;
    (1..=LIMIT).contains(&most).then_some(most)
}

/// Returns the number of messages that an acknowledgement settles.
fn messages_per_ack(case: &Case) -> Figure<u64> {
    /// Fewest acknowledgements.
    const ACKS: u64 = 20;
    let sums = case.packets.as_ref().ok().map(|packets| {
        let messages = packets.connections.iter().map(|connection| &connection.messages);
        messages.fold((0_u64, 0_u64), |(delivered, acks), one| {
            (delivered.saturating_add(one.delivered), acks.saturating_add(one.acks))
        })
    });
    match sums {
        Some((delivered, acks)) if acks >= ACKS => {
            Figure::noted((delivered / acks).clamp(1, 1_000), "messages for each acknowledgement")
        }
        _ => Figure::noted(1, "assumed"),
    }
}

/// Returns the time of a consumer for a message, from the time between delivery and acknowledgement.
fn processing(case: &Case, settling: &Settling) -> Figure<u64> {
    let Settling::Acknowledged { prefetch, each } = settling else { return Figure::seen(0) };
    let Some(micros) = case.packets.as_ref().ok().and_then(time_to_ack) else {
        return Figure::noted(0, "assumed: the time for a message is unknown");
    };
    // Prefetched messages wait for those before them. Without a limit their number is unknown.
    let micros = match prefetch.value {
        0 => 0,
        limit => micros / limit.max(each.value).max(1),
    };
    if micros < LEAST_PROCESSING_US {
        return Figure::noted(0, "the consumers are as quick as these");
    }
    let note = "from the time between delivery and acknowledgement, less a round trip";
    Figure::noted(micros.min(MOST_PROCESSING_US), note)
}

/// Returns the median time from delivery to acknowledgement, less a round trip, in microseconds.
fn time_to_ack(packets: &PacketReport) -> Option<u64> {
    let found = packets.latencies.iter().find(|one| one.kind == LatencyKind::DeliverToAck)?;
    Some(found.percentiles.p50.saturating_sub(round_trip(packets)) / 1_000)
}

/// Returns the mean of the smallest round trips to consumers, weighted by their deliveries, in nanoseconds. The mean round
/// trip of a capture includes the work of consumers, which acknowledge a segment with their next message.
fn round_trip(packets: &PacketReport) -> u64 {
    let trips = packets.smallest_round_trips();
    let (mut deliveries, mut sum) = (0, 0);
    for connection in &packets.connections {
        let Some(trip) = trips.get(connection.client.as_str()) else { continue };
        deliveries += u128::from(connection.messages.delivered);
        sum += u128::from(*trip) * u128::from(connection.messages.delivered);
    }
    u64::try_from(sum / deliveries.max(1)).unwrap_or(u64::MAX)
}
