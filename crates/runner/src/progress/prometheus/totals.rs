//! The text for a scraper: the counters since the start of the load, and the last second.

use std::{collections::BTreeMap, fmt};

use hdrhistogram::Histogram;
use rabbitscope_runs::record::{Counter, Counters, SecondRow, gauges};
use rabbitscope_text::metrics::{Family, Sample, write_family};

/// Upper bounds of the buckets in nanoseconds: 1, 2.5 and 5 in each power of ten from 100 µs to 10 s.
const BOUNDS: [u64; 16] = [
    100_000,
    250_000,
    500_000,
    1_000_000,
    2_500_000,
    5_000_000,
    10_000_000,
    25_000_000,
    50_000_000,
    100_000_000,
    250_000_000,
    500_000_000,
    1_000_000_000,
    2_500_000_000,
    5_000_000_000,
    10_000_000_000,
];

/// Counts since the start of the load.
#[derive(Debug)]
pub(super) struct Totals {
    scenario: String,
    counts: Counters,
    latencies: BTreeMap<String, Buckets>,
    polls: BTreeMap<String, PollCounts>,
    last: SecondRow,
}

#[derive(Debug, Default)]
struct Buckets {
    /// Counts of values at most the bound of the same index, and above the previous bound.
    counts: [u64; BOUNDS.len()],
    count: u64,
    sum_seconds: f64,
}

#[derive(Debug, Default)]
struct PollCounts {
    answered: u64,
    refused: u64,
    failed: u64,
    late: u64,
}

impl Totals {
    pub(super) fn new(scenario: &str) -> Self {
        Self {
            scenario: scenario.to_owned(),
            counts: Counters::default(),
            latencies: BTreeMap::new(),
            polls: BTreeMap::new(),
            last: SecondRow::default(),
        }
    }

    pub(super) fn add_second(&mut self, row: &SecondRow) {
        self.counts.add(&row.counts);
        for poll in &row.polls {
            let counts = self.polls.entry(poll.name.clone()).or_default();
            counts.answered += poll.answered - poll.refused.min(poll.answered);
            counts.refused += poll.refused;
            counts.failed += poll.failed;
            counts.late += poll.late;
        }
        self.last = row.clone();
    }

    pub(super) fn add_latency(&mut self, name: &str, interval: &Histogram<u64>) {
        let buckets = self.latencies.entry(name.to_owned()).or_default();
        let mut above = 0;
        for (count, bound) in buckets.counts.iter_mut().zip(BOUNDS) {
            *count += interval.count_between(above, bound);
            above = interval.next_non_equivalent(bound);
        }
        buckets.count += interval.len();
        buckets.sum_seconds += interval.mean() * interval.len() as f64 / 1e9;
    }

    fn sample(&self, value: f64) -> Sample<'_> {
        Sample::new(value).with("scenario", self.scenario.as_str())
    }

    fn histogram<'a>(&'a self, latency: &'a str, buckets: &Buckets) -> Vec<Sample<'a>> {
        let sample = |value: f64| self.sample(value).with("latency", latency);
        let mut below = 0;
        let mut samples: Vec<Sample<'a>> = buckets
            .counts
            .iter()
            .zip(BOUNDS)
            .map(|(count, bound)| {
                below += count;
                let bound = (bound as f64 / 1e9).to_string();
                sample(below as f64).with("le", bound).suffixed("_bucket")
            })
            .collect();
        let count = buckets.count as f64;
        samples.push(sample(count).with("le", "+Inf").suffixed("_bucket"));
        samples.push(sample(buckets.sum_seconds).suffixed("_sum"));
        samples.push(sample(count).suffixed("_count"));
        samples
    }

    fn poll_samples(&self) -> Vec<Sample<'_>> {
        let all = self.polls.iter().flat_map(|(group, counts)| {
            let results = [
                ("answered", counts.answered),
                ("error-status", counts.refused),
                ("failed", counts.failed),
            ];
            results.map(|(result, count)| {
                self.sample(count as f64).with("group", group.as_str()).with("result", result)
            })
        });
        all.collect()
    }
}

/// Writes a family, or nothing if it has no samples.
fn family(
    out: &mut fmt::Formatter<'_>,
    (name, kind, help): (&str, &'static str, &str),
    samples: Vec<Sample<'_>>,
) -> fmt::Result {
    if samples.is_empty() {
        return Ok(());
    }
    write_family(out, Family { name, kind, help }, samples)
}

impl fmt::Display for Totals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for Counter { metric, help, value, .. } in Counters::ALL {
            family(f, (metric, "counter", help), vec![self.sample(value(&self.counts) as f64)])?;
        }
        for gauge in gauges().filter(|gauge| !gauge.metric.is_empty()) {
            let sample = gauge.value(&self.last).map(|value| self.sample(value));
            family(f, (gauge.metric, "gauge", gauge.help), sample.into_iter().collect())?;
        }
        let histograms: Vec<_> = self
            .latencies
            .iter()
            .flat_map(|(name, buckets)| self.histogram(name, buckets))
            .collect();
        family(f, ("latency_seconds", "histogram", "Latencies of messages."), histograms)?;
        let help = "HTTP requests of pollers by their result.";
        family(f, ("http_requests_total", "counter", help), self.poll_samples())?;
        let late = self.polls.iter();
        let late = late
            .map(|(group, counts)| self.sample(counts.late as f64).with("group", group.as_str()));
        let late: Vec<_> = late.collect();
        family(f, ("http_late_requests_total", "counter", "HTTP requests sent late."), late)
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::NodeFigures;

    use super::*;

    #[test]
    fn counters_add_up_and_buckets_are_cumulative() {
        let mut totals = Totals::new("s");
        let counts = Counters { published: 10, churn_opened: 3, ..Counters::default() };
        let node = Some(NodeFigures::from_answer(|_| Some(7)));
        let row = SecondRow { counts, unconfirmed: 4, node, ..SecondRow::default() };
        totals.add_second(&row);
        totals.add_second(&SecondRow { unconfirmed: 1, ..row });
        for _ in 0..2 {
            let mut interval = Histogram::new(3).unwrap();
            for nanos in [50_000, 100_000, 260_000, 20_000_000_000] {
                interval.record(nanos).unwrap();
            }
            totals.add_latency("confirm", &interval);
        }
        let text = totals.to_string();
        for line in [
            "rabbitscope_published_messages_total{scenario=\"s\"} 20",
            "rabbitscope_churn_opened_total{scenario=\"s\"} 6",
            "rabbitscope_unconfirmed_messages{scenario=\"s\"} 1",
            "rabbitscope_latency_seconds_bucket{scenario=\"s\",latency=\"confirm\",le=\"0.0001\"} 4",
            "rabbitscope_latency_seconds_bucket{scenario=\"s\",latency=\"confirm\",le=\"0.00025\"} 4",
            "rabbitscope_latency_seconds_bucket{scenario=\"s\",latency=\"confirm\",le=\"0.0005\"} 6",
            "rabbitscope_latency_seconds_bucket{scenario=\"s\",latency=\"confirm\",le=\"10\"} 6",
            "rabbitscope_latency_seconds_bucket{scenario=\"s\",latency=\"confirm\",le=\"+Inf\"} 8",
            "rabbitscope_latency_seconds_count{scenario=\"s\",latency=\"confirm\"} 8",
        ] {
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
        assert!(!text.contains("broker_cpu"), "what is not known is not told");
        for figure in NodeFigures::ALL {
            let line = format!("rabbitscope_{}{{scenario=\"s\"}} 7", figure.metric);
            assert!(text.lines().any(|found| found == line), "{line} is not in\n{text}");
        }
    }
}
