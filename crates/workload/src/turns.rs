//! Clients that do one thing after the other: publishers that wait for answers, clients that ask for single messages, and
//! readers that work all the time.

use core::{cmp::Reverse, net::SocketAddr};
use std::collections::{BTreeMap, BTreeSet};

use rabbitscope_wire::turns::{Answer, BusyReader, PolledQueue, Turns, WaitingPublisher};

use crate::{
    figures::{GapSample, Values},
    groups::{Arrival, Loop, is_alternating, is_paced, most},
    observe::{ConfirmMode, Flows, Protocol, PublishFlow, ReadFlow, Records},
    topology::canonical,
};

/// Messages below which a publisher is not judged.
const MIN_MESSAGES: u64 = 50;

/// Round trip from which a client is far, in nanoseconds.
const FAR_NANOS: u64 = 1_000_000;

/// Pauses of a far client below which nothing is said, and the share of them that must end a round trip after an answer.
const MIN_PAUSES: usize = 20;
const MOSTLY: f64 = 0.8;

/// Part of the time from which a publisher perhaps waits, if it has an answer before each message.
const PERHAPS: f64 = 0.5;

/// Maximum of polled queues in a result.
const QUEUES_MAX: usize = 100;

/// Part of the time from which a reader works most of it, and the maximum of such readers in a result.
const WORKING: f64 = 0.5;
/// Part of the deliveries that must have waited for a settlement.
const MOST: f64 = 0.5;
const WORKERS_MAX: usize = 100;

impl Flows {
    /// Returns the clients that do one thing after the other. A client that publishes and reads on one connection may wait
    /// for messages to process, so it is left out unless it calls others.
    ///
    /// `round_trip` is the time in nanoseconds from the node to a client and back: an answer takes a part of it to the
    /// client, and the next message the rest.
    pub fn turns(&self, round_trip: &dyn Fn(SocketAddr) -> Option<u64>) -> Turns {
        let reading: BTreeSet<u64> = self.reads.iter().map(|flow| flow.connection).collect();
        let can_wait =
            |flow: &&PublishFlow| flow.is_request || !reading.contains(&flow.key.connection);
        let mut flows: BTreeMap<u64, usize> = BTreeMap::new();
        for flow in &self.publishes {
            *flows.entry(flow.key.connection).or_default() += 1;
        }
        let is_alone = |flow: &PublishFlow| flows.get(&flow.key.connection) == Some(&1);
        let mut publishers = Vec::new();
        let mut perhaps = 0;
        for flow in self.publishes.iter().filter(can_wait) {
            match waiting(flow, is_alone(flow), round_trip) {
                Waits::Yes(publisher) => publishers.push(publisher),
                Waits::Perhaps => perhaps += flow.messages,
                Waits::No => {}
            }
        }
        let hidden = || self.records.iter().filter(|(_, records)| publishes(records));
        for (client, records) in hidden() {
            match waiting_behind_tls(*client, records, round_trip) {
                Waits::Yes(publisher) => publishers.push(publisher),
                Waits::Perhaps => perhaps += records.count,
                Waits::No => {}
            }
        }
        publishers.sort_by(|one, other| {
            other.messages.cmp(&one.messages).then_with(|| one.client.cmp(&other.client))
        });
        let published = self
            .publishes
            .iter()
            .filter(|flow| !flow.is_reply)
            .map(|flow| flow.messages)
            .sum::<u64>()
            + hidden().map(|(_, records)| records.count).sum::<u64>();
        let seconds = self.last.saturating_sub(self.first) as f64 / 1e9;
        let (polled, workers) = (polled(&self.reads), workers(&self.reads, seconds));
        Turns { seconds, published, publishers, perhaps, polled, workers }
    }
}

/// Returns readers that take one message after the other. Times of several messages at once do not add up.
fn workers(reads: &[ReadFlow], seconds: f64) -> Vec<BusyReader> {
    let worker = |flow: &ReadFlow| {
        let working = (flow.working as f64 / 1e9 / seconds).min(1.0);
        let is_single = flow.overtaking.concurrency() <= 1;
        // Who settles rarely has messages all the time, without work.
        let is_behind = flow.prompt as f64 >= MOST * flow.arrivals as f64;
        let is_enough = flow.deliveries >= MIN_MESSAGES && working >= WORKING;
        (is_single && is_behind && is_enough).then_some(BusyReader {
            client: canonical(flow.client?).to_string(),
            vhost: flow.vhost.clone(),
            queue: flow.known_queue().map(str::to_owned),
            reads_stream: flow.protocol == Protocol::Stream,
            messages: flow.deliveries,
            working,
        })
    };
    let mut found: Vec<BusyReader> = reads.iter().filter_map(worker).collect();
    found.sort_by_key(|one| Reverse(one.messages));
    found.truncate(WORKERS_MAX);
    found
}

/// Whether a publisher waits for answers.
enum Waits {
    Yes(WaitingPublisher),
    Perhaps,
    No,
}

