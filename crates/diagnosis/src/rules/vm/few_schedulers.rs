//! Fewer schedulers than CPUs, while processes wait for a scheduler.

use crate::{
    case::Case,
    finding::Severity,
    rules::{
        bound,
        config::SCHEDULERS,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule, look_seconds},
    },
};

/// Share of the looks in which each scheduler had a process waiting.
const CROWDED: f64 = 0.5;
/// Use of the schedulers below which a burst explains the crowd.
const BUSY: f64 = 0.85;

pub(crate) const RULE: Rule = Rule {
    name: "few-schedulers",
    title: "schedulers for the CPUs",
    meaning: "the VM has fewer schedulers than CPUs, and processes wait for one",
    needs: &[Need::Vm, Need::Host],
    minimum: Minimum { seconds: 5, counts: "100 looks" },
    threshold: "as many waiting processes as schedulers in half of the looks, schedulers used 85 %: warning",
    change: "no `+S`, so that there is a scheduler for each CPU",
    source: "Erlang/OTP documentation, erl +S; RabbitMQ documentation, runtime: schedulers",
    find,
};

fn find(case: &Case) -> Judged {
    let (vm, host) = (case.vm.as_ref()?, case.host.as_ref()?);
    let cpus = host.usable_cpus();
    if vm.schedulers_online >= cpus {
        return Ok(Vec::new());
    }
    if look_seconds(vm) < f64::from(RULE.minimum.seconds) {
        return Err(NotJudged::new(format!("it takes 100 looks; there were {}", vm.looks)));
    }
    let is_idle = vm.scheduler_use.is_some_and(|share| share < BUSY);
    let is_crowded = vm.crowded_share >= CROWDED && !is_idle;
    if !is_crowded {
        return Ok(Vec::new());
    }
    let schedulers = vm.schedulers_online;
    let sentence =
        format!("processes wait for {schedulers} schedulers although the node may use {cpus} CPUs");
    let crowded = look::percent(vm.crowded_share);
    let queue = format!(
        "{} wait, at least {schedulers} in {crowded} of the looks",
        look::mean(vm.run_queue, "processes")
    );
    let advice = Advice::new(
        Aim::Raise,
        SCHEDULERS,
        "remove +S from the flags of the VM, or set it in rabbitmq-env.conf beside other flags there, so that each CPU has a scheduler",
        "a restart",
    );
    let room = format!("{schedulers} of {cpus} CPUs have a scheduler");
    let draft = Draft::new(Severity::Warning, vec![case.subject.node.clone()], sentence)
        .evidence(Look::node(case).says(queue))
        .evidence(Look::host(host).ends(format!("the node may use {cpus} of {} CPUs", host.cpus)))
        .advice(advice.with_text(format!("SERVER_ADDITIONAL_ERL_ARGS=\"+S {cpus}\"")))
        .bound(bound::multiplication(schedulers, cpus, room));
    Ok(vec![draft])
}
