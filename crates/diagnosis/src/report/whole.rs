//! The result of a check. Its JSON form is this structure.

use rabbitscope_wire::report::{PacketReport, Source, SourceLevel};
use serde::{Deserialize, Serialize};

use crate::{
    case::{self, Amqp, Case, Flow, Unread},
    costs::Costs,
    differences::Differences,
    figures::Figures,
    finding::{Finding, Severity},
    flow::{FlowRoot, roots},
    limit::{Limit, limit},
    memory::Memory,
    rules::{Judgement, Unjudged, judge},
};

/// Version of the format. It rises with a change that would mislead readers of an earlier version.
pub const FORMAT_VERSION: u32 = 1;

/// The result of a check.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct CheckReport {
    /// Version of the format, 1.
    pub format_version: u32,
    /// Erlang name of the node; its address if the name is unknown.
    pub node: String,
    /// Version of RabbitMQ; empty if it is unknown.
    pub rabbitmq: String,
    /// Duration of the check in nanoseconds.
    pub duration_nanos: u64,
    /// The limit of throughput or latency.
    pub limit: Limit,
    /// The roots of flow control, those with the most chains first.
    pub flow: Vec<FlowRoot>,
    /// CPU time by owner. Absent without samples or names of processes.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub costs: Option<Costs>,
    /// Memory by kind. Absent if the node was not asked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<Memory>,
    /// Problems, the most rewarding first.
    pub findings: Vec<Finding>,
    /// Titles of the rules that judged and found nothing.
    pub healthy: Vec<String>,
    /// Rules that could not judge.
    pub not_judged: Vec<Unjudged>,
    /// Sources that could not be read, each with its remedy.
    pub unread: Vec<Unread>,
    /// The broker over AMQP, if it was asked for.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub amqp: Option<Amqp>,
    /// Figures of the node, for a later comparison. Empty in checks of earlier versions.
    #[serde(default)]
    pub figures: Figures,
    /// Differences from an earlier check, if one was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub differences: Option<Differences>,
}

impl CheckReport {
    /// Judges a case.
    pub fn from_case(case: &Case) -> Self {
        let processes = case.flow.as_ref().map_or(&[][..], |flow: &Flow| &flow.processes);
        let flow = roots(processes);
        let Judgement { findings, healthy, not_judged } = judge(case);
        let nanos = u64::try_from(case.subject.duration.as_nanos()).unwrap_or(u64::MAX);
        Self {
            format_version: FORMAT_VERSION,
            node: case.subject.node.clone(),
            rabbitmq: version(case),
            duration_nanos: nanos,
            limit: limit(case, &flow),
            flow,
            costs: Costs::from_case(case),
            memory: Memory::from_case(case),
            findings,
            // A recorded run has not read most of it.
            healthy: if case.load.is_some() { Vec::new() } else { healthy },
            not_judged,
            unread: unread(case),
            amqp: case.over_amqp().cloned(),
            figures: Figures::from_case(case),
            differences: None,
        }
    }

    /// Returns the severity of the worst finding.
    pub fn worst(&self) -> Option<Severity> {
        self.findings.iter().map(|finding| finding.severity).max()
    }
}

/// Returns the parts that were not read. Several parts with the same obstacle are one.
fn unread(case: &Case) -> Vec<Unread> {
    let unheard = unheard(case);
    let parts = [
        case.broker.as_ref().err(),
        case.vm.as_ref().err(),
        case.processes.as_ref().err(),
        case.queues.as_ref().err(),
        case.clients.as_ref().err(),
        case.flow.as_ref().err(),
        case.cpu.as_ref().err(),
        case.waits.as_ref().err(),
        case.packets.as_ref().err(),
        case.host.as_ref().err(),
        case.amqp.as_ref().and_then(|amqp| amqp.as_ref().err()),
        unheard.as_ref(),
    ];
    let mut unread: Vec<Unread> = Vec::new();
    let uncaptured = case.packets.as_ref().ok().and_then(uncaptured);
    for part in parts.into_iter().flatten().chain(&uncaptured) {
        if !unread.contains(part) {
            unread.push(part.clone());
        }
    }
    unread
}

/// Returns the reason why a report has sockets and no packets. The next step stands behind the first colon.
fn uncaptured(report: &PacketReport) -> Option<Unread> {
    let is_absent = |source: &&Source| source.level == SourceLevel::Packets && !source.present;
    let note = report.sources.iter().find(is_absent)?.note.as_str();
    let (reason, remedy) = note.split_once(": ").unwrap_or((note, ""));
    let (reason, remedy) = (reason.to_owned(), remedy.to_owned());
    Some(Unread { source: case::Source::Packets, reason, remedy })
}

/// Returns what a connection without load cannot hear.
fn unheard(case: &Case) -> Option<Unread> {
    let is_alone = case.broker.is_err() && case.over_amqp()?.blocked.is_none();
    is_alone.then(|| Unread {
        source: case::Source::Amqp,
        reason: "a broker tells only connections that publish of an alarm, and a check publishes nothing"
            .to_owned(),
        remedy: "check the node itself, or run `rabbitmq-diagnostics alarms` there".to_owned(),
    })
}

fn version(case: &Case) -> String {
    let of_node = case.broker.as_ref().ok().map(|broker| broker.version.clone());
    let of_broker = || {
        let amqp = case.over_amqp().filter(|amqp| amqp.product == "RabbitMQ")?;
        Some(amqp.version.clone())
    };
    of_node.or_else(of_broker).unwrap_or_default()
}
