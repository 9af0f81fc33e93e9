//! Schedulers that look for work although the node has little.

use crate::{
    case::{Case, Cpu},
    finding::{Evidence, Severity},
    rules::{
        bound,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the node's CPU time.
const SHARE: f64 = 0.2;
/// Cores below which nobody misses them.
const LEAST_CORES: f64 = 0.05;
/// Use of the schedulers up to which the node has time. A busy one waits less the busier it is.
const IDLE: f64 = 0.5;
/// Share of a control group's periods with throttling from which waiting takes time from work.
const THROTTLED: f64 = 0.1;
/// Fewest samples.
const SAMPLES: u64 = 200;

pub(crate) const RULE: Rule = Rule {
    name: "busy-wait",
    title: "busy waiting",
    meaning: "schedulers spin while they wait for work: CPU time that an idle node uses",
    needs: &[Need::Cpu, Need::Vm],
    minimum: Minimum { seconds: 5, counts: "200 samples" },
    threshold: "20 % of the node's CPU time and 0.05 cores, schedulers used less than half: note; warning if a limit of the control group throttles the node",
    change: "`+sbwt none`",
    source: "rabbitmq-common#414; rabbitmq-server#9986",
    find,
};

fn find(case: &Case) -> Judged {
    let (cpu, vm) = (case.cpu.as_ref()?, case.vm.as_ref()?);
    if cpu.samples < SAMPLES {
        return Err(NotJudged::new(format!(
            "it takes {SAMPLES} samples; there were {}",
            cpu.samples
        )));
    }
    let usage =
        vm.scheduler_use.ok_or_else(|| NotJudged::new("the use of schedulers is unknown"))?;
    let is_off = vm.flags.iter().any(|(flag, value)| flag == "+sbwt" && value == "none");
    let waiting = cpu.busy_wait_cores;
    let is_waiting = waiting >= LEAST_CORES && waiting >= SHARE * cpu.cores;
    if is_off || usage >= IDLE || !is_waiting {
        return Ok(Vec::new());
    }
    Ok(vec![draft(case, cpu, usage)])
}

fn draft(case: &Case, cpu: &Cpu, usage: f64) -> Draft {
    let throttled = throttled(case);
    let severity = if throttled.is_some() { Severity::Warning } else { Severity::Note };
    let lost = cpu.busy_wait_cores / cpu.cores.max(cpu.busy_wait_cores);
    let share = look::percent(lost);
    let figure = format!("{} of {}", look::cores(cpu.busy_wait_cores), look::cores(cpu.cores));
    let advice = Advice::new(
        Aim::Settle,
        "+sbwt",
        "switch busy waiting off in rabbitmq-env.conf, beside other flags there, above all where CPU time is limited or paid for",
        "a restart; latency rises by the time that a sleeping thread takes to wake",
    );
    let text = "SERVER_ADDITIONAL_ERL_ARGS=\"+sbwt none +sbwtdcpu none +sbwtdio none\"";
    let sentence = format!(
        "schedulers look for work in {share} of the node's CPU time, mostly by spinning, and work little"
    );
    Draft::new(severity, vec![case.subject.node.clone()], sentence)
        .evidence(Look::cpu(cpu).says(figure))
        .evidence(
            Look::node(case).says(format!("schedulers work {} of the time", look::percent(usage))),
        )
        .all_evidence(throttled)
        .advice(advice.with_text(text))
        .bound(bound::recovery(lost, "schedulers look for work in it"))
}

fn throttled(case: &Case) -> Option<Evidence> {
    let host = case.host.as_ref().ok()?;
    let periods = host.throttled_periods.filter(|periods| *periods >= THROTTLED)?;
    Some(Look::host(host).says(format!("throttled in {} of the periods", look::percent(periods))))
}
