//! Consumers: messages are ready, and the consumers hold as many as they may, do not read, or ask for one at a time.

use std::collections::{BTreeMap, BTreeSet};

use rabbitscope_text::grouped;
use rabbitscope_wire::report::{LatencyKind, SocketReport};

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{BusyReader, Case, ChannelCase, PolledQueue, QueueCase, QueueKind, Source};

/// Ready messages below which a queue has no backlog.
const MIN_READY: u64 = 20;

/// Used share of the prefetch from which consumers are the limit.
const FULL: f64 = 0.8;

/// Growth of the unacknowledged messages of a channel without prefetch, per second, from which its consumer is too slow.
const GROWTH: f64 = 50.0;

/// Part of the unacknowledged messages below which those at the clients do not explain the rate.
const AT_CLIENTS: f64 = 0.3;

/// Unacknowledged messages from which their place counts. With fewer, each round trip costs throughput.
const SEVERAL: u64 = 30;

/// Score of consumers whose messages wait in the node.
const IN_THE_NODE: f64 = 0.9;

/// The same for a stream. Its messages come in chunks, and none of them is a backlog.
const OF_A_STREAM: f64 = 0.8;

/// Part of the unacknowledged messages at clients of unknown prefetch, from which these take no more.
const MOSTLY: f64 = 0.8;

/// Score of clients of unknown prefetch. Whatever else explains the rate comes first.
const UNKNOWN_PREFETCH: f64 = 0.95;

/// Acknowledgements of a connection below which their times say nothing.
const MIN_ACKNOWLEDGED: u64 = 50;

/// Questions by `basic.get` below which a polled queue is not judged.
const MIN_GETS: u64 = 20;

/// Share of the time in which a reader must work.
const WORKING: f64 = 0.9;

/// Share of the time in which a client must leave no room.
const UNREAD: f64 = 0.5;

/// Share of the deliveries that must be repeated.
const REPEATED: f64 = 0.8;

/// Repeated deliveries below which nothing is judged.
const MIN_REPEATED: f64 = 100.0;

/// Judges the consumers of queues with a backlog.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = match (&case.queues, &case.clients) {
        (Ok(queues), Ok(clients)) => {
            let with_backlog =
                queues.rows.iter().filter(|queue| queue.ready >= MIN_READY && queue.consumers > 0);
            let full = with_backlog.filter_map(|queue| of_queue(case, queue, &clients.channels));
            full.chain(clients.channels.iter().filter_map(without_prefetch)).collect()
        }
        _ => Vec::new(),
    };
    found.extend(repeating(case));
    if let Ok(report) = &case.packets {
        let of_clients = report
            .sockets
            .iter()
            .filter(|one| case.peer_between(&one.local, &one.remote).is_none());
        found.extend(of_clients.filter_map(unread));
    }
    if let (Ok(queues), Some(turns)) = (&case.queues, &case.turns) {
        let is_found = |worker: &&BusyReader| {
            worker.queue.as_ref().is_none_or(|queue| found.iter().all(|one| one.subject != *queue))
        };
        let workers: Vec<&BusyReader> = turns.workers.iter().filter(is_found).collect();
        found.extend(workers.into_iter().filter_map(|worker| working(worker, &queues.rows)));
        found.extend(turns.polled.iter().filter_map(|polled| polling(polled, &queues.rows)));
    }
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(3);
    found
}

