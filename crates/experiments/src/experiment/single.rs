//! One run of one arm, with its own broker.

use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::anyhow;
use rabbitscope_analysis::capacity::Range;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_runner::{
    leftovers::RemovalConsent,
    progress::{Line, MachineHistory, MachineShare, MachineWatch, Watchers},
    run::{self, Finished},
};
use rabbitscope_runs::{
    capacity::{Capacity, CapacityOutcome},
    experiment::{CapacityDesign, Design, RunOfArm},
    record::RunRecord,
    scenario::Scenario,
};

use super::{Plan, measured::Results};
use crate::capacity::{self, SearchSettings};

/// CPU time in seconds that other processes may always use during a run. Chosen: in runs of one second, others used
/// 0.35 s at most, right after the end of another broker.
const USUAL_OTHERS: f64 = 0.5;

/// Distance between neighbouring rates at the end of a search, as in `find-rate`.
const SEARCH_TOLERANCE: f64 = 0.05;

/// The place of a run in its experiment.
pub(super) struct RunPlace {
    pub(super) round: u32,
    pub(super) position: usize,
    pub(super) arm: usize,
    /// Path below the directory of the experiment.
    pub(super) directory: String,
}

/// Makes one run, and returns it with its results if they are complete. Absent if it was stopped before it measured
/// anything.
pub(super) fn single(
    plan: &Plan,
    place: RunPlace,
    directory: &Path,
    asked: RemovalConsent,
    stop: &Arc<AtomicBool>,
) -> Option<(RunOfArm, Option<Results>)> {
    let started_unix_nanos = now_unix_nanos();
    let mut scenario = plan.arms[place.arm].scenario.clone();
    scenario.seed = scenario.seed.of_round(place.round);
    let run_dir = directory.join(&place.directory);
    let design = &plan.experiment.design;
    let (made, share) = if let Some(capacity) = &design.capacity {
        let found = search_aside(scenario, capacity, &run_dir, asked, stop);
        (
            found.map(|found| (doubts_of_search(&found), Some(Results::Search(Box::new(found))))),
            None,
        )
    } else {
        let (finished, history) = run_aside(&scenario, &run_dir, asked, stop);
        let share = history.share(0..usize::MAX);
        let results = |finished: Finished| {
            (doubts(&finished.record, share, design), Results::from_finished(finished))
        };
        (finished.map(results), share)
    };
    let (doubts, results) = match made {
        Err(_) if stop.load(Ordering::Relaxed) => return None,
        Err(error) => (vec![format!("{error:#}")], None),
        Ok(made) => made,
    };
    let run = RunOfArm {
        round: place.round,
        position: u32::try_from(place.position).unwrap_or(u32::MAX),
        arm: place.arm,
        directory: place.directory,
        slice: None,
        patched: Vec::new(),
        started_unix_nanos,
        values: Vec::new(),
        doubts,
        stolen_share: share.map(|share| share.stolen),
        foreign_share: share.map(|share| share.foreign),
        warm_up_nanos: 0,
    };
    Some((run, results))
}

pub(super) fn now_unix_nanos() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    u64::try_from(now.as_nanos()).unwrap_or(u64::MAX)
}

/// Makes a search instead of a run. The search itself repeats steps in which the load generator was the limit.
fn search_aside(
    scenario: Scenario,
    design: &CapacityDesign,
    place: &Path,
    asked: RemovalConsent,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Capacity> {
    let question = SearchSettings {
        scenario,
        asked,
        range: Range {
            min: design.min,
            max: design.max,
            tolerance: SEARCH_TOLERANCE,
            crossings: design.crossings,
        },
        searches: 1,
        warm_up: design.warm_up,
        step: design.step,
    };
    let search = || {
        let directory = RunDirectory::create(place)?;
        capacity::find(&question, &directory, stop)
    };
    let found = thread::scope(|scope| scope.spawn(search).join());
    let (capacity, failure) = found.unwrap_or_else(|_| Err(anyhow!("the search panicked")))?;
    failure.map_or(Ok(capacity), Err)
}

/// Returns a doubt about a search that did not find the limit.
fn doubts_of_search(found: &Capacity) -> Vec<String> {
    let is_found = found.outcome == CapacityOutcome::Found;
    if is_found { Vec::new() } else { vec![found.sentence.clone()] }
}

/// Runs on a separate thread, because a run drops the privileges of its thread and the next run needs them.
fn run_aside(
    scenario: &Scenario,
    place: &Path,
    asked: RemovalConsent,
    stop: &Arc<AtomicBool>,
) -> (anyhow::Result<Finished>, MachineHistory) {
    let history = MachineHistory::default();
    let run = || {
        let directory = RunDirectory::create(place)?;
        let watch = MachineWatch::new(history.clone());
        let watchers = Watchers::new(vec![Box::new(Line::default()), Box::new(watch)]);
        run::run(scenario, asked, &directory, watchers, None, stop)
    };
    let finished = thread::scope(|scope| scope.spawn(run).join());
    (finished.unwrap_or_else(|_| Err(anyhow!("the run panicked"))), history)
}

/// Returns the reasons against a comparison of a run's figures.
pub(super) fn doubts(
    record: &RunRecord,
    share: Option<MachineShare>,
    design: &Design,
) -> Vec<String> {
    let verdict = record.verdict.reason().map(str::to_owned);
    let doubts = record.doubts.iter().map(|doubt| doubt.reason.clone());
    verdict.into_iter().chain(doubts).chain(doubts_of_machine(share, design)).collect()
}

/// Returns a doubt for each excessive share of CPU time that the host or other processes took.
pub(super) fn doubts_of_machine(share: Option<MachineShare>, design: &Design) -> Vec<String> {
    let share = share.unwrap_or_default();
    let percent = |share: f64| format!("{:.0} % of the machine's CPU time", 100.0 * share);
    let stolen = (share.stolen > design.max_stolen)
        .then(|| format!("the host took {} away", percent(share.stolen)));
    let has_others = share.foreign > design.max_others && share.foreign_seconds > USUAL_OTHERS;
    let foreign = has_others.then(|| format!("others used {}", percent(share.foreign)));
    stolen.into_iter().chain(foreign).collect()
}
