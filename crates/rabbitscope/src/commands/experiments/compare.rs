//! `rabbitscope compare`: two finished runs, or two scenarios in rounds.

use std::path::{Path, PathBuf};

use rabbitscope_experiments::{
    comparison::{pair_in_words, read_pair},
    experiment::Plan,
};
use rabbitscope_runs::experiment::{Arm, Design, Experiment, RunMetric};
use rabbitscope_terminal::{UsageError, output};

use super::experiment::Options;
use crate::commands::arguments::number;
use crate::exit::Exit;

/// Compare two run directories, or two scenarios in rounds of random order
///
/// Two run directories: settings and results side by side. One pair cannot rule out chance.
///
/// Two scenarios, or one with different values: an experiment with these arms.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Run directory or scenario
    first: PathBuf,
    /// Second run directory or scenario; can be omitted for a scenario with `--set-b`
    second: Option<PathBuf>,
    /// Replace a value in the first scenario, for example `consumers.0.prefetch=10`
    #[arg(long = "set-a", value_name = "KEY=VALUE")]
    set_a: Vec<String>,
    /// Replace a value in the second scenario
    #[arg(long = "set-b", value_name = "KEY=VALUE")]
    set_b: Vec<String>,
    /// Metric to compare, for example `consumed.rate`; the first is the primary metric
    #[arg(long = "metric", value_name = "METRIC", default_value = "consumed.rate")]
    metrics: Vec<String>,
    /// Number of runs of each scenario, 6 or more
    #[arg(long, default_value_t = 20, value_parser = number::<u32>)]
    rounds: u32,
    /// Seed for the order of runs
    #[arg(long, default_value_t = 1, value_parser = number::<u64>)]
    seed: u64,
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
        let second = self.second.clone().unwrap_or_else(|| self.first.clone());
        match (self.first.is_dir(), second.is_dir()) {
            (true, true) => self.runs(&second),
            (false, false) => self.scenarios(&second),
            _ => {
                let reason = "compare two run directories or two scenarios, not one of each";
                Err(UsageError(reason.to_owned()).into())
            }
        }
    }

    fn runs(&self, second: &Path) -> anyhow::Result<Exit> {
        if self.second.is_none() || !self.set_a.is_empty() || !self.set_b.is_empty() {
            let reason = "to compare run directories, name both, and omit --set-a and --set-b";
            return Err(UsageError(reason.to_owned()).into());
        }
        rabbitscope_probe::drop_privileges()?;
        let pair = read_pair(&self.first, second)?;
        if self.options.json() {
            output::json(&pair)?;
        } else {
            output::result(&pair_in_words(&pair));
        }
        Ok(Exit::Done)
    }

    fn scenarios(&self, second: &Path) -> anyhow::Result<Exit> {
        if !(6..=10_000).contains(&self.rounds) {
            let reason = "--rounds must be from 6 to 10000: with fewer no difference can be shown";
            return Err(UsageError(reason.to_owned()).into());
        }
        let metrics = self.metrics.iter().map(|name| RunMetric::parse(name));
        let metrics = metrics.collect::<Result<Vec<_>, _>>().map_err(UsageError)?;
        if metrics.contains(&RunMetric::Capacity) {
            let reason = "--metric capacity.rate needs an experiment file with `design.capacity`";
            return Err(UsageError(reason.to_owned()).into());
        }
        let arm = |name: &str, overrides: &[String]| Arm {
            name: name.to_owned(),
            overrides: overrides.to_vec(),
            ..Arm::default()
        };
        let pair = [arm("A", &self.set_a), arm("B", &self.set_b)];
        let mut experiment = Experiment::of_pair(pair, metrics, (self.seed, self.rounds));
        experiment.design.max_others = self.max_others;
        let arms = experiment.arms.iter().map(|arm| {
            let scenario = if arm.name == "B" { second } else { &self.first };
            self.options.planned(arm, scenario, &[])
        });
        let arms = arms.collect::<anyhow::Result<_>>()?;
        let text = self.in_words(second);
        self.options.conduct(&Plan { experiment, arms, text })
    }

    /// Describes the options as text, so that different comparisons can be told apart.
    fn in_words(&self, second: &Path) -> String {
        format!(
            "# compare {} {}\n# --set-a {:?} --set-b {:?}\n# --metric {:?} --rounds {} --seed {}{}\n",
            self.first.display(),
            second.display(),
            self.set_a,
            self.set_b,
            self.metrics,
            self.rounds,
            self.seed,
            others(self.max_others)
        )
    }
}

/// Returns the option as text. The default is left out, so that experiments begun without the option can continue.
pub(super) fn others(max_others: f64) -> String {
    if (max_others - Design::of_rounds(1).max_others).abs() < 1e-9 {
        String::new()
    } else {
        format!(" --max-others {max_others}")
    }
}
