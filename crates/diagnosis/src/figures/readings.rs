//! Readings of parts of a case. Each is absent if its part was not read.

use rabbitscope_wire::report::LatencyKind;

use crate::case::{Broker, Case, Churn, Cpu, Disk, Host, MessageRates, Queues, Vm};

/// A percentile of a latency.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Quantile {
    P50,
    P99,
}

/// Measurements below which a median is not given.
const FOR_A_MEDIAN: u64 = 50;

/// Measurements below which a 99th percentile is not given: ten are above it.
const FOR_A_TAIL: u64 = 1000;

/// Messages per second below which a cost per message is not given.
const FOR_A_COST: f64 = 10.0;

pub(super) fn broker(case: &Case) -> Option<&Broker> {
    case.broker.as_ref().ok()
}

pub(super) fn rates(case: &Case) -> Option<MessageRates> {
    Some(broker(case)?.rates)
}

pub(super) fn churn(case: &Case) -> Option<Churn> {
    broker(case)?.churn
}

/// Returns the memory of a kind in bytes.
pub(super) fn memory(case: &Case, kind: &str) -> Option<f64> {
    broker(case)?.memory_bytes.get(kind).map(|bytes| *bytes as f64)
}

pub(super) fn vm(case: &Case) -> Option<&Vm> {
    case.vm.as_ref().ok()
}

pub(super) fn queues(case: &Case) -> Option<&Queues> {
    case.queues.as_ref().ok()
}

pub(super) fn cpu(case: &Case) -> Option<&Cpu> {
    case.cpu.as_ref().ok()
}

pub(super) fn host(case: &Case) -> Option<&Host> {
    case.host.as_ref().ok()
}

/// Returns the machine as observed over time. A recorded run knows only the CPU time on it.
pub(super) fn observed(case: &Case) -> Option<&Host> {
    host(case).filter(|_| case.load.is_none())
}

pub(super) fn disk(case: &Case) -> Option<&Disk> {
    host(case)?.data_disk.as_ref()
}

/// Returns a latency between frames in nanoseconds, if it was measured often enough.
pub(super) fn wire(case: &Case, kind: LatencyKind, quantile: Quantile) -> Option<f64> {
    let report = case.packets.as_ref().ok()?;
    let latency = report.latencies.iter().find(|one| one.kind == kind)?;
    let (nanos, enough) = match quantile {
        Quantile::P50 => (latency.percentiles.p50, FOR_A_MEDIAN),
        Quantile::P99 => (latency.percentiles.p99, FOR_A_TAIL),
    };
    (latency.percentiles.count >= enough).then_some(nanos as f64)
}

/// Returns the median time of an answer over AMQP in nanoseconds, if there are enough.
pub(super) fn amqp_answer(case: &Case) -> Option<f64> {
    let times = case.over_amqp()?.round_trips?;
    (times.count >= FOR_A_MEDIAN).then_some(times.p50_nanos as f64)
}

/// Returns the CPU time of the node per message in nanoseconds, without busy waiting where that is known.
pub(super) fn cost(case: &Case, rate: Option<f64>) -> Option<f64> {
    let working = cpu(case).map(|cpu| (cpu.cores - cpu.busy_wait_cores).max(0.0));
    let cores = working.or_else(|| Some(host(case)?.node_cores))?;
    rate.filter(|rate| *rate >= FOR_A_COST).map(|rate| cores * 1e9 / rate)
}
