//! The values of runs: from the results that this process made, or from those in run directories.

use std::{collections::BTreeMap, path::Path};

use rabbitscope_analysis::experiment::{value, warm_up_seconds};
use rabbitscope_artifacts::rundir;
use rabbitscope_runner::run::Finished;
use rabbitscope_runs::{
    capacity::{Capacity, CapacityOutcome},
    experiment::{RunMetric, RunOfArm},
    record::{RunRecord, SecondRow},
};

use crate::capacity;

/// The results of a run, or of a search in its place.
#[derive(Debug)]
pub(super) enum Results {
    Run(Box<RunRecord>, Vec<SecondRow>),
    Search(Box<Capacity>),
}

/// Results by directory, or the reason why they cannot be read.
pub(super) type ResultsByDirectory = BTreeMap<String, Result<Results, String>>;

impl Results {
    /// Takes the results of a finished run; absent if its directory lacks some of them.
    pub(super) fn from_finished(finished: Finished) -> Option<Self> {
        let Finished { record, series, unwritten, .. } = finished;
        unwritten.is_none().then(|| Self::Run(Box::new(record), series))
    }

    /// Reads the directory of a run, or of a search if that is the subject of the experiment.
    pub(super) fn read(directory: &Path, metrics: &[RunMetric]) -> Result<Self, String> {
        let read = if metrics == [RunMetric::Capacity] {
            capacity::read(directory).map(|found| Self::Search(Box::new(found)))
        } else {
            rundir::read_run(directory).map(|(record, series)| Self::Run(Box::new(record), series))
        };
        read.map_err(|error| format!("{error:#}"))
    }

    fn broker(&self) -> String {
        match self {
            Self::Run(record, _) => {
                let broker = &record.broker;
                let words = [&broker.product, &broker.version, &broker.platform];
                words.map(String::as_str).join(" ")
            }
            Self::Search(found) => found.broker.clone(),
        }
    }

    /// Returns the warm-up in seconds by MSER-5, from the rate of all moved messages.
    fn warm_up(&self) -> usize {
        let Self::Run(_, series) = self else { return 0 };
        let moved = |row: &SecondRow| {
            let messages =
                row.counts.accepted_or_written() + row.counts.consumed + row.counts.replies;
            messages as f64 * 1e9 / row.interval_nanos.max(1) as f64
        };
        let rates: Vec<f64> = series.iter().filter(|row| !row.draining).map(moved).collect();
        warm_up_seconds(&rates)
    }
}

/// Adds the values of the runs of one round, all without the longest warm-up among them. A run without results, or
/// without the primary metric, is in doubt. Returns the broker of each run with results.
pub(super) fn measure(
    metrics: &[RunMetric],
    round: &mut [RunOfArm],
    results: &ResultsByDirectory,
) -> Vec<(usize, String)> {
    let of_round = round.iter().filter_map(|run| results.get(&run.directory)?.as_ref().ok());
    // Slices start when the broker is warm.
    let is_live = round.iter().any(|run| run.slice.is_some());
    let skip = if is_live { 0 } else { of_round.map(Results::warm_up).max().unwrap_or(0) };
    let mut brokers = Vec::new();
    for run in round {
        run.warm_up_nanos = skip as u64 * 1_000_000_000;
        match results.get(&run.directory) {
            Some(Ok(found)) => {
                take(run, metrics, found, skip);
                brokers.push((run.arm, found.broker()));
            }
            // A failed run has a doubt already.
            Some(Err(reason)) if run.doubts.is_empty() => run.doubts.push(reason.clone()),
            Some(Err(_)) | None => {}
        }
    }
    brokers
}

fn take(run: &mut RunOfArm, metrics: &[RunMetric], results: &Results, skip: usize) {
    let (record, series) = match results {
        Results::Run(record, series) => (record, series),
        Results::Search(found) => {
            let is_found = found.outcome == CapacityOutcome::Found;
            run.values = vec![found.rate.filter(|_| is_found)];
            return;
        }
    };
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
