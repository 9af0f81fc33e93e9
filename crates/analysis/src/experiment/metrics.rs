//! The figures of a run on which arms are compared.

use rabbitscope_runs::{
    experiment::{RunMetric, Side},
    record::{Counters, RunRecord, SecondRow},
    scenario::Metric,
};

/// Returns the value of a metric in its unit; absent if the run has none. Rates and costs cover the `counted` seconds
/// without the run's warm-up and its end. Latencies cover the run's own measured part.
pub fn value(
    metric: RunMetric,
    record: &RunRecord,
    series: &[SecondRow],
    counted: impl Fn(u32) -> bool,
) -> Option<f64> {
    let is_measured = |row: &&SecondRow| !row.warming && !row.draining && counted(row.second);
    let rows: Vec<&SecondRow> = series.iter().filter(is_measured).collect();
    let found = match metric {
        RunMetric::Load(Metric::Latency(name, quantile)) => {
            crate::expectations::latency(record, name, quantile)? as f64
        }
        RunMetric::Load(Metric::Rate(messages)) => rate(&rows, |counts| messages.count(counts))?,
        RunMetric::Items(Side::Published) => rate(&rows, |counts| counts.published_items)?,
        RunMetric::Items(Side::Consumed) => rate(&rows, |counts| counts.consumed_items)?,
        RunMetric::ItemBytes(Side::Published) => rate(&rows, |counts| counts.published_item_bytes)?,
        RunMetric::ItemBytes(Side::Consumed) => rate(&rows, |counts| counts.consumed_item_bytes)?,
        RunMetric::Load(Metric::Gauge(gauge, statistic)) => {
            crate::rates::gauge_value(gauge, statistic, rows.iter().copied())?
        }
        RunMetric::Load(Metric::Count(_) | Metric::Time(_)) | RunMetric::Capacity => return None,
        RunMetric::BrokerCpu => cost(&rows, &MESSAGES, |row| row.broker_cpu_cores)?,
        RunMetric::ClientCpu => cost(&rows, &MESSAGES, |row| row.client_cpu_cores)?,
        RunMetric::BrokerCpuPerItem => cost(&rows, &ITEMS, |row| row.broker_cpu_cores)?,
        RunMetric::ClientCpuPerItem => cost(&rows, &ITEMS, |row| row.client_cpu_cores)?,
        RunMetric::BrokerMemory => rows.iter().filter_map(|row| row.broker_rss_bytes).max()? as f64,
    };
    // Arms are compared by ratios, which need positive values.
    (found > 0.0).then_some(found)
}

/// The reader of a counter.
type Count = fn(&Counters) -> u64;

/// Counters of moved messages: published, answered or consumed. The first that is not 0 counts.
const MESSAGES: [Count; 3] =
    [Counters::accepted_or_written, |counts| counts.replies, |counts| counts.consumed];

/// Counters of moved items, in the same order.
const ITEMS: [Count; 2] = [|counts| counts.published_items, |counts| counts.consumed_items];

/// Returns the count per second.
fn rate(rows: &[&SecondRow], count: impl Fn(&Counters) -> u64) -> Option<f64> {
    let nanos: u64 = rows.iter().map(|row| row.interval_nanos).sum();
    (nanos > 0).then(|| total(rows, count) as f64 * 1e9 / nanos as f64)
}

/// Returns the CPU time per counted unit; absent if any second has no figure.
fn cost(
    rows: &[&SecondRow],
    counts: &[Count],
    cores: impl Fn(&SecondRow) -> Option<f64>,
) -> Option<f64> {
    let times = rows.iter().map(|row| Some(cores(row)? * row.interval_nanos as f64));
    let nanos = times.sum::<Option<f64>>()?;
    let moved = counts.iter().map(|count| total(rows, *count)).find(|count| *count > 0)?;
    Some(nanos / moved as f64)
}

fn total(rows: &[&SecondRow], count: impl Fn(&Counters) -> u64) -> u64 {
    rows.iter().map(|row| count(&row.counts)).sum()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(second: u32, published: u64, cores: Option<f64>) -> SecondRow {
        SecondRow {
            second,
            interval_nanos: 1_000_000_000,
            counts: Counters { published, accepted: published.into(), ..Counters::default() },
            broker_cpu_cores: cores,
            broker_rss_bytes: Some(u64::from(second) * 1000),
            ..SecondRow::default()
        }
    }

    #[test]
    fn what_is_left_out_counts_nowhere() {
        let mut rows = vec![row(0, 900, Some(2.0)), row(1, 100, Some(1.0)), row(2, 300, Some(1.0))];
        rows.push(SecondRow { draining: true, ..row(3, 7, Some(9.0)) });
        let value_of = |metric: &str, skip: u32| {
            let metric = RunMetric::parse(metric).unwrap();
            value(metric, &RunRecord::default(), &rows, |second| second >= skip)
        };
        assert_eq!(value_of("published.rate", 1), Some(200.0));
        assert_eq!(value_of("broker.cpu-per-message", 1), Some(5e6));
        assert_eq!(value_of("broker.memory", 0), Some(2000.0));
        assert_eq!(value_of("published.rate", 3), None);
        assert_eq!(value_of("consumed.rate", 0), None, "none was consumed");
        assert_eq!(value_of("confirm.p99", 0), None);
        rows[1].broker_cpu_cores = None;
        let cpu = value(RunMetric::BrokerCpu, &RunRecord::default(), &rows, |_| true);
        assert_eq!(cpu, None, "not known for all");
    }
}
