//! Figures of the whole node, as the module on it sends them. Figures that a release does not have are absent.

use std::{collections::BTreeMap, time::Duration};

use rabbitscope_diagnosis::MessageRates;
use rabbitscope_erlang::Term;

/// Kinds of memory that the VM distinguishes and that do not overlap.
const MEMORY_KINDS: [&str; 5] = ["processes", "binary", "ets", "code", "atom"];

/// Figures of a node at one time.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct NodeFigures {
    /// True if `collect_statistics` is `none`: queues and connections write nothing into the node's tables.
    pub is_without_statistics: bool,
    /// Messages since the node started.
    pub messages: Option<MessageCounters>,
    /// The node's queues. Absent if the broker keeps no statistics, or the budget has not allowed a reading yet.
    pub queues: Option<QueueTotals>,
    /// Number of client connections.
    pub connections: Option<u64>,
    /// Number of channels.
    pub channels: Option<u64>,
    /// Number of consumers.
    pub consumers: Option<u64>,
    /// Number of connections that are slowed down or blocked. Absent if the broker keeps no statistics.
    pub in_flow: Option<u64>,
    /// Bytes per kind; the kinds add up to all memory of the VM.
    pub memory_bytes: Vec<(&'static str, u64)>,
    /// Memory at which the node raises its alarm.
    pub memory_limit_bytes: Option<u64>,
    /// Free space on the disk with the node's data.
    pub disk_free_bytes: Option<u64>,
    /// Raised alarms of this node, such as `memory`. Absent if the node did not answer.
    pub alarms: Option<Vec<String>>,
    /// Number of Erlang processes.
    pub processes: Option<u64>,
    /// Number of processes and ports that wait for a scheduler.
    pub run_queue: Option<u64>,
    /// All numbers of the answer by their path: `run_queue`, `queues.ready`, `memory.binary`. A list also has its
    /// length: `alarms`.
    pub numbers: BTreeMap<String, u64>,
}

/// Messages since the node started.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct MessageCounters {
    /// Messages that clients published.
    pub published: u64,
    /// Messages confirmed to publishers.
    pub confirmed: u64,
    /// Messages delivered to consumers, including redeliveries.
    pub delivered: u64,
    /// Messages that consumers acknowledged.
    pub acknowledged: u64,
    /// Messages that were delivered again.
    pub redelivered: u64,
    /// Messages that no queue accepted.
    pub unroutable: u64,
}

impl MessageCounters {
    /// Returns the messages per second since an earlier reading. Absent are those of a counter that began again.
    pub fn rates_since(&self, earlier: &Self, elapsed: Duration) -> MessageRates {
        let rate = |of: fn(&Self) -> u64| {
            let messages = of(self).checked_sub(of(earlier))?;
            (!elapsed.is_zero()).then(|| messages as f64 / elapsed.as_secs_f64())
        };
        MessageRates {
            published: rate(|counters| counters.published),
            confirmed: rate(|counters| counters.confirmed),
            delivered: rate(|counters| counters.delivered),
            acknowledged: rate(|counters| counters.acknowledged),
            redelivered: rate(|counters| counters.redelivered),
            unroutable: rate(|counters| counters.unroutable),
            ..MessageRates::default()
        }
    }
}

/// All queues whose leader is on the node.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct QueueTotals {
    /// Number of queues.
    pub count: u64,
    /// Messages ready for delivery.
    pub ready: u64,
    /// Messages that wait for an acknowledgement.
    pub unacknowledged: u64,
    /// The longest queues, at most [`MAX_NAMED_QUEUES`](super::MAX_NAMED_QUEUES), the longest first.
    pub longest: Vec<QueueDepth>,
}

/// A queue and its messages.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct QueueDepth {
    /// Virtual host of the queue.
    pub vhost: String,
    /// Name of the queue.
    pub name: String,
    /// Messages, ready or not.
    pub messages: u64,
}

impl NodeFigures {
    /// Reads the answer of the module. Also returns the node's time for it in microseconds.
    pub(super) fn from_term(answer: &Term) -> Option<(Self, u64)> {
        let number = |key: &str| answer.get(key).and_then(Term::as_u64);
        let took_us = number("took_us")?;
        let figures = Self {
            is_without_statistics: answer
                .get("statistics")
                .is_some_and(|statistics| statistics.is_atom("none")),
            messages: answer.get("counters").and_then(counters),
            queues: answer.get("queues").and_then(queues),
            connections: number("connections"),
            channels: number("channels"),
            consumers: number("consumers"),
            in_flow: number("flow"),
            memory_bytes: answer.get("memory").and_then(memory).unwrap_or_default(),
            memory_limit_bytes: number("memory_limit"),
            disk_free_bytes: number("disk_free"),
            alarms: answer.get("alarms").and_then(alarms),
            processes: number("processes"),
            run_queue: number("run_queue"),
            numbers: numbers(answer),
        };
        Some((figures, took_us))
    }
}

