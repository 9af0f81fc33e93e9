//! Arms of findings about settings of the node.

use rabbitscope_text::is_plain_term;

use super::{
    arm::{Arm, Proof, ProofMetric},
    clients::throughput,
    load::{Figure, Load, Poller},
    observed::version,
    settings::is_word,
};
use crate::{
    case::{Case, QueueKind},
    finding::Finding,
};

/// Seconds of a load with statistics, which a node collects every five seconds.
const SECONDS_OF_STATISTICS: u64 = 25;
/// Size in bytes from which a message store holds the body.
const STORE_BYTES: u64 = 8_192;

/// Settings that an arm takes from the text of a change. No other text reaches a broker.
const SETTABLE: [&str; 5] = [
    "quorum_commands_soft_limit",
    "quorum_queue.commands_soft_limit",
    "msg_store_credit_disc_bound",
    "collect_statistics_interval",
    "management_agent.disable_metrics_collector",
];

/// More commands in flight to a quorum queue.
pub(super) fn commands_in_flight(load: &mut Load, _: &Case, finding: &Finding) -> Option<Proof> {
    if !load.put_first(|kind| kind == QueueKind::Quorum) {
        return None;
    }
    load.at_full_speed();
    with_text(load, ProofMetric::Published, finding)
}

/// More credit of the message store.
pub(super) fn store_credit(load: &mut Load, _: &Case, finding: &Finding) -> Option<Proof> {
    if !load.put_first(|kind| kind == QueueKind::Classic) {
        return None;
    }
    let group = load.at_full_speed();
    group.publishers.is_persistent = true;
    if group.publishers.size_bytes.value < STORE_BYTES {
        group.publishers.size_bytes = Figure::noted(STORE_BYTES, "so that bodies go to the store");
    }
    with_text(load, ProofMetric::Published, finding)
}

/// Fewer statistics.
pub(super) fn statistics(load: &mut Load, case: &Case, finding: &Finding) -> Option<Proof> {
    load.at_observed_rate();
    load.with_all_queues(case);
    load.seconds = SECONDS_OF_STATISTICS;
    load.broker.add_plugin("rabbitmq_management");
    with_text(load, ProofMetric::Cpu, finding)
}

/// Fewer requests to the management API.
#[expect(clippy::unnecessary_wraps, reason = "some builders of the table return none")]
pub(super) fn requests(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    load.at_observed_rate();
    load.with_all_queues(case);
    load.seconds = SECONDS_OF_STATISTICS;
    load.broker.add_plugin("rabbitmq_management");
    let interval_ms = Figure::noted(500, "assumed: requests were not counted");
    load.poller = Some(Poller { path: "/api/queues", interval_ms });
    let set = vec![("pollers.0.interval", "\"10s\"".to_owned())];
    Some(Proof::of_keys(ProofMetric::Cpu, set))
}

/// No busy waiting.
#[expect(clippy::unnecessary_wraps, reason = "some builders of the table return none")]
pub(super) fn no_busy_wait(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    load.at_observed_rate();
    let mut broker = load.broker.clone();
    for flag in ["+sbwt", "+sbwtdcpu", "+sbwtdio"] {
        broker.flags.insert(flag.to_owned(), "none".to_owned());
    }
    Some(Proof::of_broker(ProofMetric::Cpu, broker))
}

/// A scheduler for each CPU.
pub(super) fn all_schedulers(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    let online = case.vm.as_ref().ok()?.schedulers_online;
    if !(1..=1_024).contains(&online) {
        return None;
    }
    let metric = throughput(load.at_full_speed());
    let without = load.broker.clone();
    load.broker.flags.insert("+S".to_owned(), online.to_string());
    load.remarks.push(format!(
        "The arms differ on a machine with more than {online} CPUs. Lower `+S` on another one."
    ));
    Some(Proof::of_broker(metric, without))
}

/// Quorum queues instead of mirrors.
pub(super) fn no_mirrors(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    let broker = case.broker.as_ref().ok()?;
    let has_mirrors = version(&broker.version)?.0 < 4;
    if !(has_mirrors && load.put_first(|kind| kind == QueueKind::Classic)) {
        return None;
    }
    let group = load.at_full_speed();
    group.is_durable = true;
    let metric = throughput(group);
    load.broker.nodes = (broker.nodes.len() as u64).clamp(2, 3);
    load.broker.policies.push(("mirrors", "{\"ha-mode\": \"all\"}"));
    Some(Proof::of_keys(metric, vec![("queues.0.type", "\"quorum\"".to_owned())]))
}

/// No tracing.
#[expect(clippy::unnecessary_wraps, reason = "some builders of the table return none")]
pub(super) fn no_tracing(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let metric = throughput(load.at_full_speed());
    let mut traced = load.broker.clone();
    traced.advanced.insert("trace_vhosts".to_owned(), "[<<\"/\">>]".to_owned());
    let observed = Arm { broker: Some(traced), ..Arm::default() };
    Some(Proof { metric, observed, changed: Arm::default() })
}

/// Classic queues of version 2.
pub(super) fn second_version(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    classic_queues(load, ("x-queue-version", "1"), ("queues.0.arguments.x-queue-version", "2"))
}

/// Lazy queues.
pub(super) fn lazy(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let lazy = ("queues.0.arguments.x-queue-mode", "\"lazy\"");
    classic_queues(load, ("x-queue-mode", "\"default\""), lazy)
}

fn classic_queues(
    load: &mut Load,
    present: (&'static str, &str),
    (key, value): (&'static str, &str),
) -> Option<Proof> {
    if !load.put_first(|kind| kind == QueueKind::Classic) {
        return None;
    }
    let group = load.at_observed_rate();
    group.publishers.is_persistent = true;
    group.arguments.push((present.0, present.1.to_owned()));
    Some(Proof::of_keys(ProofMetric::Memory, vec![(key, value.to_owned())]))
}

/// Creates an experiment with the setting in the finding's text: a line of `rabbitmq.conf` or a term of
/// `advanced.config`. `None` for any other text.
fn with_text(load: &Load, metric: ProofMetric, finding: &Finding) -> Option<Proof> {
    let text = finding.change.as_ref()?.text.as_deref()?.trim();
    let mut broker = load.broker.clone();
    if let Some(inner) = text.strip_prefix("[{rabbit, [{") {
        let (key, term) = inner.strip_suffix("}]}].")?.split_once(',')?;
        let term: String = term.split_whitespace().collect();
        let is_known = SETTABLE.contains(&key) && is_plain_term(&term);
        broker.advanced.insert(is_known.then(|| key.to_owned())?, term);
    } else {
        let (key, value) = text.split_once('=')?;
        let (key, value) = (key.trim(), value.trim());
        let is_known = SETTABLE.contains(&key) && is_word(value);
        broker.config.insert(is_known.then(|| key.to_owned())?, value.to_owned());
    }
    (broker != load.broker).then(|| Proof::of_broker(metric, broker))
}
