//! Runs one arm after the other, until the last look or a look that decides.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc, Mutex, PoisonError,
        atomic::{AtomicBool, Ordering},
    },
    thread,
    time::{Instant, SystemTime, UNIX_EPOCH},
};

use anyhow::anyhow;
use rabbitscope_analysis::experiment::is_decided;
use rabbitscope_runs::{
    experiment::{Design, ExperimentResult, RunOfArm},
    record::RunRecord,
};

use super::{
    Plan, PlannedArm,
    directory::ExperimentDirectory,
    journal::Journal,
    machine_share::{MachineShare, MachineWatch},
    results,
    rounds::Rounds,
    text,
};
use crate::{
    leftovers::RemovalConsent,
    output,
    run::{self, Finished},
    rundir::RunDirectory,
    watch::{Line, Watchers},
};

/// Rounds in a row with a run that could not be made, after which no further one is tried.
const MAX_FAILED_ROUNDS: u32 = 3;

/// CPU time that others may always use during a run, in seconds: what ending the broker before it takes.
const USUAL_OTHERS: f64 = 0.5;

/// An experiment that has ended, one way or the other.
#[derive(Debug)]
pub struct Concluded {
    /// Contents of `experiment.json`.
    pub result: ExperimentResult,
    /// Where everything is.
    pub directory: PathBuf,
    /// What could not be written, or why no further round was tried.
    pub failure: Option<anyhow::Error>,
}

/// Conducts the experiment in `out`, new or begun, or in a directory with a name of its own. `stop` ends it early;
/// what was measured is kept, and the same call goes on.
pub fn conduct(
    plan: &Plan,
    out: Option<&Path>,
    asked: RemovalConsent,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Concluded> {
    let (directory, journal, runs) = ExperimentDirectory::open(out, plan)?;
    let rounds = Rounds::of(plan, runs, directory.path());
    let mut conductor =
        Conductor { plan, directory, journal, rounds, asked, stop, began: Instant::now(), made: 0 };
    conductor.announce();
    let outcome = conductor.go();
    let Conductor { directory, mut rounds, .. } = conductor;
    rounds.conclude();
    let mut result = rounds.result;
    let failure = match outcome {
        Ok(()) if stop.load(Ordering::Relaxed) => {
            result.aborted = Some("ended early on request".to_owned());
            None
        }
        Ok(()) => None,
        Err(error) => {
            result.aborted = Some(format!("{error:#}"));
            Some(error)
        }
    };
    let unwritten = results::write(&result, directory.path()).error();
    Ok(Concluded { result, directory: directory.path().to_owned(), failure: failure.or(unwritten) })
}

struct Conductor<'a> {
    plan: &'a Plan,
    directory: ExperimentDirectory,
    journal: Journal,
    rounds: Rounds,
    asked: RemovalConsent,
    stop: &'a Arc<AtomicBool>,
    began: Instant,
    /// Runs that this process has made.
    made: u32,
}

