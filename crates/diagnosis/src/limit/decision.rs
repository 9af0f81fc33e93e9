//! The decision between the candidates.
//!
//! Of those that explain the rate by themselves, the first in the order of [`ORDER`] is the limit: what stands later is
//! its consequence. An alarm blocks publishers whatever else is busy. A starved node shows busy processes.

use std::fmt::Write as _;

use rabbitscope_text::counted;
use rabbitscope_wire::report::FindingRule;
use serde::{Deserialize, Serialize};

use super::{
    Candidate, Certainty, LimitKind, alarm,
    candidate::percent,
    consumers, disk, distribution, host, load, lock, network, process,
    publishers::{delayed_acks, one_by_one, waiting},
    schedulers, sight,
};
use crate::{
    case::{Case, QueueCase, QueueKind},
    finding::Evidence,
    flow::FlowRoot,
};

/// Kinds by precedence.
const ORDER: [LimitKind; 10] = [
    LimitKind::Alarm,
    LimitKind::Host,
    LimitKind::Process,
    LimitKind::Lock,
    LimitKind::Schedulers,
    LimitKind::Publishers,
    LimitKind::Disk,
    LimitKind::Distribution,
    LimitKind::Network,
    LimitKind::Consumers,
];

/// Score from which a candidate is named although it does not explain the rate by itself.
const PERHAPS: f64 = 0.9;

/// Score from which a candidate makes the absence of a limit uncertain.
const DISTURBS: f64 = 0.8;

/// Share of the time in which the node waits for a CPU, of that in which it has work, that makes the absence of a limit
/// uncertain.
const WITHOUT_CPU: f64 = 0.4;

/// Share of the machine's CPU time from which that of the check makes the absence of a limit uncertain.
const OWN_SHARE: f64 = 0.1;

/// Score of a rival from which publishers that wait are less certain: what they wait for may be busy with others.
const BUSY: f64 = 0.75;

/// Connections, channels and queues that clients open or declare in a second, from which the absence of a limit is
/// uncertain: clients wait for each, and no candidate here measures that wait.
const OPENED: f64 = 20.0;

/// Connections and channels that clients open in a second, from which a growing queue without consumers may have some at
/// times.
const COMING: f64 = 1.0;

/// A second in nanoseconds.
const SECOND_NANOS: u64 = 1_000_000_000;

/// The usual answer about a run, which records little of what is inside the node.
const FROM_A_RUN: &str = "cannot tell from the records of the run; `rabbitscope check` during the load reads the node itself";

/// Score from which a runner-up is named.
const NAMED: f64 = 0.5;

/// The limit of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Limit {
    /// Its kind.
    pub kind: LimitKind,
    /// The process, queue, client, disk or node, by its name; empty if there is only one.
    pub subject: String,
    /// Share of the time in which it was at its limit, 0 to 1.
    pub share: f64,
    /// The certainty of this answer.
    pub certainty: Certainty,
    /// The answer in a sentence.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: Vec<Evidence>,
    /// The second candidate, of another kind.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runner_up: Option<Candidate>,
}

/// Finds the limit. `roots` are those of flow control.
pub(crate) fn limit(case: &Case, roots: &[FlowRoot]) -> Limit {
    let blind = sight::blind_spots(case);
    if let Some(reason) = obstacle(case) {
        return without(LimitKind::Unknown, Certainty::Uncertain, reason, None);
    }
    let mut all = candidates(case, roots);
    all.sort_by(|one, other| other.score.total_cmp(&one.score));
    weaken_outweighed(&mut all);
    let explaining = ORDER
        .iter()
        .find_map(|kind| all.iter().position(|one| one.kind == *kind && one.score >= 1.0));
    let chosen = explaining.or_else(|| {
        let first = all.first()?;
        (first.score >= PERHAPS).then_some(0)
    });
    match chosen {
        Some(index) => {
            let first = all.remove(index);
            let second = all.into_iter().find(|one| one.kind != first.kind && one.score >= NAMED);
            decided(first, second, &blind, case.broker.is_ok())
        }
        None => nothing(case, roots, all, &blind),
    }
}

/// Weakens the machine if the node waits longer for something else than for a CPU.
fn weaken_outweighed(all: &mut [Candidate]) {
    const WAITS: [LimitKind; 4] =
        [LimitKind::Disk, LimitKind::Distribution, LimitKind::Network, LimitKind::Consumers];
    let of_others = all.iter().filter(|one| WAITS.contains(&one.kind) && one.score >= 1.0);
    let longest = of_others.map(|one| one.outside).fold(0.0, f64::max);
    for host in all.iter_mut().filter(|one| one.kind == LimitKind::Host) {
        if host.share < longest {
            host.score = host.score.min(PERHAPS);
        }
    }
}

