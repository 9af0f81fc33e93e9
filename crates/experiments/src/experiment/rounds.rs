//! The ended runs, by round.

use std::{collections::BTreeSet, path::Path};

use rabbitscope_analysis::experiment::{alpha_of_each_look, conclude};
use rabbitscope_runs::experiment::{
    ArmFacts, ExperimentResult, FORMAT_VERSION, KnownExpectation, KnownResult, MetricFacts,
    MetricRole, RunMetric, RunOfArm, order_of_round,
};

use super::{
    Plan,
    measured::{Results, ResultsByDirectory, measure},
};

/// The results so far.
#[derive(Debug)]
pub(super) struct Rounds {
    pub(super) result: ExperimentResult,
    metrics: Vec<RunMetric>,
    /// Results of runs whose rounds are not measured yet.
    results: ResultsByDirectory,
    expected: Vec<KnownExpectation>,
}

impl Rounds {
    /// Starts from the runs that ended earlier, in the directory of the experiment.
    pub(super) fn new(plan: &Plan, runs: Vec<RunOfArm>, directory: &Path) -> Self {
        let experiment = &plan.experiment;
        let known = experiment.known.as_ref();
        let result = ExperimentResult {
            format_version: FORMAT_VERSION,
            name: experiment.name.clone(),
            description: experiment.description.clone(),
            seed: experiment.seed,
            rounds: experiment.design.rounds,
            looks: experiment.design.looks.clone(),
            alpha: alpha_of_each_look(&experiment.design.looks),
            indifferent: experiment.design.indifferent,
            arms: plan.arms.iter().map(|planned| facts(&planned.arm)).collect(),
            anchor_every: experiment.design.anchor_every,
            live_brokers: experiment.design.live.map(|live| live.brokers),
            axes: experiment.axes.clone(),
            metrics: experiment.metrics.iter().enumerate().map(|one| metric(one, plan)).collect(),
            runs,
            known: known.map(|known| KnownResult {
                expect: known.expect.iter().map(ToString::to_string).collect(),
                source: known.source.clone(),
                ..KnownResult::default()
            }),
            ..ExperimentResult::default()
        };
        let mut rounds = Self {
            result,
            metrics: experiment.metrics.clone(),
            results: ResultsByDirectory::new(),
            expected: known.map(|known| known.expect.clone()).unwrap_or_default(),
        };
        for round in 1..=experiment.design.max_rounds_made() {
            rounds.measure(round, directory);
        }
        rounds.conclude();
        rounds
    }

    /// Returns the arms that still have to run in a round, each with its position, in order.
    pub(super) fn missing(&self, round: u32) -> Vec<(usize, usize)> {
        let ExperimentResult { seed, arms, anchor_every, runs, .. } = &self.result;
        let order = order_of_round(*seed, round, arms.len(), *anchor_every);
        let has_run = |position: usize, arm: usize| {
            let mut of_round = runs.iter().filter(|run| run.round == round);
            of_round.any(|run| run.position as usize == position && run.arm == arm)
        };
        let places = (1..).zip(order).filter(|(position, arm)| !has_run(*position, *arm));
        places.collect()
    }

    pub(super) fn add(&mut self, run: RunOfArm) {
        self.result.runs.push(run);
    }

    /// Takes the results of runs in a directory. Other results are read from there.
    pub(super) fn know(&mut self, directory: &str, results: Option<Results>) {
        self.results.extend(results.map(|results| (directory.to_owned(), Ok(results))));
    }

    /// Adds the values of a complete round.
    pub(super) fn measure(&mut self, round: u32, directory: &Path) {
        if !self.missing(round).is_empty() {
            return;
        }
        let mut runs: Vec<RunOfArm> =
            self.result.runs.extract_if(.., |run| run.round == round).collect();
        for run in &runs {
            let read = || Results::read(&directory.join(&run.directory), &self.metrics);
            self.results.entry(run.directory.clone()).or_insert_with(read);
        }
        for (arm, broker) in measure(&self.metrics, &mut runs, &self.results) {
            self.result.arms[arm].broker = broker;
        }
        self.result.runs.extend(runs);
        self.result.runs.sort_by_key(|run| (run.round, run.position));
        // Arms that take turns in one run share its results with later rounds.
        let later = self.result.runs.iter().filter(|run| run.round > round);
        let later: BTreeSet<&str> = later.map(|run| run.directory.as_str()).collect();
        self.results.retain(|directory, _| later.contains(directory.as_str()));
    }

    pub(super) fn conclude(&mut self) {
        conclude(&mut self.result, &self.expected);
    }

    /// Returns the number of rounds that are complete and not left out.
    pub(super) fn counted(&self) -> u32 {
        let is_dropped = |round: u32| self.result.dropped.iter().any(|one| one.round == round);
        let made = self.result.runs.last().map_or(0, |run| run.round);
        let counted =
            (1..=made).filter(|round| !is_dropped(*round) && self.missing(*round).is_empty());
        u32::try_from(counted.count()).unwrap_or(u32::MAX)
    }

    /// Returns whether later rounds were started.
    pub(super) fn goes_beyond(&self, round: u32) -> bool {
        self.result.runs.iter().any(|run| run.round > round)
    }

    /// Returns whether at least one run of a round failed.
    pub(super) fn has_failed(&self, round: u32) -> bool {
        let mut of_round = self.result.runs.iter().filter(|run| run.round == round);
        of_round.any(|run| run.values.first().copied().flatten().is_none())
    }
}

fn facts(arm: &rabbitscope_runs::experiment::Arm) -> ArmFacts {
    let scenario = arm.scenario.iter().map(|path| format!("scenario {path}"));
    let files = arm.files.iter().map(|(key, paths)| format!("{key} {}", paths.join(", ")));
    ArmFacts {
        name: arm.name.clone(),
        changes: scenario.chain(arm.overrides.iter().cloned()).chain(files).collect(),
        control: arm.control,
        cell: arm.cell.clone(),
        broker: String::new(),
    }
}

fn metric((at, metric): (usize, &RunMetric), plan: &Plan) -> MetricFacts {
    MetricFacts {
        name: plan.name_of(*metric),
        unit: metric.unit_name().to_owned(),
        goal: metric.goal(),
        role: if at == 0 { MetricRole::Primary } else { MetricRole::Secondary },
    }
}