/// A reader that works on messages nearly all the time, of a stream or of a queue with a backlog.
fn working(worker: &BusyReader, rows: &[QueueCase]) -> Option<Candidate> {
    let is_its = |queue: &&QueueCase| match &worker.queue {
        Some(name) => {
            queue.name == *name && worker.vhost.as_ref().is_none_or(|vhost| *vhost == queue.vhost)
        }
        None => worker.reads_stream && queue.kind == QueueKind::Stream,
    };
    let mut its = rows.iter().filter(is_its);
    // Of several streams, an old reader may have any.
    let queue = its.next().filter(|_| worker.queue.is_some() || its.next().is_none());
    let reads_stream =
        worker.reads_stream || queue.is_some_and(|queue| queue.kind == QueueKind::Stream);
    let is_behind =
        || queue.is_some_and(|queue| queue.ready >= MIN_READY && queue.has_lasting_backlog());
    if !reads_stream && !is_behind() {
        return None;
    }
    let client = &worker.client;
    let (subject, what) = match queue {
        Some(queue) if reads_stream => (&queue.name, format!("messages of {}", queue.name)),
        Some(queue) => {
            let ready = grouped(queue.ready);
            (&queue.name, format!("messages of {}, and {ready} are ready", queue.name))
        }
        None => (client, "messages of a stream".to_owned()),
    };
    let sentence = format!("the reader {client} works nearly all the time on {what}");
    let figure = format!(
        "{} of its time, from each delivery to its acknowledgement or credit; {} messages",
        percent(worker.working),
        grouped(worker.messages),
    );
    let candidate =
        Candidate::new(LimitKind::Consumers, &**subject, worker.working, WORKING, sentence);
    let candidate = candidate.with(Source::Packets, figure);
    Some(if reads_stream { candidate } else { candidate.at_most(UNKNOWN_PREFETCH) })
}

/// A queue without consumers, whose messages clients ask for one by one and hardly ever in vain.
fn polling(polled: &PolledQueue, rows: &[QueueCase]) -> Option<Candidate> {
    let is_it = |queue: &&QueueCase| {
        queue.name == polled.queue
            && polled.vhost.as_ref().is_none_or(|vhost| *vhost == queue.vhost)
    };
    let queue = rows.iter().find(is_it)?;
    let is_behind = queue.consumers == 0 && queue.ready >= MIN_READY && queue.has_lasting_backlog();
    if polled.gets < MIN_GETS || !is_behind {
        return None;
    }
    let share = 1.0 - polled.empty as f64 / polled.gets as f64;
    let sentence = format!(
        "clients ask {} for one message at a time with basic.get, and {} are ready",
        queue.name,
        grouped(queue.ready),
    );
    let figure =
        format!("{} gets, {} of them in vain", grouped(polled.gets), grouped(polled.empty));
    Some(
        Candidate::new(LimitKind::Consumers, &*queue.name, share, FULL, sentence)
            .with(Source::Packets, figure),
    )
}

/// Consumers that hardly settle a message: they return it, or lose their connection first, so that it is delivered again.
fn repeating(case: &Case) -> Option<Candidate> {
    let rates = case.broker.as_ref().ok()?.rates;
    let (repeated, delivered) = (rates.redelivered?, rates.delivered?);
    let rows = &case.queues.as_ref().ok()?.rows;
    // Clients that come and go are away at times. Of a queue that no client reads, no message is repeated.
    let none_is_read = rows.iter().all(|queue| queue.consumers == 0);
    let is_read = |queue: &QueueCase| match queue.delivered_per_second {
        Some(delivered) => delivered > 0.0,
        None => queue.consumers > 0 || none_is_read,
    };
    let is_behind = |queue: &&QueueCase| {
        queue.kind != QueueKind::Stream
            && queue.ready >= MIN_READY
            && queue.has_lasting_backlog()
            && is_read(queue)
    };
    let mut behind = rows.iter().filter(is_behind);
    let (queue, others) = (behind.next()?, behind.count());
    // Of several queues, the counters of the node do not tell whose messages are repeated.
    let (subject, whose) = match others {
        0 => (queue.name.as_str(), format!("messages of {}", queue.name)),
        _ => ("", format!("messages of {} queues", others + 1)),
    };
    if repeated * case.subject.duration.as_secs_f64() < MIN_REPEATED {
        return None;
    }
    let sentence = format!(
        "clients return the {whose}, or leave without an acknowledgement, so that most deliveries are repeated"
    );
    let figure = format!("{repeated:.0} of {delivered:.0} deliveries a second are repeated");
    let share = repeated / delivered.max(repeated);
    let candidate = Candidate::new(LimitKind::Consumers, subject, share, REPEATED, sentence);
    Some(candidate.with(Source::Node, figure).at_most(UNKNOWN_PREFETCH))
}

