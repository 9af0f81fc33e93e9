//! Two finished runs side by side: their differences in configuration and in measurements.

use std::collections::BTreeMap;

use rabbitscope_runs::{
    experiment::RunMetric,
    record::{
        ExpectedLatency, ExpectedRate, Latency, Metric, Needs, Quantile, RunRecord, SecondRow,
    },
};
use serde::Serialize;
use serde_json::Value;

use crate::experiment::value;

/// Quantiles of the compared latencies.
const COMPARED_QUANTILES: [Quantile; 3] = [Quantile::P50, Quantile::P99, Quantile::P999];

/// The limits of one pair of runs.
pub const ONE_PAIR_CAUTION: &str =
    "This is one run of each, which does not show how much two equal runs differ on this machine.";

/// A pair of runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunPair {
    /// Names of the runs, such as their directories.
    pub names: [String; 2],
    /// Keys of scenario, broker and machine whose values differ.
    pub differing: Vec<DifferingKey>,
    /// Metrics that both runs have.
    pub metrics: Vec<ComparedMetric>,
    /// Reasons to doubt the figures of each run.
    pub doubts: [Vec<String>; 2],
}

/// A key of the configuration whose values differ.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct DifferingKey {
    /// Path with dots, such as `scenario.consumers.0.prefetch`.
    pub key: String,
    /// Values; absent in a run without this key.
    pub values: [Option<String>; 2],
}

/// A metric of both runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ComparedMetric {
    /// Name, such as `confirm.p99`.
    pub metric: String,
    /// Name of the unit.
    pub unit: &'static str,
    /// Values, above 0.
    pub values: [f64; 2],
    /// The second value divided by the first.
    pub ratio: f64,
}

/// A run with its seconds.
type Run<'a> = (&'a RunRecord, &'a [SecondRow]);

