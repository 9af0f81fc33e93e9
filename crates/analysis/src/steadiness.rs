//! Steadiness of a run, and the end of its warm-up.
//!
//! A warm-up ends when throughput no longer varies: the coefficient of variation of the last [`WINDOW`] seconds is at
//! most [`MAX_VARIATION`]. The method is from Georges, Buytaert, Eeckhout, *Statistically Rigorous Java Performance
//! Evaluation*, OOPSLA 2007, section 4.3. They take 1 or 2 % for repetitions of the same work; seconds of a broker vary
//! more. The rest is steady if it has no trend and messages do not pile up. The trend is the median of all slopes
//! between two seconds (Theil 1950, Sen 1968), which a few outliers do not move.

use rabbitscope_runs::record::{SecondRow, Steadiness};

/// Number of seconds in the warm-up's window.
const WINDOW: usize = 5;
const MAX_VARIATION: f64 = 0.05;

/// Largest changes over the whole measured time, as shares of the median, that count as no trend.
const MAX_THROUGHPUT_DRIFT: f64 = 0.1;
const MAX_LATENCY_GROWTH: f64 = 0.5;
/// Latency in nanoseconds that may vary with the operating system.
const LATENCY_NOISE: f64 = 1e6;
/// Largest backlog, as a share of the published messages.
const MAX_BACKLOG: f64 = 0.02;

/// Fewest seconds for a trend.
const FEWEST: usize = 5;

/// Returns whether the throughput of these seconds has settled at their end.
pub fn has_settled(series: &[SecondRow]) -> bool {
    let Some(start) = series.len().checked_sub(WINDOW) else { return false };
    let rows: Vec<&SecondRow> = series[start..].iter().collect();
    let passage = MessageCounter::new(&rows);
    let rates: Vec<f64> = rows.iter().map(|row| passage.rate(row)).collect();
    let mean = rates.iter().sum::<f64>() / rates.len() as f64;
    let squares = rates.iter().map(|rate| (rate - mean).powi(2)).sum::<f64>();
    let deviation = (squares / (rates.len() - 1) as f64).sqrt();
    mean > 0.0 && deviation / mean <= MAX_VARIATION
}

/// Returns the trends of the measured part of a run; absent for fewer than 5 whole seconds.
pub fn steadiness(series: &[SecondRow]) -> Option<Steadiness> {
    let is_measured =
        |row: &&SecondRow| !row.draining && !row.warming && row.interval_nanos >= 500_000_000;
    let rows: Vec<&SecondRow> = series.iter().filter(is_measured).collect();
    if rows.len() < FEWEST {
        return None;
    }
    let passage = MessageCounter::new(&rows);
    let rates: Vec<f64> = rows.iter().map(|row| passage.rate(row)).collect();
    let throughput_drift = drift(&rates);
    let interrupted = rows.iter().filter(|row| is_interrupted(row)).count();
    let latencies: Vec<f64> = rows.iter().filter_map(|row| median_latency(row)).collect();
    let latency_drift = (latencies.len() >= FEWEST).then(|| drift(&latencies));
    let grows = latency_drift.is_some_and(|drift| drift > MAX_LATENCY_GROWTH)
        && latencies.last().is_some_and(|last| last - latencies[0] > LATENCY_NOISE);
    let backlog_growth = backlog_growth(&rows);
    let piles_up = backlog_growth.is_some_and(|share| share > MAX_BACKLOG);
    let moves = throughput_drift.abs() > MAX_THROUGHPUT_DRIFT;
    let percent = |share: f64| 100.0 * share;
    let backlog = piles_up.then(|| {
        let share = percent(backlog_growth.unwrap_or_default());
        format!("{share:.0} % of the messages published were not consumed: they pile up")
    });
    let sentence = if interrupted > 0 {
        format!(
            "in {interrupted} of {} seconds, the broker was unavailable or an alarm blocked publishers",
            rows.len()
        )
    } else if moves {
        let change = if throughput_drift > 1.0 {
            "more than doubled".to_owned()
        } else {
            format!("changed by {:+.0} %", percent(throughput_drift))
        };
        let also = backlog.map(|backlog| format!("; {backlog}")).unwrap_or_default();
        format!("throughput {change} over the measured time{also}")
    } else if let Some(backlog) = backlog {
        backlog
    } else if grows {
        let growth = percent(latency_drift.unwrap_or_default());
        format!("the median latency grew by {growth:.0} % over the measured time")
    } else {
        "throughput, latency and backlog show no trend".to_owned()
    };
    Some(Steadiness {
        steady: interrupted == 0 && !moves && !piles_up && !grows,
        seconds: rows.len() as u64,
        throughput_drift,
        latency_drift,
        backlog_growth,
        sentence,
    })
}

