//! More schedulers than the control group has CPU time for, while it throttles the node.

use crate::{
    case::{Case, Host},
    finding::Severity,
    rules::{
        config::SCHEDULERS,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the control group's periods with throttling.
const THROTTLED: f64 = 0.25;

pub(crate) const RULE: Rule = Rule {
    name: "many-schedulers",
    title: "schedulers for the control group",
    meaning: "the VM has more schedulers than its control group has CPU time for, and stands still when the time is used",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "" },
    threshold: "more schedulers than cores of the quota, throttled in a quarter of the periods: warning",
    change: "`+S` with the cores of the quota",
    source: "RabbitMQ documentation, runtime: schedulers; kubernetes-mixin, CPUThrottlingHigh",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let (Some(quota), Some(throttled)) = (host.quota_cores, host.throttled_periods) else {
        return Ok(Vec::new());
    };
    let (schedulers, cpus) = (schedulers(case, host)?, host.usable_cpus());
    if !(schedulers as f64 > quota && schedulers > cpus && throttled >= THROTTLED) {
        return Ok(Vec::new());
    }
    let sentence = format!(
        "{schedulers} schedulers share {}, and all stop when these are used",
        look::cores(quota)
    );
    let look = Look::host(host);
    let advice = Advice::new(
        Aim::Lower,
        SCHEDULERS,
        "start as many schedulers as the quota has cores, in rabbitmq-env.conf beside other flags there, or raise the quota",
        "a restart",
    );
    let draft = Draft::new(Severity::Warning, vec![case.subject.node.clone()], sentence)
        .evidence(look.says(format!("throttled in {} of the periods", look::percent(throttled))))
        .evidence(look.ends(format!("the quota is {}", look::cores(quota))))
        .advice(advice.with_text(format!("SERVER_ADDITIONAL_ERL_ARGS=\"+S {cpus}\"")));
    Ok(vec![draft])
}

/// Returns the number of schedulers: the node's own, or else that of their threads.
fn schedulers(case: &Case, host: &Host) -> Result<u64, NotJudged> {
    let online = case.vm.as_ref().ok().map(|vm| vm.schedulers_online);
    let unknown = || NotJudged::new("the number of schedulers is unknown");
    online.or(host.schedulers).ok_or_else(unknown)
}
