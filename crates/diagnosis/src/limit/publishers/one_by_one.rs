//! Publishers that wait for the confirm of each message before the next one.
//!
//! Packets show their turns: a publish, its confirm, the next publish. The time from publish to confirm is the broker's,
//! the time from there to the next publish the client's. A publisher whose window is full takes turns too, so at most two
//! messages may be unconfirmed, by the numbers of its publishes or by the statistics of its channel. Without both, strict
//! turns must do.

use rabbitscope_text::short_time;
use rabbitscope_wire::report::{ConnectionReport, LatencyKind, PacketReport};

use crate::{
    case::{Case, ChannelCase, Source, WaitingPublisher},
    limit::{Candidate, LimitKind, candidate::percent},
};

/// Publishes below which a connection is not judged.
const MIN_PUBLISHES: u64 = 50;

/// Unconfirmed messages up to which a publisher works one by one.
const ONE_BY_ONE: u64 = 2;

/// Share of the publishes that must be a turn. The capture may lose some. A publisher with a clock does not wait for a
/// late confirm.
const TURNS: f64 = 0.9;

/// Share of a publisher's time that it must wait for confirms.
const WAITING: f64 = 0.5;

/// Share from which waiting for each confirm still costs a fast client something.
const COSTS: f64 = 0.15;

/// Pause between a confirm and the next publish, in nanoseconds, up to which a client is fast. A slower one works by a
/// clock, or has little to send.
const PAUSE_NANOS: f64 = 5e6;

/// Round trip from which a client is far, in nanoseconds.
const FAR_NANOS: u64 = 1_000_000;

/// Score that names publishers, but not with certainty: they lose most time themselves, or may have more unconfirmed.
const PERHAPS: f64 = 0.95;

/// Score of fast publishers that lose nearly all the time themselves, or do not send when a confirm comes. It makes the
/// absence of a limit less certain.
const DOUBTFUL: f64 = 0.85;

/// Score of publishers by a clock: more at once would gain them nothing.
const BY_CLOCK: f64 = 0.5;

/// Share of the published messages that must come from such publishers. With less than half of them, the messages of a relay,
/// which publishes each one again, do not decide.
const OF_ALL: f64 = 0.4;

/// A publisher that waits for each confirm. Times are means of a message, in nanoseconds.
#[derive(Clone, Copy, Debug)]
struct Publisher<'a> {
    connection: &'a ConnectionReport,
    wait: f64,
    /// The way of the confirm to a far client, and that of the next message. The pause has no part of it.
    way: f64,
    pause: f64,
    /// True if it is known that no more messages were unconfirmed.
    is_known: bool,
}

/// Judges the publishers together, if most messages come from those that wait for each confirm.
pub(in crate::limit) fn candidates(case: &Case) -> Vec<Candidate> {
    let judged = case.packets.as_ref().ok().and_then(|report| together(case, report));
    judged.into_iter().collect()
}

fn together(case: &Case, report: &PacketReport) -> Option<Candidate> {
    let waiting = case.turns.as_ref().map_or(&[][..], |turns| &turns.publishers);
    // Confirms of several messages at once hide the others from the numbers of a connection that is older than the capture.
    let is_wide =
        |one: &WaitingPublisher| one.window.is_some_and(|most| u64::from(most) > ONE_BY_ONE);
    let is_narrow = |connection: &&ConnectionReport| {
        !waiting.iter().any(|one| one.client == connection.client && is_wide(one))
    };
    let channels = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    let all: f64 = report.connections.iter().map(|one| one.messages.published as f64).sum();
    let ways = report.smallest_round_trips();
    let way = |one: &ConnectionReport| ways.get(one.client.as_str()).copied().unwrap_or_default();
    let found: Vec<Publisher<'_>> = report
        .connections
        .iter()
        .filter(is_narrow)
        .filter_map(|one| publisher(one, channels, case.turns.is_some(), way(one)))
        .collect();
    let weight = |one: &Publisher<'_>| one.connection.messages.published as f64;
    let published: f64 = found.iter().map(weight).sum();
    let first = found.iter().max_by_key(|one| one.connection.messages.published)?;
    if published < OF_ALL * all {
        return None;
    }
    let mean = |part: fn(&Publisher<'_>) -> f64| {
        found.iter().map(|one| part(one) * weight(one)).sum::<f64>() / published
    };
    let times = [mean(|one| one.wait), mean(|one| one.way), mean(|one| one.pause)];
    let is_known = found.iter().all(|one| one.is_known);
    let candidate = judged(times, is_known, (first, found.len()));
    // Those that do not send when an answer comes only look as if they waited for it: a clock is as fast.
    let waits = |one: &&Publisher<'_>| {
        case.turns.is_none() || waiting.iter().any(|other| other.client == one.connection.client)
    };
    let of_waiting: f64 = found.iter().filter(waits).map(weight).sum();
    Some(if of_waiting < OF_ALL * published { candidate.at_most(DOUBTFUL) } else { candidate })
}

