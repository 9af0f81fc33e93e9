//! A limit of the control group that stops the node.

use crate::{
    case::{Case, Host},
    finding::{Bound, Severity},
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Share of the control group's periods.
const NOTABLE: f64 = 0.05;
/// Share of the control group's periods from which Kubernetes warns.
const HIGH: f64 = 0.25;

pub(crate) const RULE: Rule = Rule {
    name: "throttling",
    title: "CPU limit of the control group",
    meaning: "the node uses up its CPU limit and stands still until the next period",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "5 % of the periods: note; 25 %: warning",
    change: "a higher limit (`cpu.max`, `limits.cpu`)",
    source: "kubernetes-mixin, CPUThrottlingHigh",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let Some(periods) = host.throttled_periods.filter(|periods| *periods >= NOTABLE) else {
        return Ok(Vec::new());
    };
    let severity = if periods >= HIGH { Severity::Warning } else { Severity::Note };
    let throttled = look::percent(periods);
    let quota = host.quota_cores.map_or_else(|| "its limit".to_owned(), look::cores);
    let sentence =
        format!("the control group stops the node at {quota} in {throttled} of the periods");
    let look = Look::host(host);
    let advice = Advice::new(
        Aim::Raise,
        "cpu.max",
        "raise the CPU limit of the control group, or remove it and set a weight",
        "less CPU time for others on the machine",
    );
    let draft = Draft::new(severity, vec![case.subject.node.clone()], sentence)
        .evidence(look.says(format!("throttled in {throttled} of the periods")))
        .evidence(look.says(format!("the node uses {}", look::cores(host.node_cores))))
        .advice(match host.quota_cores {
            Some(quota) if quota > 0.0 => advice.with_text(text(quota)),
            _ => advice,
        })
        .bound(gain(host));
    Ok(vec![draft])
}

fn text(quota: f64) -> String {
    /// Length of a period in microseconds, the kernel's default.
    const PERIOD: f64 = 100_000.0;
    format!("cpu.max: {:.0} {PERIOD:.0}", (2.0 * quota).min(1_000.0) * PERIOD)
}

fn gain(host: &Host) -> Option<Bound> {
    bound::recovery(host.throttled_share?, "the control group was throttled")
}