fn of_queue(case: &Case, queue: &QueueCase, channels: &[ChannelCase]) -> Option<Candidate> {
    let of_queue = |channel: &&ChannelCase| {
        channel.vhost == queue.vhost && channel.consumed_queues.contains(&queue.name)
    };
    let consuming: Vec<&ChannelCase> = channels.iter().filter(of_queue).collect();
    let is_of_channels = consuming.iter().any(|channel| channel.global_prefetch > 0);
    let rooms = consuming.iter().filter_map(|channel| room(channel));
    let may_hold = match queue.permitted {
        Some(permitted) if !is_of_channels => permitted,
        _ => rooms.fold(0, u64::saturating_add),
    };
    let of_channels = consuming
        .iter()
        .filter(|channel| room(channel).is_some() && channel.consumed_queues.len() <= 1)
        .map(|channel| channel.unacknowledged)
        .fold(0, u64::saturating_add);
    let at_clients = at_clients(case, &consuming);
    // Without statistics, and of a channel with several queues, the queue alone knows. A stream does not.
    let of_queue = match queue.kind {
        QueueKind::Stream => at_clients.map_or(0, |at_clients| whole(at_clients).min(may_hold)),
        _ => queue.unacknowledged,
    };
    let held = of_channels.max(of_queue);
    if may_hold == 0 {
        return held_by_clients(case, queue, &consuming);
    }
    let share = held as f64 / may_hold as f64;
    let client =
        consuming.first().map_or_else(String::new, |channel| format!(" ({})", client(channel)));
    let sentence = format!(
        "the consumers of {}{client} hold {} of the {} messages that their prefetch permits, and {} are ready",
        queue.name,
        grouped(held),
        grouped(may_hold),
        grouped(queue.ready),
    );
    let mut candidate = Candidate::new(LimitKind::Consumers, &*queue.name, share, FULL, sentence)
        .with(Source::Node, format!("{held} unacknowledged of {may_hold} permitted"));
    if let Some(capacity) = queue.consumer_capacity {
        let figure =
            format!("the queue could deliver at once in {} of the time", percent(capacity));
        candidate = candidate.with(Source::Node, figure);
    }
    if let Some(at_clients) = at_clients {
        let figure = format!(
            "{at_clients:.0} of them at the clients, by the times of their acknowledgements"
        );
        let part = at_clients / held as f64;
        candidate = candidate.with(Source::Packets, figure).partly_outside(part);
        // Clients that acknowledge at once could take more. The node has not processed what they acknowledged.
        if part < AT_CLIENTS && held >= SEVERAL {
            let is_stream = queue.kind == QueueKind::Stream;
            candidate = candidate.at_most(if is_stream { OF_A_STREAM } else { IN_THE_NODE });
        }
    }
    Some(candidate)
}

/// Consumers of unknown prefetch, whose clients hold the unacknowledged messages nearly all the time.
fn held_by_clients(
    case: &Case,
    queue: &QueueCase,
    consuming: &[&ChannelCase],
) -> Option<Candidate> {
    let held = queue.unacknowledged;
    if held == 0 || !queue.has_lasting_backlog() {
        return None;
    }
    let at_clients = at_clients(case, consuming)?;
    let held = held.max(held_through(case, consuming));
    let sentence = format!(
        "clients work on the unacknowledged messages of {} nearly all the time, and {} are ready",
        queue.name,
        grouped(queue.ready),
    );
    let figure = format!(
        "{at_clients:.1} of {} messages are at the clients, by the times of their acknowledgements",
        grouped(held),
    );
    let share = at_clients / held as f64;
    let candidate = Candidate::new(LimitKind::Consumers, &*queue.name, share, MOSTLY, sentence);
    Some(candidate.with(Source::Packets, figure).at_most(UNKNOWN_PREFETCH))
}

