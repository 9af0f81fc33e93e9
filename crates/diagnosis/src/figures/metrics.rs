//! The table of single figures. A line has everything about a figure: name, unit, title, variation, the least change
//! that matters, and its reading. Texts, comparisons and files follow from it.

use rabbitscope_text::{
    MetricId,
    Unit::{self, Bytes, Cores, Nanos, PerSecond, Share, Things},
};
use rabbitscope_wire::report::LatencyKind::{
    DeliverToAck, Method, PublishToConfirm, RequestToReply, ServiceTime,
};

use self::Variation::{Events, Level, Loose, Median, Momentary, Sampled, SampledCost};
use super::readings::{
    Quantile, amqp_answer, broker, churn, cost, cpu, disk, host, memory, observed, queues, rates,
    vm, wire,
};
use crate::case::Case;

/// A single figure of a case.
#[derive(Clone, Copy, Debug)]
pub struct Metric {
    /// Name, title and unit.
    pub id: MetricId,
    /// The variation between two checks of the same load.
    pub variation: Variation,
    /// The least absolute change that is ever called a difference, in the unit of the figure.
    pub least: f64,
    /// Reads the figure. Absent if its source was not read, or has too few events.
    pub value: fn(&Case) -> Option<f64>,
}

/// The variation of a figure between two checks of the same load.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Variation {
    /// A rate of events. Their number varies at least like counts that do not depend on each other.
    Events,
    /// CPU time from samples, whose number has a known noise.
    Sampled,
    /// CPU time per message, from samples.
    SampledCost,
    /// A number that changes slowly, or a mean over many events.
    Level,
    /// A median.
    Median,
    /// A share of the time, or an amount of memory: it depends on the moment.
    Loose,
    /// A percentile of few events, or a value at one moment.
    Momentary,
}

impl Variation {
    /// Returns the relative change below which a figure is never called different: 0.1 for 10 %.
    pub const fn threshold(self) -> f64 {
        match self {
            Self::Events | Self::Sampled | Self::SampledCost | Self::Level => 0.1,
            Self::Median => 0.2,
            Self::Loose => 0.25,
            Self::Momentary => 0.5,
        }
    }
}

const fn metric(
    (name, unit, title): (&'static str, Unit, &'static str),
    variation: Variation,
    least: f64,
    value: fn(&Case) -> Option<f64>,
) -> Metric {
    Metric { id: MetricId { name, title, unit }, variation, least, value }
}

/// Nanoseconds below which changes of a latency do not matter.
const SHORT: f64 = 50_000.0;

/// Bytes below which changes of memory do not matter.
const SMALL: f64 = 33_554_432.0;

