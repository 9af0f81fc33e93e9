//! The values of runs, read from their directories.

use std::path::Path;

use rabbitscope_analysis::experiment::{value, warm_up_seconds};
use rabbitscope_runs::{
    capacity::CapacityOutcome,
    experiment::{RunMetric, RunOfArm},
    record::{RunRecord, SecondRow},
};

use crate::{capacity, rundir};

/// Adds the values of the runs of one round, all without the longest warm-up among them. A run that cannot be read, or
/// lacks the primary metric, is in doubt. Returns the broker of each run that could be read.
pub(super) fn measure(
    experiment: &Path,
    metrics: &[RunMetric],
    round: &mut [RunOfArm],
) -> Vec<(usize, String)> {
    if metrics == [RunMetric::Capacity] {
        return measure_searches(experiment, round);
    }
    let read: Vec<_> =
        round.iter().map(|run| rundir::read_run(&experiment.join(&run.directory))).collect();
    let series = read.iter().flatten().map(|(_, series)| series.as_slice());
    // Slices start when the broker is warm.
    let is_live = round.iter().any(|run| run.slice.is_some());
    let skip = if is_live { 0 } else { series.map(warm_up).max().unwrap_or(0) };
    let mut brokers = Vec::new();
    for (run, read) in round.iter_mut().zip(read) {
        run.warm_up_nanos = skip as u64 * 1_000_000_000;
        match read {
            Ok((record, series)) => {
                take(run, metrics, (&record, &series), skip);
                let broker = &record.broker;
                let words = [&broker.product, &broker.version, &broker.platform];
                brokers.push((run.arm, words.map(String::as_str).join(" ")));
            }
            // A failed run has a doubt already.
            Err(error) if run.doubts.is_empty() => run.doubts.push(format!("{error:#}")),
            Err(_) => {}
        }
    }
    brokers
}

/// Adds the results of searches.
fn measure_searches(experiment: &Path, round: &mut [RunOfArm]) -> Vec<(usize, String)> {
    let mut brokers = Vec::new();
    for run in round {
        match capacity::read(&experiment.join(&run.directory)) {
            Ok(found) => {
                let is_found = found.outcome == CapacityOutcome::Found;
                run.values = vec![found.rate.filter(|_| is_found)];
                brokers.push((run.arm, found.broker));
            }
            Err(error) if run.doubts.is_empty() => run.doubts.push(format!("{error:#}")),
            Err(_) => {}
        }
    }
    brokers
}

fn take(
    run: &mut RunOfArm,
    metrics: &[RunMetric],
    (record, series): (&RunRecord, &[SecondRow]),
    skip: usize,
) {
    let slice = run.slice;
    let counts = |second: u32| match slice {
        Some(slice) => slice.has(second),
        None => second as usize >= skip,
    };
    run.values = metrics.iter().map(|metric| value(*metric, record, series, counts)).collect();
    if run.values.first().is_some_and(Option::is_none) && run.doubts.is_empty() {
        run.doubts.push(format!("the run has no {}", metrics[0]));
    }
}

/// Returns the warm-up in seconds by MSER-5, from the rate of all moved messages.
fn warm_up(series: &[SecondRow]) -> usize {
    let moved = |row: &SecondRow| {
        let messages = row.counts.accepted_or_written() + row.counts.consumed + row.counts.replies;
        messages as f64 * 1e9 / row.interval_nanos.max(1) as f64
    };
    let rates: Vec<f64> = series.iter().filter(|row| !row.draining).map(moved).collect();
    warm_up_seconds(&rates)
}
