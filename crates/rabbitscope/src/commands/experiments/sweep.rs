//! `rabbitscope sweep`: a scenario with one or two of its values varied.

use std::{num::NonZeroUsize, path::PathBuf};

use rabbitscope_experiments::experiment::Plan;
use rabbitscope_runs::experiment::{CapacityDesign, Design, Experiment, RunMetric, SweepAxis};
use rabbitscope_terminal::UsageError;

use super::{
    compare::others,
    experiment::{Options, search_overrides},
};
use crate::commands::arguments::number;
use crate::exit::Exit;

/// Vary one or two values of a scenario: every combination in each round, in random order
///
/// The same command on the same directory resumes an interrupted sweep. Sweep only scenarios that you trust: see `run
/// --help`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Scenario, a TOML file
    scenario: PathBuf,
    /// Values to vary, as in `consumers.0.prefetch=1,10,100`; repeat the option for a second key
    ///
    /// A range has a number of steps: `consumers.0.prefetch=1..1000:10:log`. The first value is the baseline of all
    /// comparisons.
    #[arg(long = "vary", value_name = "KEY=VALUES", required = true)]
    vary: Vec<String>,
    /// Metric to compare, for example `consumed.rate`; the first is the primary metric
    #[arg(long = "metric", value_name = "METRIC", default_value = "consumed.rate")]
    metrics: Vec<String>,
    /// Find the highest rate within this limit for every combination, for example `confirm.p99 < 20ms`
    ///
    /// A search replaces each run. Its result is the metric `capacity.rate`.
    #[arg(long = "capacity", value_name = "LIMIT", conflicts_with = "metrics")]
    capacity: Vec<String>,
    /// Number of runs of every combination
    #[arg(long, default_value_t = 6, value_parser = number::<u32>)]
    rounds: u32,
    /// Repeat the first combination after this number of other runs
    ///
    /// It also runs at the beginning and at the end of each round. These runs remove drift from the result.
    #[arg(long, value_name = "RUNS", value_parser = number::<NonZeroUsize>)]
    anchor: Option<NonZeroUsize>,
    /// Seed for the order of runs
    #[arg(long, default_value_t = 1, value_parser = number::<u64>)]
    seed: u64,
    /// Replace a value of the scenario in all runs, for example `run.duration=10s`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Maximum share of this machine's CPU time for other processes, for example 30%
    ///
    /// A round does not count if processes other than the broker and the load generator exceed this share.
    #[arg(long, value_name = "SHARE", default_value = "10%", value_parser = Design::share)]
    max_others: f64,
    #[command(flatten)]
    options: Options,
}

impl Args {
    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let experiment = self.experiment()?;
        let overrides = [&self.set[..], &search_overrides(&experiment.design)?].concat();
        let arms = experiment
            .arms
            .iter()
            .map(|arm| self.options.planned(arm, &self.scenario, &overrides))
            .collect::<anyhow::Result<_>>()?;
        let text = self.in_words();
        self.options.conduct(&Plan { experiment, arms, text })
    }

    fn experiment(&self) -> Result<Experiment, UsageError> {
        if self.vary.len() > 2 {
            return Err(UsageError(
                "--vary is allowed at most twice: a picture shows two keys".to_owned(),
            ));
        }
        let axes = self.vary.iter().map(|text| axis(text)).collect::<Result<Vec<_>, _>>()?;
        let metrics = self.metrics.iter().map(|name| RunMetric::parse(name));
        let mut metrics = metrics.collect::<Result<Vec<_>, _>>().map_err(UsageError)?;
        let is_search = !self.capacity.is_empty();
        if is_search {
            metrics = vec![RunMetric::Capacity];
        } else if metrics.contains(&RunMetric::Capacity) {
            let reason =
                "--metric capacity.rate is the result of a search: give --capacity LIMIT instead";
            return Err(UsageError(reason.to_owned()));
        }
        if !(1..=10_000).contains(&self.rounds) {
            return Err(UsageError("--rounds must be from 1 to 10000".to_owned()));
        }
        let base = self.scenario.display().to_string();
        let mut experiment = Experiment::of_sweep(&base, axes, metrics, (self.seed, self.rounds))
            .map_err(UsageError)?;
        experiment.design.anchor_every = self.anchor;
        experiment.design.max_others = self.max_others;
        experiment.design.capacity =
            is_search.then(|| CapacityDesign::within(self.capacity.clone()));
        Ok(experiment)
    }

    /// Describes the options as text, so that different sweeps can be told apart.
    fn in_words(&self) -> String {
        let list = |title: &str, lines: &[String]| {
            lines.iter().fold(String::new(), |text, line| format!("{text}# {title} {line}\n"))
        };
        format!(
            "# sweep {}\n{}{}{}{}# --rounds {} --seed {}{}\n",
            self.scenario.display(),
            list("--vary", &self.vary),
            [list("--metric", &self.metrics), list("--capacity", &self.capacity)].concat(),
            list("--set", &self.set),
            list(
                "--anchor",
                &self.anchor.map(|anchor| anchor.to_string()).into_iter().collect::<Vec<_>>()
            ),
            self.rounds,
            self.seed,
            others(self.max_others),
        )
    }
}

fn axis(text: &str) -> Result<SweepAxis, UsageError> {
    let (key, values) = text.split_once('=').ok_or_else(|| {
        UsageError(format!(
            "--vary {text}: write KEY=VALUES, as in `consumers.0.prefetch=1,10,100`"
        ))
    })?;
    SweepAxis::parse(key.trim(), values)
        .map_err(|reason| UsageError(format!("--vary {key}: {reason}")))
}
