//! The observed load of a case.

use super::{
    focus::Focus,
    load::{Figure, Group, Load, MAX_BACKLOG, MAX_BACKLOG_BYTES, MAX_MANY_QUEUES, MAX_QUEUES},
    publishers::publishers,
    readers::consumers,
    settings::BrokerSettings,
};
use crate::case::{Case, QueueCase, QueueKind};

/// Seconds of a load, of which the first are the warm-up.
const SECONDS: u64 = 10;
/// Ready messages below which a queue counts as empty.
const LONG: u64 = 1_000;

/// Returns the load of a case. The queues of the finding are the first group.
pub(super) fn observed(case: &Case, focus: &Focus<'_>) -> Load {
    let all = case.queues.as_ref().map_or(&[][..], |queues| &queues.rows);
    let first = first_queues(all, focus);
    let kind = first.first().map_or(QueueKind::Classic, |queue| queue.kind);
    let mut groups = vec![group(case, kind, &first, focus)];
    let nothing = Focus::default();
    for other in KINDS.into_iter().filter(|other| *other != kind) {
        let rows: Vec<&QueueCase> =
            all.iter().filter(|queue| queue.kind == other && traffic(queue) > 0.0).collect();
        if !rows.is_empty() {
            groups.push(group(case, other, &rows, &nothing));
        }
    }
    Load {
        remarks: remarks(case),
        broker: BrokerSettings::from_case(case),
        seconds: SECONDS,
        groups,
        churn: None,
        poller: None,
    }
}

const KINDS: [QueueKind; 3] = [QueueKind::Classic, QueueKind::Quorum, QueueKind::Stream];

/// Returns queues of one type: those of the finding, else those of the type with the most traffic.
fn first_queues<'a>(all: &'a [QueueCase], focus: &Focus<'a>) -> Vec<&'a QueueCase> {
    let is_known = |queue: &&QueueCase| KINDS.contains(&queue.kind);
    if let Some(first) = focus.queues.iter().find(|queue| is_known(queue)) {
        return focus.queues.iter().filter(|queue| queue.kind == first.kind).copied().collect();
    }
    let sum = |kind: QueueKind| -> f64 {
        all.iter().filter(|queue| queue.kind == kind).map(|queue| 1e-6 + traffic(queue)).sum()
    };
    // The last of equal ones is taken, which is the commonest type.
    let busiest = KINDS.into_iter().rev().max_by(|one, other| sum(*one).total_cmp(&sum(*other)));
    let of_kind = || all.iter().filter(|queue| Some(queue.kind) == busiest);
    let busy: Vec<&QueueCase> = of_kind().filter(|queue| traffic(queue) > 0.0).collect();
    if busy.is_empty() { of_kind().collect() } else { busy }
}

fn group(case: &Case, kind: QueueKind, rows: &[&QueueCase], focus: &Focus<'_>) -> Group {
    let in_all = case.queues.as_ref().map_or(0, |queues| queues.count);
    let queues = match rows.len() as u64 {
        0 => Figure::noted(1, "assumed: no queue was seen"),
        number => Figure::at_most(number, MAX_QUEUES, &format!("such queues of {in_all} queues")),
    };
    let publishers = publishers(case, rows, focus);
    let is_durable = rows.first().is_none_or(|queue| queue.is_durable);
    let ready: u64 = rows.iter().map(|queue| queue.ready).fold(0, u64::saturating_add);
    let room = MAX_BACKLOG.min(MAX_BACKLOG_BYTES / publishers.size_bytes.value.max(1)).max(1);
    let has_backlog = ready >= LONG && kind != QueueKind::Stream;
    let backlog = has_backlog.then(|| Figure::at_most(ready, room, "messages"));
    let consumers = consumers(case, kind, rows, focus);
    Group { kind, queues, is_durable, arguments: Vec::new(), publishers, consumers, backlog }
}

impl Load {
    /// Gives the first group as many queues as the node has, within a wider bound.
    pub(super) fn with_all_queues(&mut self, case: &Case) {
        let count = case.queues.as_ref().map_or(0, |queues| queues.count);
        let wanted = count.max(self.groups[0].queues.value);
        self.groups[0].queues = Figure::at_most(wanted, MAX_MANY_QUEUES, "queues");
    }
}

/// Returns the messages per second into and out of a queue. 0 if they are unknown.
fn traffic(queue: &QueueCase) -> f64 {
    let rates = [queue.published_per_second, queue.delivered_per_second];
    rates.into_iter().flatten().filter(|rate| rate.is_finite()).map(|rate| rate.max(0.0)).sum()
}

fn remarks(case: &Case) -> Vec<String> {
    let mut remarks = vec![
        "A load like that of a node that `rabbitscope check` observed, for a throwaway broker."
            .to_owned(),
        "Remarks say what was assumed, and where the observed number is too large for this."
            .to_owned(),
    ];
    let broker = case.broker.as_ref().ok();
    if let Some((major, minor)) = broker.and_then(|broker| version(&broker.version)) {
        remarks.push(format!(
            "The node had RabbitMQ {major}.{minor}. `broker.root` names a system with another version than this one."
        ));
    }
    if broker.is_some_and(|broker| broker.nodes.len() > 1) {
        let nodes = broker.map_or(0, |broker| broker.nodes.len());
        remarks.push(format!("The node was one of {nodes}. This broker is alone."));
    }
    remarks
}

/// Reads the first two numbers of a version.
pub(super) fn version(text: &str) -> Option<(u32, u32)> {
    let mut numbers = text.split('.');
    let major = numbers.next()?.parse().ok()?;
    let minor: String = numbers.next()?.chars().take_while(char::is_ascii_digit).collect();
    Some((major, minor.parse().ok()?))
}
