//! Two finished runs side by side: their differences in configuration and in measurements.

use std::{collections::BTreeMap, fmt::Write, path::Path};

use rabbitscope_analysis::experiment::{value, value_in_words};
use rabbitscope_artifacts::rundir;
use rabbitscope_runs::{
    experiment::RunMetric,
    record::{
        ExpectedLatency, ExpectedRate, Latency, Metric, Needs, Quantile, RunRecord, SecondRow,
    },
};
use rabbitscope_text::{Align, escapes, table};
use serde::Serialize;
use serde_json::Value;

/// Quantiles of the compared latencies.
const COMPARED_QUANTILES: [Quantile; 3] = [Quantile::P50, Quantile::P99, Quantile::P999];

/// Maximum number of differing keys in the text; JSON has all.
const MAX_KEYS_SHOWN: usize = 30;

/// A pair of runs.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunPair {
    names: [String; 2],
    /// Keys of scenario, broker and machine whose values differ.
    differing: Vec<DifferingKey>,
    /// Metrics that both runs have.
    metrics: Vec<ComparedMetric>,
    /// Reasons to doubt the figures of each run.
    doubts: [Vec<String>; 2],
}

/// A key of the configuration whose values differ.
#[derive(Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
struct DifferingKey {
    key: String,
    values: [Option<String>; 2],
}

#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
struct ComparedMetric {
    metric: String,
    unit: &'static str,
    values: [f64; 2],
    ratio: f64,
}

type Run = (RunRecord, Vec<SecondRow>);

impl RunPair {
    /// Reads two run directories.
    pub fn read(first: &Path, second: &Path) -> anyhow::Result<Self> {
        let runs = [rundir::read_run(first)?, rundir::read_run(second)?];
        let name = |path: &Path| path.display().to_string();
        Ok(Self::new([name(first), name(second)], &runs))
    }

    fn new(names: [String; 2], runs: &[Run; 2]) -> Self {
        Self {
            names,
            differing: differing(runs.each_ref().map(|(record, _)| keys(record))),
            metrics: metrics(runs).filter_map(|metric| compared(metric, runs)).collect(),
            doubts: runs.each_ref().map(|(record, _)| doubts(record)),
        }
    }

    /// Returns a table, with a note on the limits of one pair of runs.
    pub fn text(&self) -> String {
        let mut text = String::new();
        for (letter, name) in ["A", "B"].into_iter().zip(&self.names) {
            let _ = writeln!(text, "{letter}  {}", escapes::value(name));
        }
        for (letter, doubts) in ["A", "B"].into_iter().zip(&self.doubts) {
            for doubt in doubts {
                let _ = writeln!(text, "{letter} is in doubt: {}", escapes::value(doubt));
            }
        }
        let _ = writeln!(text, "\n{}\n", self.differences());
        let rows: Vec<[String; 4]> = self.metrics.iter().map(ComparedMetric::row).collect();
        let columns = [
            ("metric", Align::Left),
            ("A", Align::Right),
            ("B", Align::Right),
            ("change", Align::Right),
        ];
        text += &table(columns, &rows);
        text + "\n\nThis is one run of each, which does not show how much two equal runs differ on this machine. To \
                prove a change, use rounds (`rabbitscope compare A.toml B.toml`, `rabbitscope experiment`). Profiles: \
                `rabbitscope diff A B`.\n"
    }

    fn differences(&self) -> String {
        if self.differing.is_empty() {
            return "Scenario, broker and machine are the same.".to_owned();
        }
        let cell = |value: &Option<String>| value.clone().unwrap_or_else(|| "–".to_owned());
        let rows: Vec<[String; 3]> = self
            .differing
            .iter()
            .take(MAX_KEYS_SHOWN)
            .map(|entry| [entry.key.clone(), cell(&entry.values[0]), cell(&entry.values[1])])
            .collect();
        let more = self.differing.len().saturating_sub(MAX_KEYS_SHOWN);
        let columns = [("differs", Align::Left), ("A", Align::Left), ("B", Align::Left)];
        let more =
            if more > 0 { format!("\n… and {more} more; --json has all") } else { String::new() };
        table(columns, &rows) + &more
    }
}

impl ComparedMetric {
    fn row(&self) -> [String; 4] {
        let words = self.values.map(|value| value_in_words(value, self.unit));
        let change = format!("{:+.1} %", 100.0 * (self.ratio - 1.0));
        let [first, second] = words;
        [self.metric.clone(), first, second, change]
    }
}

/// Returns the metrics: rates, costs and latencies. If a run tells the ends apart, the latencies until delivered,
/// processed and settled replace the end-to-end latency.
fn metrics(runs: &[Run; 2]) -> impl Iterator<Item = RunMetric> {
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

fn compared(metric: RunMetric, runs: &[Run; 2]) -> Option<ComparedMetric> {
    let of = |(record, series): &Run| value(metric, record, series, |_| true);
    let values = [of(&runs[0])?, of(&runs[1])?];
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
        ("machine.cpu", record.machine.cpu.clone()),
        ("machine.cpus", record.machine.cpus.to_string()),
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

    fn run(published: u64, prefetch: u64) -> Run {
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
        let pair = RunPair::new(["a".to_owned(), "b".to_owned()], &[run(1000, 1), run(1500, 10)]);
        assert_eq!(
            pair.differing,
            [DifferingKey {
                key: "scenario.consumers.0.prefetch".to_owned(),
                values: [Some("1".to_owned()), Some("10".to_owned())],
            }]
        );
        assert_eq!(pair.metrics.len(), 1);
        let text = pair.text();
        assert!(text.contains("published.rate") && text.contains("+50.0 %"), "{text}");
        assert!(text.contains("one run of each"), "{text}");
        let same = RunPair::new(["a".to_owned(), "b".to_owned()], &[run(1, 1), run(1, 1)]).text();
        assert!(same.contains("are the same"), "{same}");
    }
}
