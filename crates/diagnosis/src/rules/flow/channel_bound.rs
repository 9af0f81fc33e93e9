//! Channels that are the limit of their publishers.

use super::chain::{Root, roots};
use crate::{
    case::{Case, Flow},
    rules::{
        bound,
        config::CHANNELS,
        draft::{Advice, Aim, Draft},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

pub(crate) const RULE: Rule = Rule {
    name: "channel-bound",
    title: "channels of publishers",
    meaning: "a channel process works all the time, and its connection waits for it",
    needs: &[Need::Flow],
    minimum: Minimum { seconds: 5, counts: "20 looks at a process" },
    threshold: "a reader waits in 30 % of the looks for a channel that is busy half of the time and does not wait itself: note; busy 80 %: warning",
    change: "more channels",
    source: "RabbitMQ blog, 2014-04-14, on flow control",
    find,
};

fn find(case: &Case) -> Judged {
    let flow = case.flow.as_ref()?;
    let roots = roots(flow);
    let channels = roots.iter().filter(|root| root.has_role(&["channel", "session"]));
    Ok(channels.filter(|root| root.is_busy(case)).map(|root| draft(case, flow, root)).collect())
}

fn draft(case: &Case, flow: &Flow, root: &Root<'_>) -> Draft {
    let name = root.process.map_or_else(String::new, names::flow_process);
    let advice = Advice::new(
        Aim::Raise,
        CHANNELS,
        "publish on several channels, each from a thread of its own",
        "messages of different channels are not in order",
    );
    let sentence = format!("{name} is the limit: its connection waits for it");
    Draft::new(root.severity(case), vec![name], sentence)
        .all_evidence(root.evidence(case, flow))
        .advice(advice)
        .bound(root.process.and_then(|process| bound::division(case, &process.pid)))
}