/// Returns the numbers of the answer, and of its maps and lists of pairs.
fn numbers(answer: &Term) -> BTreeMap<String, u64> {
    let mut numbers = BTreeMap::new();
    let Term::Map(parts) = answer else { return numbers };
    for (name, part) in parts {
        let Some(name) = name.as_atom() else { continue };
        let (whole, pairs) = match part {
            Term::Map(pairs) => (None, pairs.iter().map(|(key, value)| (key, value)).collect()),
            Term::List(items) => {
                (Some(items.len() as u64), items.iter().filter_map(pair).collect())
            }
            other => (other.as_u64(), Vec::new()),
        };
        let of_pair = |(key, value): (&Term, &Term)| {
            Some((format!("{name}.{}", key.as_atom()?), value.as_u64()?))
        };
        numbers.extend(whole.map(|number| (name.to_owned(), number)));
        numbers.extend(pairs.into_iter().filter_map(of_pair));
    }
    numbers
}

fn pair(item: &Term) -> Option<(&Term, &Term)> {
    let [key, value] = item.as_tuple()? else { return None };
    Some((key, value))
}

fn counters(answer: &Term) -> Option<MessageCounters> {
    let number = |key: &str| answer.get(key)?.as_u64();
    Some(MessageCounters {
        published: number("published")?,
        confirmed: number("confirmed")?,
        delivered: number("delivered")?,
        acknowledged: number("acknowledged")?,
        redelivered: number("redelivered")?,
        unroutable: number("unroutable")?,
    })
}

fn queues(answer: &Term) -> Option<QueueTotals> {
    let number = |key: &str| answer.get(key)?.as_u64();
    let longest = answer.get("longest")?.as_list()?.iter().map(|queue| {
        let [vhost, name, messages] = queue.as_tuple()? else { return None };
        Some(QueueDepth {
            vhost: vhost.to_text()?,
            name: name.to_text()?,
            messages: messages.as_u64()?,
        })
    });
    let mut longest = longest.collect::<Option<Vec<_>>>()?;
    longest.sort_by(|a, b| b.messages.cmp(&a.messages).then_with(|| a.cmp(b)));
    Some(QueueTotals {
        count: number("count")?,
        ready: number("ready")?,
        unacknowledged: number("unacknowledged")?,
        longest,
    })
}

/// Reads a proplist of the VM, in which kinds overlap: `system` includes most of the others.
pub(crate) fn memory(answer: &Term) -> Option<Vec<(&'static str, u64)>> {
    let pairs = answer.as_list()?;
    let of = |wanted: &str| {
        pairs.iter().find_map(|pair| match pair.as_tuple()? {
            [kind, bytes] if kind.is_atom(wanted) => bytes.as_u64(),
            _ => None,
        })
    };
    let mut kinds: Vec<_> =
        MEMORY_KINDS.iter().filter_map(|kind| Some((*kind, of(kind)?))).collect();
    let known: u64 = kinds.iter().map(|(_, bytes)| bytes).sum();
    kinds.push(("other", of("total")?.saturating_sub(known)));
    Some(kinds)
}

fn alarms(answer: &Term) -> Option<Vec<String>> {
    let names = answer.as_list()?.iter().map(|name| name.as_atom().map(str::to_owned));
    names.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_adds_up_to_the_total_and_what_is_missing_is_absent() {
        let pair = |kind: &str, bytes: i64| Term::tuple([Term::atom(kind), bytes.into()]);
        let memory = Term::list([
            pair("total", 100),
            pair("processes", 30),
            pair("system", 70),
            pair("ets", 20),
        ]);
        let answer = Term::map([("took_us", 7.into()), ("memory", memory)]);
        let (figures, took_us) = NodeFigures::from_term(&answer).unwrap();
        assert_eq!(took_us, 7);
        assert_eq!(figures.memory_bytes, [("processes", 30), ("ets", 20), ("other", 50)]);
        assert_eq!((figures.queues, figures.alarms), (None, None));
        assert_eq!(figures.numbers["memory.ets"], 20);
        assert_eq!(NodeFigures::from_term(&Term::Integer(1)), None);
    }

    #[test]
    fn the_longest_queue_is_first() {
        let queue = |name: &str, messages: i64| {
            Term::tuple([Term::text("/"), Term::text(name), messages.into()])
        };
        let longest = Term::list([queue("a", 1), queue("b", 3)]);
        let numbers = [
            ("count", 5.into()),
            ("ready", 3.into()),
            ("unacknowledged", 1.into()),
            ("longest", longest),
        ];
        let answer = Term::map(numbers);
        let all = super::numbers(&Term::map([
            ("queues", answer.clone()),
            ("alarms", Term::list([Term::atom("disk")])),
        ]));
        assert_eq!((all["queues.ready"], all["alarms"], all.len()), (3, 1, 4));
        let totals = queues(&answer).unwrap();
        assert_eq!((totals.count, totals.longest[0].name.as_str()), (5, "b"));
    }
}