/// All figures, in the order of lists.
#[rustfmt::skip]
pub const METRICS: &[Metric] = &[
    metric(("published.rate", PerSecond, "published"), Events, 1.0, |case| rates(case)?.published),
    metric(("confirmed.rate", PerSecond, "confirmed"), Events, 1.0, |case| rates(case)?.confirmed),
    metric(("delivered.rate", PerSecond, "delivered"), Events, 1.0, |case| rates(case)?.delivered),
    metric(("acknowledged.rate", PerSecond, "acknowledged"), Events, 1.0, |case| rates(case)?.acknowledged),
    metric(("redelivered.rate", PerSecond, "redelivered"), Events, 1.0, |case| rates(case)?.redelivered),
    metric(("unroutable.rate", PerSecond, "unroutable"), Events, 1.0, |case| rates(case)?.unroutable),
    metric(("got.rate", PerSecond, "got by basic.get"), Events, 1.0, |case| rates(case)?.got),
    metric(("empty-gets.rate", PerSecond, "gets from empty queues"), Events, 1.0, |case| rates(case)?.get_empty),
    metric(("connections-opened.rate", PerSecond, "connections opened"), Events, 0.5, |case| Some(churn(case)?.connections_opened)),
    metric(("connections-closed.rate", PerSecond, "connections closed"), Events, 0.5, |case| Some(churn(case)?.connections_closed)),
    metric(("channels-opened.rate", PerSecond, "channels opened"), Events, 0.5, |case| Some(churn(case)?.channels_opened)),
    metric(("channels-closed.rate", PerSecond, "channels closed"), Events, 0.5, |case| Some(churn(case)?.channels_closed)),
    metric(("queues-declared.rate", PerSecond, "queues declared"), Events, 0.5, |case| Some(churn(case)?.queues_declared)),
    metric(("queues-created.rate", PerSecond, "queues created"), Events, 0.5, |case| Some(churn(case)?.queues_created)),
    metric(("queues-deleted.rate", PerSecond, "queues deleted"), Events, 0.5, |case| Some(churn(case)?.queues_deleted)),
    metric(("publish-to-confirm.p50", Nanos, "publish to confirm on the wire, median"), Median, SHORT, |case| wire(case, PublishToConfirm, Quantile::P50)),
    metric(("publish-to-confirm.p99", Nanos, "publish to confirm on the wire, p99"), Momentary, SHORT, |case| wire(case, PublishToConfirm, Quantile::P99)),
    metric(("deliver-to-ack.p50", Nanos, "delivery to acknowledgement on the wire, median"), Median, SHORT, |case| wire(case, DeliverToAck, Quantile::P50)),
    metric(("deliver-to-ack.p99", Nanos, "delivery to acknowledgement on the wire, p99"), Momentary, SHORT, |case| wire(case, DeliverToAck, Quantile::P99)),
    metric(("request-to-reply.p50", Nanos, "request to reply on the wire, median"), Median, SHORT, |case| wire(case, RequestToReply, Quantile::P50)),
    metric(("request-to-reply.p99", Nanos, "request to reply on the wire, p99"), Momentary, SHORT, |case| wire(case, RequestToReply, Quantile::P99)),
    metric(("service-time.p50", Nanos, "time of responders, median"), Median, SHORT, |case| wire(case, ServiceTime, Quantile::P50)),
    metric(("service-time.p99", Nanos, "time of responders, p99"), Momentary, SHORT, |case| wire(case, ServiceTime, Quantile::P99)),
    metric(("method.p50", Nanos, "synchronous methods on the wire, median"), Median, SHORT, |case| wire(case, Method, Quantile::P50)),
    metric(("method.p99", Nanos, "synchronous methods on the wire, p99"), Momentary, SHORT, |case| wire(case, Method, Quantile::P99)),
    metric(("amqp-answer.p50", Nanos, "answer on an idle channel of AMQP, median"), Median, SHORT, amqp_answer),
    metric(("cpu-per-published", Nanos, "CPU time per published message"), SampledCost, 500.0, |case| cost(case, rates(case)?.published)),
    metric(("cpu-per-delivered", Nanos, "CPU time per delivered message"), SampledCost, 500.0, |case| cost(case, rates(case)?.delivered)),
    metric(("cpu.cores", Cores, "CPU time of the node, from samples"), Sampled, 0.05, |case| Some(cpu(case)?.cores)),
    metric(("cpu.kernel", Cores, "CPU time in the kernel"), Sampled, 0.05, |case| Some(cpu(case)?.kernel_cores)),
    metric(("cpu.busy-wait", Cores, "CPU time of busy waiting"), Sampled, 0.05, |case| Some(cpu(case)?.busy_wait_cores)),
    metric(("cpu.locks", Cores, "CPU time in locks of the VM"), Sampled, 0.05, |case| Some(cpu(case)?.lock_cores)),
    metric(("cpu.collection", Cores, "CPU time in garbage collection"), Sampled, 0.05, |case| Some(cpu(case)?.collection_cores)),
    metric(("node.cores", Cores, "CPU time of the node, from the kernel"), Level, 0.05, |case| Some(host(case)?.node_cores)),
    metric(("node.waiting", Cores, "time in which the node waits for a CPU"), Loose, 0.1, |case| host(case)?.waiting_cores),
    metric(("schedulers.use", Share, "use of the schedulers"), Loose, 0.05, |case| vm(case)?.scheduler_use),
    metric(("schedulers.busiest", Share, "use of the busiest scheduler"), Loose, 0.1, |case| vm(case)?.busiest_scheduler),
    metric(("run-queue", Things, "processes that wait for a scheduler"), Momentary, 1.0, |case| Some(vm(case)?.run_queue)),
    metric(("dirty-io.cores", Cores, "work of dirty I/O schedulers"), Loose, 0.1, |case| vm(case)?.dirty_io_cores),
    metric(("memory", Bytes, "memory of the node"), Loose, SMALL, |case| Some(broker(case)?.memory?.used as f64)),
    metric(("memory.processes", Bytes, "memory of processes"), Loose, SMALL, |case| memory(case, "processes")),
    metric(("memory.binary", Bytes, "memory of binaries"), Loose, SMALL, |case| memory(case, "binary")),
    metric(("memory.ets", Bytes, "memory of ETS tables"), Loose, SMALL, |case| memory(case, "ets")),
    metric(("memory.code", Bytes, "memory of code"), Loose, SMALL, |case| memory(case, "code")),
    metric(("memory.atom", Bytes, "memory of atoms"), Loose, SMALL, |case| memory(case, "atom")),
    metric(("memory.other", Bytes, "other memory of the VM"), Loose, SMALL, |case| memory(case, "other")),
    metric(("connections", Things, "connections"), Level, 1.0, |case| Some(broker(case)?.connections? as f64)),
    metric(("channels", Things, "channels"), Level, 1.0, |case| Some(broker(case)?.channels? as f64)),
    metric(("consumers", Things, "consumers"), Level, 1.0, |case| Some(broker(case)?.consumers? as f64)),
    metric(("queues", Things, "queues"), Level, 1.0, |case| Some(queues(case)?.count as f64)),
    metric(("ready", Things, "ready messages"), Momentary, 100.0, |case| Some(queues(case)?.ready as f64)),
    metric(("unacknowledged", Things, "unacknowledged messages"), Momentary, 100.0, |case| Some(queues(case)?.unacknowledged as f64)),
    metric(("descriptors", Things, "file descriptors"), Level, 50.0, |case| Some(broker(case)?.descriptors?.used as f64)),
    metric(("blocked-connections", Things, "connections that an alarm blocks"), Level, 1.0, |case| Some(broker(case)?.blocked_connections? as f64)),
    metric(("disk.busy", Share, "busy time of the disk"), Loose, 0.05, |case| Some(disk(case)?.busy_share)),
    metric(("disk.write", Nanos, "mean time of a write to the disk"), Loose, SHORT, |case| Some(disk(case)?.write_ms? * 1e6)),
    metric(("disk.flush", Nanos, "mean time of a flush of the disk"), Loose, SHORT, |case| Some(disk(case)?.flush_ms? * 1e6)),
    metric(("host.steal", Share, "CPU time that the hypervisor takes"), Loose, 0.02, |case| Some(observed(case)?.steal_share)),
    metric(("host.throttled", Share, "throttled periods of the control group"), Loose, 0.05, |case| host(case)?.throttled_periods),
];

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use super::METRICS;

    #[test]
    fn names_and_titles_are_distinct() {
        let names: BTreeSet<&str> = METRICS.iter().map(|metric| metric.id.name).collect();
        let titles: BTreeSet<&str> = METRICS.iter().map(|metric| metric.id.title).collect();
        assert_eq!((names.len(), titles.len()), (METRICS.len(), METRICS.len()));
        let is_plain = |name: &&str| {
            name.bytes().all(|byte| {
                byte.is_ascii_lowercase() || byte.is_ascii_digit() || b".-".contains(&byte)
            })
        };
        assert!(names.iter().all(is_plain), "{names:?}");
    }

    #[test]
    fn every_figure_has_a_least_change() {
        for metric in METRICS {
            assert!(metric.least > 0.0 && metric.variation.threshold() > 0.0, "{}", metric.id.name);
        }
    }
}