/// Judges a flow. Answers are those of its connection, so that only a flow that is alone there has all of them.
fn waiting(
    flow: &PublishFlow,
    is_alone: bool,
    round_trip: &dyn Fn(SocketAddr) -> Option<u64>,
) -> Waits {
    let answer = match flow.mode {
        _ if flow.is_request => Answer::Reply,
        ConfirmMode::Confirms => Answer::Confirm,
        ConfirmMode::Transactions => Answer::Commit,
        ConfirmMode::Off => return Waits::No,
    };
    if flow.messages < MIN_MESSAGES {
        return Waits::No;
    }
    let Some(client) = flow.client.map(canonical) else { return Waits::No };
    let arrival = Arrival::new(&flow.gaps, &[&flow.counts], flow.messages);
    let looped = Loop::new((&flow.samples, &flow.gaps), &flow.unconfirmed, arrival);
    let pauses = Pauses {
        samples: flow.samples.samples(),
        round_trip: round_trip(client).unwrap_or_default(),
        is_alone,
    };
    let window = most(&flow.unconfirmed).filter(|_| answer == Answer::Confirm);
    let (messages, waiting) = (flow.messages, pauses.waiting());
    let client = client.to_string();
    pauses.waits(&looped, WaitingPublisher { client, messages, answer, window, waiting })
}

/// Returns whether a client behind TLS publishes: it sends more than it gets.
const fn publishes(records: &Records) -> bool {
    records.count >= MIN_MESSAGES && records.bytes > records.answer_bytes
}

/// Judges the records of a client. Their times are those of its writes.
fn waiting_behind_tls(
    client: SocketAddr,
    records: &Records,
    round_trip: &dyn Fn(SocketAddr) -> Option<u64>,
) -> Waits {
    let arrival = Arrival::new(&records.gaps, &[&records.counts], records.count);
    let looped = Loop::new((&records.samples, &records.gaps), &Values::default(), arrival);
    let round_trip = round_trip(client).unwrap_or_default();
    let pauses = Pauses { samples: records.samples.samples(), round_trip, is_alone: true };
    let (messages, waiting) = (records.count, pauses.waiting());
    let (client, answer, window) = (client.to_string(), Answer::Hidden, None);
    pauses.waits(&looped, WaitingPublisher { client, messages, answer, window, waiting })
}

/// Pauses of a publisher.
struct Pauses<'a> {
    samples: &'a [GapSample],
    /// Time to the client and back, in nanoseconds.
    round_trip: u64,
    /// True if all answers of the connection are to this publisher.
    is_alone: bool,
}

impl Pauses<'_> {
    fn waits(&self, looped: &Loop, publisher: WaitingPublisher) -> Waits {
        // The longest pauses may be the client's own, for lack of CPU time.
        let is_late = || is_paced(self.samples) || self.is_far();
        if looped.is_closed || self.is_alone && is_late() {
            return Waits::Yes(publisher);
        }
        let is_doubtful = publisher.waiting >= PERHAPS && is_alternating(self.samples);
        if is_doubtful { Waits::Perhaps } else { Waits::No }
    }

    /// Returns whether most pauses end a round trip after an answer, as those of a far client that sends when it has one.
    fn is_far(&self) -> bool {
        let (least, most) = (self.round_trip / 10 * 9, self.round_trip / 10 * 13);
        let after_one = |pause: &&GapSample| (least..=most).contains(&pause.since_answer);
        let count = self.samples.iter().filter(after_one).count();
        self.round_trip >= FAR_NANOS
            && self.samples.len() >= MIN_PAUSES
            && count as f64 >= MOSTLY * self.samples.len() as f64
    }

    /// Returns the part of the pauses in which an answer is made or under way.
    fn waiting(&self) -> f64 {
        let (mut all, mut own) = (0.0, 0.0);
        for pause in self.samples {
            all += pause.nanos as f64;
            own += pause.nanos.min(pause.since_answer.saturating_sub(self.round_trip)) as f64;
        }
        if all > 0.0 { 1.0 - own / all } else { 0.0 }
    }
}

fn polled(reads: &[ReadFlow]) -> Vec<PolledQueue> {
    let mut found: Vec<(PolledQueue, u64)> = Vec::new();
    for flow in reads.iter().filter(|flow| flow.gets > 0) {
        let (Some(queue), Some(client)) = (&flow.queue, flow.client) else { continue };
        let is_it =
            |(one, _): &&mut (PolledQueue, u64)| (&one.vhost, &one.queue) == (&flow.vhost, queue);
        if let Some((one, most)) = found.iter_mut().find(is_it) {
            one.gets += flow.gets;
            one.empty += flow.empty;
            if flow.gets > *most {
                (one.client, *most) = (canonical(client).to_string(), flow.gets);
            }
        } else if found.len() < QUEUES_MAX {
            let (vhost, queue) = (flow.vhost.clone(), queue.clone());
            let client = canonical(client).to_string();
            let one = PolledQueue { vhost, queue, client, gets: flow.gets, empty: flow.empty };
            found.push((one, flow.gets));
        }
    }
    found.sort_by_key(|(one, _)| Reverse(one.gets));
    found.into_iter().map(|(one, _)| one).collect()
}