impl RunPair {
    /// Compares two runs with their seconds.
    pub fn new(names: [String; 2], runs: [Run<'_>; 2]) -> Self {
        Self {
            names,
            differing: differing(runs.map(|(record, _)| keys(record))),
            metrics: metrics(runs).filter_map(|metric| compared(metric, runs)).collect(),
            doubts: runs.map(|(record, _)| doubts(record)),
        }
    }
}

/// Returns the metrics: rates, costs and latencies. If a run tells the ends apart, the latencies until delivered,
/// processed and settled replace the end-to-end latency.
fn metrics(runs: [Run<'_>; 2]) -> impl Iterator<Item = RunMetric> + use<> {
    use ExpectedLatency as Expected;
    let later = [
        Latency::Processed,
        Latency::ProcessedIntended,
        Latency::Settled,
        Latency::SettledIntended,
    ];
    let are_apart = runs
        .iter()
        .any(|(record, _)| later.iter().any(|latency| record.latency(*latency).is_some()));
    let is_left_out = move |latency: Expected| {
        let is_end_to_end = matches!(latency, Expected::EndToEnd | Expected::EndToEndIntended);
        latency.needs() == Needs::Deliveries && is_end_to_end == are_apart
    };
    let rates = ExpectedRate::ALL.iter().map(|rate| RunMetric::Load(Metric::Rate(*rate)));
    let costs = [RunMetric::BrokerCpu, RunMetric::ClientCpu, RunMetric::BrokerMemory];
    let kept = Expected::ALL.iter().copied().filter(move |latency| !is_left_out(*latency));
    let latencies = kept.flat_map(|latency| {
        COMPARED_QUANTILES.map(|quantile| RunMetric::Load(Metric::Latency(latency, quantile)))
    });
    rates.chain(costs).chain(latencies)
}

fn compared(metric: RunMetric, runs: [Run<'_>; 2]) -> Option<ComparedMetric> {
    let of = |(record, series): Run<'_>| value(metric, record, series, |_| true);
    let values = [of(runs[0])?, of(runs[1])?];
    let ratio = values[1] / values[0];
    Some(ComparedMetric { metric: metric.to_string(), unit: metric.unit_name(), values, ratio })
}

fn doubts(record: &RunRecord) -> Vec<String> {
    let doubts = record.doubts.iter().map(|doubt| doubt.reason.clone());
    record.verdict.reason().map(str::to_owned).into_iter().chain(doubts).collect()
}

/// Returns the dotted keys of a run's configuration, and of its environment.
fn keys(record: &RunRecord) -> BTreeMap<String, String> {
    let mut keys = BTreeMap::new();
    let broker = &record.broker;
    for (key, value) in [
        ("broker.product", broker.product.clone()),
        ("broker.version", broker.version.clone()),
        ("broker.platform", broker.platform.clone()),
        ("machine.kernel", record.machine.kernel.clone()),
        ("machine.distribution", record.machine.distribution.clone()),
        ("machine.cpu", record.machine.cpu.clone()),
        ("machine.cpus", record.machine.cpus.to_string()),
        ("machine.memory", gibibytes(record.machine.memory_bytes)),
        ("rabbitscope", record.rabbitscope.clone()),
    ] {
        keys.insert(key.to_owned(), value);
    }
    for patched in &broker.patched {
        let what = format!("{} {}", patched.functions.join(", "), patched.sha256);
        keys.insert(format!("broker.patched.{}", patched.module), what);
    }
    if let Ok(scenario) = serde_json::to_value(&record.scenario) {
        flatten("scenario", &scenario, &mut keys);
    }
    keys
}

/// Writes a size to a tenth: kernels of one machine reserve different parts of its memory.
fn gibibytes(bytes: u64) -> String {
    format!("{:.1} GiB", bytes as f64 / f64::from(1 << 30))
}

fn flatten(path: &str, value: &Value, keys: &mut BTreeMap<String, String>) {
    match value {
        Value::Object(table) => {
            table.iter().for_each(|(key, value)| flatten(&format!("{path}.{key}"), value, keys));
        }
        Value::Array(items) if items.iter().any(Value::is_object) => {
            let items = items.iter().enumerate();
            items.for_each(|(index, value)| flatten(&format!("{path}.{index}"), value, keys));
        }
        Value::String(text) => drop(keys.insert(path.to_owned(), text.clone())),
        other => drop(keys.insert(path.to_owned(), other.to_string())),
    }
}

fn differing([first, second]: [BTreeMap<String, String>; 2]) -> Vec<DifferingKey> {
    let mut all: Vec<&String> = first.keys().chain(second.keys()).collect();
    all.sort();
    all.dedup();
    let pairs = all.into_iter().map(|key| (key, [first.get(key), second.get(key)]));
    let differing = pairs.filter(|(_, [one, other])| one != other);
    differing
        .map(|(key, values)| DifferingKey {
            key: key.clone(),
            values: values.map(<Option<&String>>::cloned),
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::Counters;

    use super::*;

    fn run(published: u64, prefetch: u64) -> (RunRecord, Vec<SecondRow>) {
        let scenario = format!("{{\"consumers\":[{{\"prefetch\":{prefetch}}}],\"name\":\"a\"}}");
        let record = RunRecord {
            scenario: serde_json::from_str(&scenario).unwrap(),
            ..RunRecord::default()
        };
        let row = SecondRow {
            interval_nanos: 1_000_000_000,
            counts: Counters { published, accepted: published.into(), ..Counters::default() },
            ..SecondRow::default()
        };
        (record, vec![row])
    }

    #[test]
    fn what_differs_and_what_both_have() {
        let runs = [run(1000, 1), run(1500, 10)];
        let runs = runs.each_ref().map(|(record, series)| (record, &series[..]));
        let pair = RunPair::new(["a".to_owned(), "b".to_owned()], runs);
        assert_eq!(
            pair.differing,
            [DifferingKey {
                key: "scenario.consumers.0.prefetch".to_owned(),
                values: [Some("1".to_owned()), Some("10".to_owned())],
            }]
        );
        assert_eq!(pair.metrics.len(), 1);
        assert_eq!((&pair.metrics[0].metric[..], pair.metrics[0].ratio), ("published.rate", 1.5));
    }
}