/// The counter of messages at the end of their way, as far as any of the seconds shows it.
#[derive(Clone, Copy)]
struct MessageCounter(fn(&SecondRow) -> u64);

impl MessageCounter {
    fn new(rows: &[&SecondRow]) -> Self {
        let ends: [fn(&SecondRow) -> u64; 2] =
            [|row| row.counts.consumed, |row| row.counts.confirmed];
        let seen = ends.into_iter().find(|count| rows.iter().any(|row| count(row) > 0));
        Self(seen.unwrap_or(|row| row.counts.accepted_or_written()))
    }

    /// Returns messages per second.
    fn rate(self, row: &SecondRow) -> f64 {
        self.0(row) as f64 * 1e9 / row.interval_nanos.max(1) as f64
    }
}

/// Returns whether service was missing, or an alarm held publishers, for at least half of this second.
fn is_interrupted(row: &SecondRow) -> bool {
    row.counts.without_service_nanos.max(row.counts.alarm_nanos) >= row.interval_nanos / 2
}

fn median_latency(row: &SecondRow) -> Option<f64> {
    let latencies = &row.latencies;
    let end_to_end = latencies.processed_latency.or(latencies.end_to_end_latency);
    end_to_end.or(latencies.confirm_latency).map(|latency| latency.p50 as f64)
}

/// Returns the unconsumed share of published messages; absent if none was published or none consumed.
fn backlog_growth(rows: &[&SecondRow]) -> Option<f64> {
    let published: u64 = rows.iter().map(|row| row.counts.accepted_or_written()).sum();
    let consumed: u64 = rows.iter().map(|row| row.counts.consumed).sum();
    (published > 0 && consumed > 0).then(|| 1.0 - consumed as f64 / published as f64)
}

/// Returns the change from the first value to the last on the line of Theil and Sen, which is cut at 0 because values
/// are not negative. It is a share of the line's start, or of the mean if the line starts at 0.
fn drift(values: &[f64]) -> f64 {
    let mut slopes = Vec::with_capacity(values.len() * values.len() / 2);
    for (index, value) in values.iter().enumerate() {
        let later = values[index + 1..].iter().zip(1_u32..);
        slopes.extend(later.map(|(next, distance)| (next - value) / f64::from(distance)));
    }
    let slope = median(&mut slopes);
    let starts = values.iter().zip(0_u32..).map(|(value, index)| value - slope * f64::from(index));
    let start = median(&mut starts.collect::<Vec<_>>());
    let end = (start + slope * (values.len() - 1) as f64).max(0.0);
    let start = start.max(0.0);
    let mean = values.iter().sum::<f64>() / values.len() as f64;
    let whole = if start > 0.0 { start } else { mean };
    if whole > 0.0 { (end - start) / whole } else { 0.0 }
}