fn judged(
    [wait, way, pause]: [f64; 3],
    is_known: bool,
    (first, count): (&Publisher<'_>, usize),
) -> Candidate {
    let client = &first.connection.client;
    let share = (wait + way) / (wait + way + pause).max(1.0);
    let who = if count == 1 { client.clone() } else { format!("{count} publishers") };
    let verb = if count == 1 { "waits" } else { "wait" };
    let own = if share < WAITING {
        let verb = if count == 1 { "takes" } else { "take" };
        format!(", and {verb} most of the time in between: a clock, or work of the client")
    } else {
        String::new()
    };
    let sentence = format!("{who} {verb} for the confirm of each message before the next one{own}");
    let doubt = if is_known { "" } else { "; the number of unconfirmed messages is unknown" };
    let of_broker = percent(wait / (wait + way + pause).max(1.0));
    let on_the_way = if way > 0.0 {
        format!(", {} on the way to the client and back", short_time(nanos(way)))
    } else {
        String::new()
    };
    let figure = format!(
        "{} from publish to confirm{on_the_way}, {} from there to the next publish: the broker has {of_broker} of the \
         time{doubt}",
        short_time(nanos(wait)),
        short_time(nanos(pause)),
    );
    let candidate = Candidate::new(LimitKind::Publishers, &**client, share, WAITING, sentence)
        .with(Source::Packets, figure);
    let candidate = candidate.at_least(match pause <= PAUSE_NANOS {
        true if share >= COSTS => PERHAPS,
        true => DOUBTFUL,
        false => BY_CLOCK,
    });
    if is_known { candidate } else { candidate.at_most(PERHAPS) }
}

fn publisher<'a>(
    connection: &'a ConnectionReport,
    channels: &[ChannelCase],
    has_turns: bool,
    way: u64,
) -> Option<Publisher<'a>> {
    let messages = &connection.messages;
    let is_of_client = |row: &&ChannelCase| is_of(&connection.client, &row.name);
    let rows = || channels.iter().filter(is_of_client).filter(|row| row.is_confirming);
    let unconfirmed = rows().map(|row| row.unconfirmed).max().unwrap_or_default();
    let most = messages.max_unconfirmed.max(unconfirmed);
    if messages.published < MIN_PUBLISHES || messages.confirms == 0 || most > ONE_BY_ONE {
        return None;
    }
    // Without their numbers, packets do not show the unconfirmed messages.
    let is_known =
        messages.max_unconfirmed > 0 || rows().next().is_some() || messages.takes_turns();
    let (wait, pause) = times(connection, has_turns)?;
    let way = if way >= FAR_NANOS { pause.min(way as f64) } else { 0.0 };
    Some(Publisher { connection, wait, way, pause: pause - way, is_known })
}

/// Returns the mean times of a message: from publish to confirm, and from there to the next publish. Without turns, and where
/// no other judgement has them, mean latencies must do.
fn times(connection: &ConnectionReport, has_turns: bool) -> Option<(f64, f64)> {
    let messages = &connection.messages;
    if messages.turns as f64 >= TURNS * (messages.published - 1) as f64 {
        let turns = messages.turns as f64;
        let (wait, pause) = (messages.turn_wait_nanos, messages.turn_pause_nanos);
        return Some((wait as f64 / turns, pause as f64 / turns));
    }
    // Reports of earlier versions have no turns, and other protocols have none.
    if messages.turns > 0 || has_turns {
        return None;
    }
    let is_wait =
        |kind| matches!(kind, LatencyKind::PublishToConfirm | LatencyKind::PublishToConfirmAtLeast);
    let mut latencies = connection.latencies.iter().filter(|one| is_wait(one.kind));
    let wait = latencies.find(|one| one.percentiles.count > 0)?.mean;
    let seen = connection.last.since(connection.first).as_nanos() as f64;
    let interval = seen * connection.channels.max(1) as f64 / messages.published as f64;
    Some((wait, (interval - wait).max(0.0)))
}

/// Returns whether a channel's name, `host:port -> host:port (number)`, begins with the client's address.
fn is_of(client: &str, channel: &str) -> bool {
    channel.split_once(" -> ").is_some_and(|(from, _)| from == client)
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "a positive number of nanoseconds"
)]
const fn nanos(mean: f64) -> u64 {
    mean as u64
}
