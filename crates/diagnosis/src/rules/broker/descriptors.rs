//! File descriptors close to their limit.

use crate::{
    case::{Case, Use},
    finding::Severity,
    rules::{
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the limit from which connections will be refused soon.
const HIGH: f64 = 0.8;
/// Alarm of a node that accepts no connection for want of descriptors.
const ALARM: &str = "file_descriptors";
/// Share of the limit from which they are refused at the next rise.
const FULL: f64 = 0.95;

pub(crate) const RULE: Rule = Rule {
    name: "descriptors",
    title: "file descriptors",
    meaning: "the node refuses connections when its file descriptors end",
    needs: &[Need::Broker],
    minimum: Minimum { seconds: 0, counts: "one look" },
    threshold: "80 % used: warning; 95 %, or the alarm: critical",
    change: "`LimitNOFILE` or `ulimit -n`, and `ERL_MAX_PORTS`",
    source: "cluster-operator, rules for alerts",
    find,
};

fn find(case: &Case) -> Judged {
    let broker = case.broker.as_ref()?;
    let is_alarmed = broker.alarms.iter().any(|alarm| alarm == ALARM);
    let of_node = broker.descriptors.map(|used| (Look::node(case), used));
    let of_host =
        case.host.as_ref().ok().and_then(|host| Some((Look::host(host), host.descriptors?)));
    let Some((look, used)) = of_node.or(of_host).filter(|(_, used)| used.limit > 0) else {
        return Err(NotJudged::new("the number of file descriptors is unknown"));
    };
    Ok(draft(case, look, used, is_alarmed).into_iter().collect())
}

fn draft(case: &Case, look: Look, used: Use, is_alarmed: bool) -> Option<Draft> {
    let severity = match used.share() {
        share if share >= FULL || is_alarmed => Severity::Critical,
        share if share >= HIGH => Severity::Warning,
        _ => return None,
    };
    let share = look::percent(used.share());
    let advice = Advice::new(
        Aim::Raise,
        "file descriptors",
        "raise the limit of the service (systemd's LimitNOFILE, or ulimit -n) and start the node again",
        "a restart of the node; 1 KiB of kernel memory for each descriptor in use",
    );
    let sentence =
        format!("{share} of the file descriptors are in use; then the node refuses connections");
    Some(
        Draft::new(severity, vec![case.subject.node.clone()], sentence)
            .evidence(look.ends(format!("{} of {} descriptors", used.used, used.limit)))
            .advice(advice.with_text(format!("LimitNOFILE={}", used.limit.saturating_mul(2)))),
    )
}