fn candidates(case: &Case, roots: &[FlowRoot]) -> Vec<Candidate> {
    [
        alarm::candidates(case),
        host::candidates(case, roots),
        process::candidates(case, roots),
        lock::candidates(case),
        schedulers::candidates(case),
        disk::candidates(case),
        distribution::candidates(case),
        network::candidates(case),
        consumers::candidates(case),
        delayed_acks::candidates(case),
        one_by_one::candidates(case),
        waiting::candidates(case),
        load::candidates(case),
    ]
    .concat()
}

/// Returns the reason why nothing can be told at all.
fn obstacle(case: &Case) -> Option<String> {
    let is_told = case.over_amqp().is_some_and(|amqp| amqp.blocked.is_some());
    if let (Err(inside), Err(outside), false) = (&case.broker, &case.cpu, is_told) {
        return Some(format!(
            "cannot tell, because neither the node's own figures ({}) nor CPU samples ({}) could be read",
            inside.reason, outside.reason,
        ));
    }
    if case.subject.duration.as_secs() < 3 {
        let observed = if case.load.is_some() { "run was measured for" } else { "check lasted" };
        return Some(format!("cannot tell, because the {observed} less than 3 s"));
    }
    load::obstacle(case)
}

/// Names the first candidate. `has_broker` tells the node's own alarm from the word on an AMQP connection.
fn decided(
    first: Candidate,
    second: Option<Candidate>,
    blind: &[&'static str],
    has_broker: bool,
) -> Limit {
    let rival = second.as_ref().map_or(0.0, |second| second.score);
    let is_alone =
        if first.kind == LimitKind::Publishers { rival < BUSY } else { rival * 1.5 <= first.score };
    let certainty = if first.score < 1.0 {
        Certainty::Uncertain
    } else if (first.kind == LimitKind::Alarm && has_broker) || (blind.is_empty() && is_alone) {
        Certainty::Certain
    } else {
        Certainty::Likely
    };
    Limit {
        kind: first.kind,
        subject: first.subject,
        share: first.share,
        certainty,
        sentence: first.sentence,
        evidence: first.evidence,
        runner_up: second,
    }
}

/// The absence of a limit. It takes more sources than a limit, because any unread one could show it.
fn nothing(case: &Case, roots: &[FlowRoot], all: Vec<Candidate>, blind: &[&'static str]) -> Limit {
    let second = all.into_iter().next().filter(|one| one.score >= NAMED);
    let disturbs = second.as_ref().is_some_and(|second| second.score >= DISTURBS);
    if let Some(sentence) = load::serves_schedule(case) {
        let certainty = if disturbs { Certainty::Uncertain } else { Certainty::Likely };
        return without(LimitKind::Nothing, certainty, sentence, second);
    }
    let essential = case.broker.is_ok() && case.vm.is_ok() && case.queues.is_ok();
    if !essential {
        let reason = match &case.load {
            Some(_) => FROM_A_RUN.to_owned(),
            None => format!("cannot tell, because {} could not be read", blind.join(", ")),
        };
        return without(LimitKind::Unknown, Certainty::Uncertain, reason, second);
    }
    if let Some(reason) = unexplained_wait(case, roots) {
        let reason =
            format!("cannot tell, because {reason}, and nothing that was read explains it");
        return without(LimitKind::Unknown, Certainty::Uncertain, reason, second);
    }
    let doubts = doubts(case);
    let certainty = match (blind.is_empty(), disturbs) {
        _ if !doubts.is_empty() || takes_much(case) => Certainty::Uncertain,
        (true, false) => Certainty::Certain,
        (false, true) => Certainty::Uncertain,
        _ => Certainty::Likely,
    };
    let mut sentence = waits_for_work(case);
    for doubt in doubts {
        let _ = write!(sentence, ", but {doubt}");
    }
    without(LimitKind::Nothing, certainty, sentence, second)
}

/// Returns what speaks against the absence of a limit, in words.
fn doubts(case: &Case) -> Vec<String> {
    let waiting = host::waiting_share(case).filter(|share| *share >= WITHOUT_CPU);
    let waiting =
        waiting.map(|share| format!("it waits for a CPU in {} of its work", percent(share)));
    let opened = opened(case).filter(|opened| *opened >= OPENED);
    let opened = opened.map(|opened| {
        format!(
            "clients open {opened:.0} connections, channels or queues a second, and wait for each"
        )
    });
    let logins = slow_logins(case).map(|logins| {
        let logins = counted(logins, "login");
        format!("the broker took a second or more for a step of {logins}")
    });
    let visited = visited(case).map(|queue| {
        format!(
            "clients come and go while messages of {} wait, which has no consumers now",
            queue.name
        )
    });
    [waiting, opened, logins, visited].into_iter().flatten().collect()
}

/// Returns a growing queue without consumers, if clients that open connections or channels may consume from it at times.
fn visited(case: &Case) -> Option<&QueueCase> {
    const MIN_READY: u64 = 100;
    let broker = case.broker.as_ref().ok()?;
    let opened = broker.churn.map(|churn| churn.connections_opened + churn.channels_opened)?;
    let is_it = |queue: &&QueueCase| {
        queue.consumers == 0
            && queue.kind != QueueKind::Stream
            && queue.ready >= MIN_READY
            && queue.ready_growth > 0.0
            && queue.delivered_per_second != Some(0.0)
    };
    let may_consume = opened >= COMING && broker.rates.delivered.is_some_and(|rate| rate > 0.0);
    let mut rows = case.queues.as_ref().ok()?.rows.iter();
    may_consume.then(|| rows.find(is_it))?
}

/// Returns the connections, channels and queues that clients open or declare in a second.
fn opened(case: &Case) -> Option<f64> {
    let churn = case.broker.as_ref().ok()?.churn?;
    Some(churn.connections_opened + churn.channels_opened + churn.queues_declared)
}

/// Returns the number of clients that waited for their login; none if all were quick.
fn slow_logins(case: &Case) -> Option<u64> {
    let findings = &case.packets.as_ref().ok()?.findings;
    let slow = findings.iter().find(|finding| finding.rule == FindingRule::SlowLogin)?;
    Some(slow.connections_in_all)
}

/// Returns whether the check takes so much CPU time that clients cannot send as soon as they would.
fn takes_much(case: &Case) -> bool {
    let Ok(host) = &case.host else { return false };
    host.own_cores >= OWN_SHARE * host.cpus.max(1) as f64
}

/// Returns a wait that contradicts the absence of a limit.
fn unexplained_wait(case: &Case, roots: &[FlowRoot]) -> Option<String> {
    /// Share of the looks in which flow control must block a process.
    const BLOCKED: f64 = 0.3;
    if let Some(root) = roots.iter().find(|root| root.share() >= BLOCKED) {
        let share = percent(root.share());
        return Some(format!("processes wait for {} in {share} of the time", root.name));
    }
    let packets = case.packets.as_ref().ok();
    if packets.is_some_and(|report| report.totals.broker_zero_window.longest_nanos >= SECOND_NANOS)
    {
        return Some("the broker stopped reading from a client".to_owned());
    }
    let queues = case.queues.as_ref().ok()?;
    if let Some(silent) = queues.silent.first() {
        return Some(format!("the queue {silent} did not answer in time"));
    }
    if let Some(queue) = unexplained_backlog(&queues.rows) {
        return Some(format!("{} messages of {} wait for its consumers", queue.ready, queue.name));
    }
    let (queue, before) = drained_backlog(case, &queues.rows)?;
    Some(format!("{before:.0} messages of {} waited at first", queue.name))
}

/// Returns a queue with consumers and a backlog. A stream keeps messages that were consumed.
fn unexplained_backlog(rows: &[QueueCase]) -> Option<&QueueCase> {
    const MIN_READY: u64 = 100;
    rows.iter()
        .filter(|queue| queue.kind != QueueKind::Stream && queue.consumers > 0)
        .find(|queue| queue.ready >= MIN_READY && queue.has_lasting_backlog())
}

/// Returns a queue whose backlog made up most of the deliveries, with the number of its ready messages at the begin. Until
/// it was gone, something limited the deliveries.
fn drained_backlog<'a>(case: &Case, rows: &'a [QueueCase]) -> Option<(&'a QueueCase, f64)> {
    const MIN_READY: f64 = 1_000.0;
    const MOST: f64 = 0.5;
    let seconds = case.subject.duration.as_secs_f64();
    let delivered = case.broker.as_ref().ok()?.rates.delivered? * seconds;
    let drained = |queue: &QueueCase| -queue.ready_growth * seconds;
    let is_it = |queue: &&QueueCase| {
        let drained = drained(queue);
        queue.consumers > 0 && drained >= MIN_READY && drained >= MOST * delivered
    };
    let queue = rows.iter().filter(|queue| queue.kind != QueueKind::Stream).find(is_it)?;
    Some((queue, queue.ready as f64 + drained(queue)))
}

fn waits_for_work(case: &Case) -> String {
    let rates = case.broker.as_ref().map(|broker| broker.rates).unwrap_or_default();
    let published = rates.published.unwrap_or_default();
    let delivered = rates.delivered.unwrap_or_default();
    let used = case.vm.as_ref().ok().and_then(|vm| vm.scheduler_use);
    let used = used.map_or_else(String::new, |used| {
        format!("; its schedulers are used to {:.0} %", used * 100.0)
    });
    if published + delivered < 1.0 {
        format!("nothing limits the node: it is idle{used}")
    } else {
        format!(
            "nothing limits the node: it serves what clients send ({published:.0} published and {delivered:.0} \
             delivered a second){used}"
        )
    }
}

fn without(
    kind: LimitKind,
    certainty: Certainty,
    sentence: String,
    runner_up: Option<Candidate>,
) -> Limit {
    let (subject, evidence) = (String::new(), Vec::new());
    Limit { kind, subject, share: 0.0, certainty, sentence, evidence, runner_up }
}