/// Returns the mean number of messages that clients have not acknowledged yet, by Little's law. The others wait in the node.
/// None if packets do not show most of the channels.
fn at_clients(case: &Case, consuming: &[&ChannelCase]) -> Option<f64> {
    let report = case.packets.as_ref().ok()?;
    let of = |channel: &ChannelCase| {
        let (client, _) = channel.name.split_once(" -> ")?;
        let connection = report.connections.iter().find(|one| one.client == client)?;
        let times =
            connection.latencies.iter().find(|one| one.kind == LatencyKind::DeliverToAck)?;
        let seconds = connection.last.since(connection.first).as_secs_f64();
        let rate = connection.messages.delivered as f64 / seconds;
        let is_enough = times.percentiles.count >= MIN_ACKNOWLEDGED && seconds >= 1.0;
        is_enough.then_some((client.to_owned(), rate * times.mean / 1e9))
    };
    let known: Vec<(String, f64)> = consuming.iter().filter_map(|channel| of(channel)).collect();
    let is_most = 2 * known.len() > consuming.len();
    // A connection may have several of the channels.
    let by_client: BTreeMap<String, f64> = known.into_iter().collect();
    is_most.then(|| by_client.values().sum())
}

/// Returns the unacknowledged messages of all queues that the clients of these channels consume: packets show those of a
/// connection together.
fn held_through(case: &Case, consuming: &[&ChannelCase]) -> u64 {
    let client = |channel: &ChannelCase| {
        channel.name.split_once(" -> ").map(|(client, _)| client.to_owned())
    };
    let clients: BTreeSet<String> = consuming.iter().filter_map(|one| client(one)).collect();
    let (Ok(all), Ok(queues)) = (&case.clients, &case.queues) else { return 0 };
    let is_theirs =
        |channel: &&ChannelCase| client(channel).is_some_and(|one| clients.contains(&one));
    let channels: Vec<&ChannelCase> = all.channels.iter().filter(is_theirs).collect();
    let is_consumed = |queue: &&QueueCase| {
        let consumes = |channel: &&ChannelCase| {
            channel.vhost == queue.vhost && channel.consumed_queues.contains(&queue.name)
        };
        channels.iter().any(consumes)
    };
    let consumed = queues.rows.iter().filter(is_consumed);
    consumed.fold(0, |sum, queue| sum.saturating_add(queue.unacknowledged))
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "saturates")]
fn whole(mean: f64) -> u64 {
    mean.round() as u64
}

/// Returns the number of messages that a channel may hold; none without a limit.
const fn room(channel: &ChannelCase) -> Option<u64> {
    let by_consumer = match channel.prefetch {
        Some(0) | None => None,
        Some(each) => Some(each.saturating_mul(channel.consumers)),
    };
    match (by_consumer, channel.global_prefetch) {
        (Some(room), 0) => Some(room),
        (None, 0) => None,
        (Some(room), global) if room < global => Some(room),
        (_, global) => Some(global),
    }
}

fn without_prefetch(channel: &ChannelCase) -> Option<Candidate> {
    let growth = channel.unacknowledged_growth;
    if room(channel).is_some() || channel.consumers == 0 || growth < GROWTH {
        return None;
    }
    let delivered = channel.delivered_per_second.unwrap_or(growth).max(growth);
    let share = growth / delivered;
    let sentence = format!(
        "{} takes messages without limit and leaves {} unacknowledged, {growth:.0} more each second",
        client(channel),
        grouped(channel.unacknowledged),
    );
    Some(
        Candidate::new(LimitKind::Consumers, client(channel), share, 0.3, sentence)
            .with(Source::Node, format!("{} unacknowledged", grouped(channel.unacknowledged))),
    )
}

/// A client that leaves its window full does not read what the broker sends.
fn unread(socket: &SocketReport) -> Option<Candidate> {
    let (limited, busy) = (socket.receiver_limited?, socket.busy?);
    let is_unread = socket.of_broker && !socket.outgoing && busy >= 0.3 && limited >= 0.5 * busy;
    is_unread.then(|| {
        let sentence = format!("the client {} does not read what the broker sends", socket.remote);
        let figure = format!("its window is full in {} of the time", percent(limited));
        Candidate::new(LimitKind::Consumers, &*socket.remote, limited, UNREAD, sentence)
            .with(Source::Sockets, figure)
    })
}

/// Returns the client's own name, or that of its channel.
fn client(channel: &ChannelCase) -> String {
    if channel.client.is_empty() { channel.name.clone() } else { channel.client.clone() }
}