impl Conductor<'_> {
    fn announce(&self) {
        let place = self.directory.path().display();
        let there = self.rounds.result.runs.len();
        output::note(&match there {
            0 => format!("{}; results in {place}", self.plan.size()),
            _ => format!("{}; {there} of them are in {place} already", self.plan.size()),
        });
    }

    fn go(&mut self) -> anyhow::Result<()> {
        let design = &self.plan.experiment.design;
        let mut failed_rounds = 0;
        for round in 1..=design.max_rounds_made() {
            self.make(round)?;
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            // What an interrupted experiment has beyond this round was decided to be made.
            if self.rounds.goes_beyond(round) {
                continue;
            }
            self.rounds.measure(round, self.directory.path());
            self.rounds.conclude();
            failed_rounds = if self.rounds.has_failed(round) { failed_rounds + 1 } else { 0 };
            if failed_rounds >= MAX_FAILED_ROUNDS {
                return Err(self.only_failures(round));
            }
            let counted = self.rounds.counted();
            let is_look = design.looks.contains(&counted);
            if counted >= design.rounds || is_look && is_decided(&self.rounds.result) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn only_failures(&self, round: u32) -> anyhow::Error {
        let dropped = self.rounds.result.dropped.iter().rev();
        let reason = dropped.filter(|it| it.round == round).map(|it| it.reason.as_str()).next();
        anyhow!(
            "{MAX_FAILED_ROUNDS} rounds in a row gave no result: {}",
            reason.unwrap_or_default()
        )
    }

    /// Makes the runs that a round lacks.
    fn make(&mut self, round: u32) -> anyhow::Result<()> {
        for (position, arm) in self.rounds.missing(round) {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let place = (round, position);
            let name = self.directory.place_of_run(place, &self.plan.arms[arm].arm.name);
            self.journal.begin(&name)?;
            let run = self.run(place, arm, name);
            // What was cut short is no run of this arm, and is made again.
            let Some(run) = run.filter(|_| !self.stop.load(Ordering::Relaxed)) else {
                return Ok(());
            };
            self.journal.end(&run)?;
            self.made += 1;
            output::note(&text::run_of_arm(self.plan, &run, self.left(round)));
            self.rounds.add(run);
        }
        Ok(())
    }

    /// About how long the experiment still takes, from what its runs took so far.
    fn left(&self, round: u32) -> std::time::Duration {
        let missing = self.rounds.missing(round).len().saturating_sub(1);
        let rounds = self.plan.experiment.design.rounds;
        let later = rounds.saturating_sub(self.rounds.counted() + 1) as usize;
        let runs = u32::try_from(missing + later * self.plan.arms.len()).unwrap_or(u32::MAX);
        self.began.elapsed() / self.made.max(1) * runs
    }

    /// One run; absent when it was stopped before it measured anything.
    fn run(
        &self,
        (round, position): (u32, usize),
        arm: usize,
        directory: String,
    ) -> Option<RunOfArm> {
        let started = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let (finished, share) = self.run_aside(&self.plan.arms[arm], &directory);
        let doubts = match &finished {
            Err(_) if self.stop.load(Ordering::Relaxed) => return None,
            Err(error) => vec![format!("{error:#}")],
            Ok(finished) => doubts(&finished.record, share, &self.plan.experiment.design),
        };
        Some(RunOfArm {
            round,
            position: u32::try_from(position).unwrap_or(u32::MAX),
            arm,
            directory,
            started_unix_nanos: u64::try_from(started.as_nanos()).unwrap_or(u64::MAX),
            values: Vec::new(),
            doubts,
            stolen_share: share.map(|it| it.stolen),
            foreign_share: share.map(|it| it.foreign),
            warm_up_nanos: 0,
        })
    }

    /// On a thread of its own: a run gives up the privileges of its thread, and the next one needs them.
    fn run_aside(
        &self,
        planned: &PlannedArm,
        directory: &str,
    ) -> (anyhow::Result<Finished>, Option<MachineShare>) {
        let place = self.directory.path().join(directory);
        let seen = Arc::new(Mutex::new(None));
        let run = || {
            let directory = RunDirectory::create(&place)?;
            let watch = MachineWatch::new(Arc::clone(&seen));
            let watchers = Watchers::new(vec![Box::new(Line::default()), Box::new(watch)]);
            run::run(&planned.scenario, self.asked, &directory, watchers, self.stop)
        };
        let finished = thread::scope(|scope| scope.spawn(run).join());
        let finished = finished.unwrap_or_else(|_| Err(anyhow!("the run panicked")));
        let share = *seen.lock().unwrap_or_else(PoisonError::into_inner);
        (finished, share)
    }
}

/// Why the figures of a run are not to be compared.
fn doubts(record: &RunRecord, share: Option<MachineShare>, design: &Design) -> Vec<String> {
    let share = share.unwrap_or_default();
    let percent = |share: f64| format!("{:.0} % of the machine's CPU time", 100.0 * share);
    let stolen = (share.stolen > design.max_stolen)
        .then(|| format!("the host took {} away", percent(share.stolen)));
    let has_others = share.foreign > design.max_others && share.foreign_seconds > USUAL_OTHERS;
    let foreign = has_others.then(|| format!("others used {}", percent(share.foreign)));
    let verdict = record.verdict.reason().map(str::to_owned);
    let doubts = record.doubts.iter().map(|doubt| doubt.reason.clone());
    verdict.into_iter().chain(doubts).chain(stolen).chain(foreign).collect()
}
