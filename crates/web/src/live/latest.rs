//! The main figures of the latest second of a run.

use rabbitscope_analysis::LoadRates;
use rabbitscope_runs::record::{
    Latency, LatencyFigures, LatencySummary, RunRecord, SecondLatencies, SecondRow,
};

use crate::figures::{Figure, figures_at};

/// Returns the tiles of the latest second. `so_far` has the totals.
pub(super) fn figures_of_second(so_far: &RunRecord, row: &SecondRow) -> Vec<Figure> {
    // A second of the warm-up counts like any other.
    let second = [SecondRow { warming: false, ..row.clone() }];
    let latencies = Latency::ALL.into_iter().filter_map(|latency| of_second(row, latency));
    let run = RunRecord {
        duration_nanos: row.interval_nanos,
        machine: so_far.machine.clone(),
        load: so_far.load.clone(),
        latencies: latencies.collect(),
        ..RunRecord::default()
    };
    let rates = LoadRates::from_series(&second);
    rates.map(|rates| figures_at(&run, &rates, &second)).unwrap_or_default()
}

/// Returns a latency of one second.
fn of_second(row: &SecondRow, latency: Latency) -> Option<LatencySummary> {
    let percentiles = (SecondLatencies::of(latency).value)(&row.latencies)?;
    let name = latency.name().to_owned();
    let figures = LatencyFigures { name, percentiles, ..LatencyFigures::default() };
    Some(LatencySummary { figures, ..LatencySummary::default() })
}
