//! Consumers whose prefetch is too small to keep them busy.

use rabbitscope_text::{counted, grouped};

use super::unacknowledged::advice;
use crate::{
    case::{Case, ChannelCase, QueueCase, Queues},
    finding::{Evidence, Severity},
    rules::{
        draft::Draft,
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the time in which the queue could deliver at once, below which it waits for its consumers.
const CAPACITY: f64 = 0.7;
/// Prefetch from which it seldom is the limit.
const ENOUGH: u64 = 30;
/// Messages per second for each allowed one. Slower consumers work on a message for longer than a round trip takes.
const TURNS: f64 = 100.0;
/// Acknowledgements for each delivery, below which the consumer returns its messages: a loop has no use for a prefetch.
const ACKNOWLEDGED: f64 = 0.5;
/// Fewest deliveries in the time.
const DELIVERIES: f64 = 500.0;
/// Fewest ready messages of the queue.
const READY: u64 = 100;

pub(crate) const RULE: Rule = Rule {
    name: "low-prefetch",
    title: "prefetch of consumers",
    meaning: "a small prefetch keeps a consumer waiting for round trips although messages are ready",
    needs: &[Need::Clients, Need::Queues],
    minimum: Minimum { seconds: 5, counts: "500 deliveries to a channel, 100 ready messages" },
    threshold: "prefetch below 30, consumer capacity below 70 %, 100 messages a second for each allowed one, and half of them acknowledged: warning",
    change: "a prefetch of 100 to 300",
    source: "RabbitMQ documentation, consumer acknowledgements: channel prefetch and throughput",
    find,
};

fn find(case: &Case) -> Judged {
    let (clients, queues) = (case.clients.as_ref()?, case.queues.as_ref()?);
    let seconds = case.subject.duration.as_secs_f64();
    let acknowledging = || {
        clients.channels.iter().filter(|channel| {
            channel.consumers > channel.consumers_without_ack && channel.prefetch.is_some()
        })
    };
    let is_counted = |channel: &&ChannelCase| {
        channel.delivered_per_second.is_some_and(|rate| rate * seconds >= DELIVERIES)
    };
    if acknowledging().next().is_some() && !acknowledging().any(|channel| is_counted(&channel)) {
        return Err(NotJudged::new(format!(
            "no channel had {DELIVERIES} deliveries in {seconds:.0} s"
        )));
    }
    let mut slow: Vec<(&ChannelCase, &QueueCase)> = acknowledging()
        .filter(is_counted)
        .filter(|channel| is_small(channel) && is_acknowledging(channel))
        .filter_map(|channel| Some((channel, waiting_queue(queues, channel)?)))
        .collect();
    slow.sort_by_key(|(_, queue)| std::cmp::Reverse(queue.ready));
    Ok(slow.first().map(|worst| draft(case, &slow, worst)).into_iter().collect())
}

/// Returns whether a prefetch is small, and its messages are acknowledged as fast as round trips allow. The number of
/// unacknowledged messages says nothing: the node writes it every few seconds, at any point of a round trip.
fn is_small(channel: &ChannelCase) -> bool {
    let Some(prefetch) = channel.prefetch.filter(|prefetch| (1..ENOUGH).contains(prefetch)) else {
        return false;
    };
    let of_consumers = prefetch.saturating_mul(channel.consumers);
    let allowed = match channel.global_prefetch {
        0 => of_consumers,
        global => of_consumers.min(global),
    } as f64;
    channel.delivered_per_second.is_some_and(|rate| rate >= TURNS * allowed)
}

/// Returns whether a channel acknowledges what it gets, as far as that is known.
fn is_acknowledging(channel: &ChannelCase) -> bool {
    let rates = channel.acknowledged_per_second.zip(channel.delivered_per_second);
    rates.is_none_or(|(acknowledged, delivered)| acknowledged >= ACKNOWLEDGED * delivered)
}

/// Returns a queue of the channel that has messages and waits for its consumers.
fn waiting_queue<'a>(queues: &'a Queues, channel: &ChannelCase) -> Option<&'a QueueCase> {
    let of_channel = queues.rows.iter().filter(|queue| {
        queue.vhost == channel.vhost && channel.consumed_queues.contains(&queue.name)
    });
    let mut waiting = of_channel.filter(|queue| {
        queue.ready >= READY && queue.consumer_capacity.is_some_and(|share| share < CAPACITY)
    });
    waiting.next()
}

fn draft(
    case: &Case,
    slow: &[(&ChannelCase, &QueueCase)],
    (channel, queue): &(&ChannelCase, &QueueCase),
) -> Draft {
    let prefetch = channel.prefetch.unwrap_or(0);
    let (client, name) = (names::channel(channel), names::queue(queue));
    let sentence =
        format!("a prefetch of {prefetch} keeps {client} waiting although {name} has messages");
    let subjects = slow.iter().map(|(channel, _)| names::channel(channel)).collect();
    Draft::new(Severity::Warning, subjects, sentence)
        .all_evidence(figures(Look::node(case), channel, queue))
        .advice(advice())
}

fn figures(look: Look, channel: &ChannelCase, queue: &QueueCase) -> [Evidence; 3] {
    let rate = look::rate(channel.delivered_per_second.unwrap_or(0.0), "messages");
    let capacity = look::percent(queue.consumer_capacity.unwrap_or(0.0));
    let prefetch = channel.prefetch.unwrap_or(0);
    let consumers = counted(channel.consumers, "consumer");
    let unacknowledged = grouped(channel.unacknowledged);
    [
        look.says(format!("{rate} to {consumers} with prefetch {prefetch}")),
        look.ends(format!("{unacknowledged} unacknowledged, {} ready", grouped(queue.ready))),
        look.says(format!("{} could deliver at once {capacity} of the time", names::queue(queue))),
    ]
}
