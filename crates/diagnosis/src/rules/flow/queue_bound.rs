//! Queues that are the limit of their publishers.

use rabbitscope_text::counted;

use super::chain::{Root, roots};
use crate::{
    case::{Case, Flow},
    rules::{
        bound,
        config::QUEUES,
        draft::{Advice, Aim, Draft},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "queue-bound",
    title: "processes of queues",
    meaning: "the process of a queue works all the time, and channels wait for it",
    needs: &[Need::Flow],
    minimum: Minimum { seconds: 5, counts: "20 looks at a process" },
    threshold: "a channel waits in 30 % of the looks for a queue that is busy half of the time and does not wait itself: note; busy 80 %: warning",
    change: "more queues, or a stream",
    source: "RabbitMQ documentation, queues: a queue uses one core",
    find,
};

fn find(case: &Case) -> Judged {
    let flow = case.flow.as_ref()?;
    let roots = roots(flow);
    let is_queue =
        |root: &Root<'_>| root.has_role(&["queue", "mirror", "quorum_leader", "stream_writer"]);
    let bound: Vec<&Root<'_>> =
        roots.iter().filter(|root| is_queue(root) && root.is_busy(case)).collect();
    Ok(bound.first().map(|first| draft(case, flow, first, &bound)).into_iter().collect())
}

/// Makes one finding of all queues. The evidence is that of the worst.
fn draft(case: &Case, flow: &Flow, root: &Root<'_>, all: &[&Root<'_>]) -> Draft {
    let subjects: Vec<String> = all.iter().map(|root| name(root)).collect();
    let sentence = match &subjects[..] {
        [one] => format!("the queue {one} is the limit: its one process works all the time"),
        [one, more @ ..] => format!(
            "the queue {one} and {} are the limit: their processes work all the time",
            counted(more.len() as u64, "other"),
        ),
        [] => String::new(),
    };
    let advice = Advice::new(
        Aim::Raise,
        QUEUES,
        "divide the messages among several queues (such as by a consistent hash exchange), or use a stream",
        "messages of different queues are not in order, and each queue needs consumers",
    );
    Draft::new(root.severity(case), subjects, sentence)
        .all_evidence(root.evidence(case, flow))
        .advice(advice)
        .bound(root.process.and_then(|process| bound::division(case, &process.pid)))
}

fn name(root: &Root<'_>) -> String {
    root.process.map_or_else(String::new, |own| names::in_vhost(&own.name, &own.vhost))
}