fn median(values: &mut [f64]) -> f64 {
    values.sort_by(f64::total_cmp);
    let middle = values.len() / 2;
    match values.len() {
        0 => 0.0,
        length if length % 2 == 1 => values[middle],
        _ => f64::midpoint(values[middle - 1], values[middle]),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::Percentiles;

    use rabbitscope_runs::record::{Counters, SecondLatencies};

    use super::*;

    fn row(published: u64, consumed: u64, p50: u64) -> SecondRow {
        SecondRow {
            interval_nanos: 1_000_000_000,
            counts: Counters {
                published,
                accepted: published.into(),
                consumed,
                ..Counters::default()
            },
            latencies: SecondLatencies {
                end_to_end_latency: Some(Percentiles { p50, ..Percentiles::default() }),
                ..SecondLatencies::default()
            },
            ..SecondRow::default()
        }
    }

    #[test]
    fn a_warm_up_ends_when_rates_agree() {
        fn check(rates: &[u64], expected: bool) {
            let rows: Vec<_> = rates.iter().map(|rate| row(*rate, *rate, 1)).collect();
            assert_eq!(has_settled(&rows), expected, "{rates:?}");
        }
        check(&[], false);
        check(&[100; 4], false);
        check(&[100; 5], true);
        check(&[0; 5], false);
        check(&[10, 50, 80, 95, 100, 101], false);
        check(&[10, 50, 97, 100, 101, 99, 103], true);
    }

    #[test]
    fn trends_are_found() {
        fn check(rows: impl Fn(u64) -> SecondRow, expected: Option<&str>) {
            let rows: Vec<_> = (0..20).map(rows).collect();
            let found = steadiness(&rows).unwrap();
            assert_eq!(found.steady, expected.is_none(), "{found:?}");
            assert!(found.sentence.contains(expected.unwrap_or("no trend")), "{found:?}");
        }
        // Noise, and one outlier.
        check(|second| row(1000 + second % 3 * 20, 1000 + second % 3 * 20, 5_000_000), None);
        check(
            |second| {
                row(1000, if second == 7 { 990 } else { 1000 }, 5_000_000 + second % 5 * 100_000)
            },
            None,
        );
        check(
            |second| row(1000 + second * 10, 1000 + second * 10, 5_000_000),
            Some("changed by +19 %"),
        );
        check(|_| row(1000, 900, 5_000_000), Some("10 % of the messages published"));
        check(|second| row(1000, 1000, 5_000_000 + second * 500_000), Some("median latency grew"));
        check(|second| row(1000, 1000, 50_000 + second * 10_000), None);
        assert_eq!(steadiness(&[row(1, 1, 1), row(1, 1, 1)]), None);
    }

    /// A fall of any shape is at most −1.
    #[test]
    fn a_broker_that_is_gone_is_not_steady() {
        fn check(rates: &[u64], expected: f64) {
            let rows: Vec<_> = rates.iter().map(|rate| row(*rate, *rate, 5)).collect();
            let found = steadiness(&rows).unwrap();
            assert!(!found.steady, "{found:?}");
            assert!((found.throughput_drift - expected).abs() < 0.005, "{found:?}");
        }
        check(&[48_384, 45_554, 46_674, 7572, 0, 0, 0, 0, 0, 0], -1.0);
        check(&[1000, 1000, 1000, 1000, 500, 5, 5, 5, 5, 5], -1.0);
        check(&[0, 0, 0, 0, 500, 1000, 1000, 1000, 1000, 1000], 2.143);
    }

    #[test]
    fn seconds_without_service_are_no_outliers() {
        let mut rows: Vec<_> = (0..20).map(|_| row(1000, 1000, 5)).collect();
        rows[7].counts.without_service_nanos = 400_000_000;
        assert!(steadiness(&rows).unwrap().steady);
        rows[8].counts.without_service_nanos = 900_000_000;
        rows[11].counts.alarm_nanos = 1_000_000_000;
        let found = steadiness(&rows).unwrap();
        assert!(!found.steady && found.sentence.starts_with("in 2 of 20 seconds"), "{found:?}");
    }

    #[test]
    fn warm_up_and_drain_are_left_out() {
        let mut rows: Vec<_> = (0..8).map(|_| row(1000, 1000, 5)).collect();
        for second in 0..3 {
            rows.insert(0, SecondRow { warming: true, ..row(second * 100, second * 100, 5) });
        }
        rows.push(SecondRow { draining: true, ..row(1, 1, 5) });
        let found = steadiness(&rows).unwrap();
        assert!(found.steady && found.seconds == 8, "{found:?}");
    }
}
