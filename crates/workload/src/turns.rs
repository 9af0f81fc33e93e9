//! Clients that do one thing after the other: publishers that wait for answers, and clients that ask for single messages.

use core::{cmp::Reverse, net::SocketAddr};
use std::collections::{BTreeMap, BTreeSet};

use crate::{
    figures::GapSample,
    groups::{Arrival, Loop, is_paced, most},
    observe::{ConfirmMode, Flows, PublishFlow, ReadFlow},
    topology::canonical,
};

/// Messages below which a publisher is not judged.
const MIN_MESSAGES: u64 = 50;

/// Round trip from which a client is far, in nanoseconds.
const FAR_NANOS: u64 = 1_000_000;

/// Pauses of a far client below which nothing is said, and the share of them that must end a round trip after an answer.
const MIN_PAUSES: usize = 20;
const MOSTLY: f64 = 0.8;

/// Maximum of polled queues in a result.
const QUEUES_MAX: usize = 100;

/// Clients that do one thing after the other.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Turns {
    /// Time between the first and the last packet, in seconds.
    pub seconds: f64,
    /// Messages of all publishers, also of those that do not wait.
    pub published: u64,
    /// Publishers that send when the broker has answered, the one with the most messages first.
    pub publishers: Vec<WaitingPublisher>,
    /// Queues that clients ask for single messages, the one with the most questions first.
    pub polled: Vec<PolledQueue>,
}

/// An answer that a publisher waits for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Answer {
    /// Of the broker to a message.
    Confirm,
    /// Of the broker to `tx.commit`.
    Commit,
    /// Of another client to a request.
    Reply,
}

/// A publisher that sends when the broker has answered.
#[derive(Clone, Debug, PartialEq)]
pub struct WaitingPublisher {
    /// Address of the client.
    pub client: SocketAddr,
    /// Messages.
    pub messages: u64,
    /// The answer that it waits for.
    pub answer: Answer,
    /// Most messages without a confirm; none if they are unknown.
    pub window: Option<u32>,
    /// Part of the time between messages in which it waits, 0 to 1. The rest is its own.
    pub waiting: f64,
}

/// A queue that clients ask for single messages with `basic.get`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PolledQueue {
    /// Virtual host; none if it is unknown.
    pub vhost: Option<String>,
    /// Name.
    pub queue: String,
    /// Address of the client that asks most.
    pub client: SocketAddr,
    /// Questions.
    pub gets: u64,
    /// Questions that found the queue empty.
    pub empty: u64,
}

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
        let mut publishers: Vec<WaitingPublisher> = self
            .publishes
            .iter()
            .filter(can_wait)
            .filter_map(|flow| waiting(flow, is_alone(flow), round_trip))
            .collect();
        publishers.sort_by_key(|one| (Reverse(one.messages), one.client));
        let (published, _) = self.messages();
        let seconds = self.last.saturating_sub(self.first) as f64 / 1e9;
        Turns { seconds, published, publishers, polled: polled(&self.reads) }
    }
}

/// Judges a flow. Answers are those of its connection, so that only a flow that is alone there has all of them.
fn waiting(
    flow: &PublishFlow,
    is_alone: bool,
    round_trip: &dyn Fn(SocketAddr) -> Option<u64>,
) -> Option<WaitingPublisher> {
    let answer = match flow.mode {
        _ if flow.is_request => Answer::Reply,
        ConfirmMode::Confirms => Answer::Confirm,
        ConfirmMode::Transactions => Answer::Commit,
        ConfirmMode::Off => return None,
    };
    if flow.messages < MIN_MESSAGES {
        return None;
    }
    let arrival = Arrival::new(&flow.gaps, &[&flow.counts], flow.messages);
    let looped = Loop::new((&flow.samples, &flow.gaps), &flow.unconfirmed, arrival);
    // The longest pauses may be the client's own, for lack of CPU time.
    let client = canonical(flow.client?);
    let on_the_way = round_trip(client).unwrap_or_default();
    let pauses = flow.samples.samples();
    let waits = looped.is_closed || is_alone && (is_paced(pauses) || is_far(pauses, on_the_way));
    waits.then_some(WaitingPublisher {
        client,
        messages: flow.messages,
        answer,
        window: most(&flow.unconfirmed).filter(|_| answer == Answer::Confirm),
        waiting: waiting_part(pauses, on_the_way),
    })
}

/// Returns whether most pauses end a round trip after an answer, as those of a far client that sends when it has one.
fn is_far(pauses: &[GapSample], round_trip: u64) -> bool {
    let (least, most) = (round_trip / 10 * 9, round_trip / 10 * 13);
    let after_one = |pause: &&GapSample| (least..=most).contains(&pause.since_answer);
    let count = pauses.iter().filter(after_one).count();
    round_trip >= FAR_NANOS
        && pauses.len() >= MIN_PAUSES
        && count as f64 >= MOSTLY * pauses.len() as f64
}

/// Returns the part of the pauses in which an answer is made or under way.
fn waiting_part(pauses: &[GapSample], round_trip: u64) -> f64 {
    let (mut all, mut own) = (0.0, 0.0);
    for pause in pauses {
        all += pause.nanos as f64;
        own += pause.nanos.min(pause.since_answer.saturating_sub(round_trip)) as f64;
    }
    if all > 0.0 { 1.0 - own / all } else { 0.0 }
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
                (one.client, *most) = (canonical(client), flow.gets);
            }
        } else if found.len() < QUEUES_MAX {
            let (vhost, queue) = (flow.vhost.clone(), queue.clone());
            let client = canonical(client);
            let one = PolledQueue { vhost, queue, client, gets: flow.gets, empty: flow.empty };
            found.push((one, flow.gets));
        }
    }
    found.sort_by_key(|(one, _)| Reverse(one.gets));
    found.into_iter().map(|(one, _)| one).collect()
}
