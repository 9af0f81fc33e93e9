//! The sequence of runs, one arm after the other, until the last look or a decisive one.

use std::{
    path::{Path, PathBuf},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Instant,
};

use anyhow::anyhow;
use rabbitscope_analysis::experiment::is_decided;
use rabbitscope_runner::leftovers::RemovalConsent;
use rabbitscope_runs::experiment::{ExperimentResult, LiveDesign, RunOfArm};
use rabbitscope_terminal::output;

use super::{
    Plan,
    directory::ExperimentDirectory,
    explanations::explain,
    journal::Journal,
    live, results,
    rounds::Rounds,
    single::{RunPlace, single},
    text,
};

/// Number of consecutive vain rounds after which an experiment ends. A round is vain if one of its runs failed, or if
/// no round counts so far.
const MAX_FAILED_ROUNDS: u32 = 3;

/// A finished experiment, complete or not.
#[derive(Debug)]
pub struct Concluded {
    /// Contents of `experiment.json`.
    pub result: ExperimentResult,
    /// Directory of all results.
    pub directory: PathBuf,
    /// The reason for unwritten results, or for the early end.
    pub failure: Option<anyhow::Error>,
}

/// Conducts the experiment in `out`, new or continued, or in a new directory named after it. `stop` ends it early.
/// Measurements are kept, and the same call continues.
pub fn conduct(
    plan: &Plan,
    out: Option<&Path>,
    asked: RemovalConsent,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Concluded> {
    let (directory, journal, runs) = ExperimentDirectory::open(out, plan)?;
    let rounds = Rounds::new(plan, runs, directory.path());
    let mut conductor =
        Conductor { plan, directory, journal, rounds, asked, stop, began: Instant::now(), made: 0 };
    conductor.announce();
    let outcome = conductor.go();
    let Conductor { directory, mut rounds, .. } = conductor;
    rounds.conclude();
    explain(&mut rounds.result, directory.path());
    // Known results may concern profiles, so this conclusion follows the explanations.
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
    /// Number of runs that this process made.
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
            match &self.plan.experiment.design.live {
                Some(design) => self.make_live(*design, round)?,
                None => self.make(round)?,
            }
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            self.rounds.measure(round, self.directory.path());
            // An interrupted experiment already decided to make the rounds beyond this one.
            if self.rounds.goes_beyond(round) {
                continue;
            }
            self.rounds.conclude();
            let counted = self.rounds.counted();
            let is_vain = counted == 0 || self.rounds.has_failed(round);
            failed_rounds = if is_vain { failed_rounds + 1 } else { 0 };
            if failed_rounds >= MAX_FAILED_ROUNDS {
                return Err(self.only_failures(round));
            }
            let is_look = design.looks.contains(&counted);
            if counted >= design.rounds || is_look && is_decided(&self.rounds.result) {
                return Ok(());
            }
        }
        Ok(())
    }

    fn only_failures(&self, round: u32) -> anyhow::Error {
        let dropped = self.rounds.result.dropped.iter().rev();
        let reason = dropped.filter(|one| one.round == round).map(|one| one.reason.as_str()).next();
        anyhow!(
            "{MAX_FAILED_ROUNDS} rounds in a row were not valid: {}; change the scenario, or reduce other load on the \
             machine",
            reason.unwrap_or_default()
        )
    }

    /// Makes the missing runs of a round.
    fn make(&mut self, round: u32) -> anyhow::Result<()> {
        for (position, arm) in self.rounds.missing(round) {
            if self.stop.load(Ordering::Relaxed) {
                return Ok(());
            }
            let place = (round, position);
            let name = self.directory.place_of_run(place, &self.plan.arms[arm].arm.name);
            self.journal.begin(&name)?;
            let run = single(
                self.plan,
                RunPlace { round, position, arm, directory: name },
                self.directory.path(),
                self.asked,
                self.stop,
            );
            // A run that was cut short is not a run of this arm, and is repeated.
            let Some((run, results)) = run.filter(|_| !self.stop.load(Ordering::Relaxed)) else {
                return Ok(());
            };
            self.made += 1;
            output::note(&text::run_of_arm(self.plan, &run, self.left(round)));
            self.rounds.know(&run.directory, results);
            self.keep(run)?;
        }
        Ok(())
    }

    /// Makes the missing rounds that share a broker with this one.
    fn make_live(&mut self, design: LiveDesign, round: u32) -> anyhow::Result<()> {
        let asked = self.plan.experiment.design.rounds;
        let rounds = design.rounds_with(round, asked);
        // Rounds that do not count are replaced by as many as are lacking.
        let lacking =
            if round > asked { asked.saturating_sub(self.rounds.counted()) } else { asked };
        let missing: Vec<u32> = rounds
            .filter(|round| !self.rounds.missing(*round).is_empty())
            .take(lacking as usize)
            .collect();
        if missing.is_empty() || self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        let place = self.directory.place_of_live_run(missing[0]);
        self.journal.begin(&place)?;
        let (made, results) =
            live::run(self.plan, (design, &missing), (self.directory.path(), &place), self.stop)?;
        // An interrupted run is repeated as a whole, on another broker.
        if self.stop.load(Ordering::Relaxed) {
            return Ok(());
        }
        output::note(&text::live_run(self.plan, design, &missing, &made));
        self.rounds.know(&place, results);
        made.into_iter()
            .filter(|run| missing.contains(&run.round))
            .try_for_each(|run| self.keep(run))
    }

    fn keep(&mut self, run: RunOfArm) -> anyhow::Result<()> {
        self.journal.end(&run)?;
        self.rounds.add(run);
        Ok(())
    }

    /// Estimates the remaining time of the experiment from the duration of its runs so far.
    fn left(&self, round: u32) -> std::time::Duration {
        let missing = self.rounds.missing(round).len().saturating_sub(1);
        let rounds = self.plan.experiment.design.rounds;
        let later = rounds.saturating_sub(self.rounds.counted() + 1) as usize;
        let runs = u32::try_from(missing + later * self.plan.runs_of_a_round()).unwrap_or(u32::MAX);
        self.began.elapsed() / self.made.max(1) * runs
    }
}
