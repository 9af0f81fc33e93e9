//! `rabbitscope experiment`: several arms against each other, until there is a result.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_experiments::{
    capacity::limit_as_override,
    experiment::{Plan, PlannedArm, conduct, text},
};
use rabbitscope_files::{MAX_TEXT_BYTES, input};
use rabbitscope_runner::run;
use rabbitscope_runs::{
    experiment::{self, Arm, Design},
    scenario::BrokerSpec,
};
use rabbitscope_terminal::{UsageError, output};

use crate::{
    commands::runs::{ConsentArgs, URI_VARIABLE, read_scenario, replace},
    exit::Exit,
    interrupt,
};

/// Prove the effect of a change: runs of two or more arms in rounds, in random order
///
/// The result is a difference with an interval. The same command on the same directory resumes an interrupted
/// experiment. Run only experiments that you trust: see `run --help`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Experiment, a TOML file
    experiment: PathBuf,
    /// Replace a value of the experiment, for example `design.rounds=40`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    #[command(flatten)]
    options: Options,
}

/// Common options of experiments and sweeps.
#[derive(Debug, clap::Args)]
pub(super) struct Options {
    /// Use this broker for all arms instead of those in the scenarios; see `run`
    #[arg(long, env = URI_VARIABLE, hide_env_values = true)]
    uri: Option<String>,
    /// Directory for the results [default: runs/TIME-NAME]
    ///
    /// It must be new, empty, or the directory of the same experiment, which then resumes.
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    consent: ConsentArgs,
    /// Allow more than a day or a thousand runs
    #[arg(long)]
    yes: bool,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
    /// Refuse brokers that run.
    #[arg(skip)]
    only_own_brokers: bool,
}

impl Args {
    /// Creates the arguments of an experiment without further options of its own.
    pub(super) fn new(experiment: PathBuf, options: Options) -> Self {
        Self { experiment, set: Vec::new(), options }
    }

    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let file = self.experiment.display().to_string();
        let written = input::read_text(&self.experiment, MAX_TEXT_BYTES)?;
        let experiment =
            experiment::parse(&written, &file, &self.set).context("the experiment is not valid")?;
        let limits = search_overrides(&experiment.design)?;
        let beside = self.experiment.parent().unwrap_or(Path::new(""));
        let arms = experiment.arms.iter().map(|arm| {
            let scenario = arm.scenario.as_ref().unwrap_or(&experiment.base);
            let overrides = [files_of(arm, beside), limits.clone()].concat();
            self.options.planned(arm, &beside.join(scenario), &overrides)
        });
        let arms = arms.collect::<anyhow::Result<_>>()?;
        let text = self.set.iter().fold(written, |text, it| format!("{text}# --set {it}\n"));
        self.options.conduct(&Plan { experiment, arms, text })
    }
}

/// Returns the values that a search sets in every arm's scenario.
pub(super) fn search_overrides(design: &Design) -> Result<Vec<String>, UsageError> {
    let Some(capacity) = &design.capacity else { return Ok(Vec::new()) };
    let limits = capacity.limits.iter().map(|limit| limit_as_override(limit));
    let mut overrides = limits.collect::<Result<Vec<_>, _>>()?;
    let step = capacity.warm_up + capacity.step;
    overrides.push(format!("run.duration=\"{}ms\"", step.as_millis()));
    Ok(overrides)
}

/// Returns the files of an arm, as values of its scenario.
fn files_of(arm: &Arm, beside: &Path) -> Vec<String> {
    let value = |paths: &[String]| {
        let paths = paths.iter().map(|path| beside.join(path).display().to_string());
        toml::Value::from(paths.collect::<Vec<_>>())
    };
    arm.files.iter().map(|(key, paths)| format!("{key}={}", value(paths))).collect()
}

impl Options {
    /// Creates the options of an experiment that uses no broker that runs.
    pub(super) fn on_own_brokers(json: bool) -> Self {
        Self {
            uri: None,
            out: None,
            consent: ConsentArgs::default(),
            yes: false,
            json,
            only_own_brokers: true,
        }
    }

    /// Returns whether the result is printed as JSON.
    pub(super) fn json(&self) -> bool {
        self.json
    }

    /// Returns an arm with its resulting scenario. `overrides` are applied before its own.
    pub(super) fn planned(
        &self,
        arm: &Arm,
        scenario: &Path,
        overrides: &[String],
    ) -> anyhow::Result<PlannedArm> {
        let all: Vec<String> = overrides.iter().chain(&arm.overrides).cloned().collect();
        let scenario =
            read_scenario(scenario, &all).with_context(|| format!("arm {}", arm.name))?;
        let mut planned = PlannedArm { arm: arm.clone(), scenario };
        if let Some(uri) = &self.uri {
            replace(&mut planned.scenario, vec![uri.clone()]);
        }
        if self.only_own_brokers
            && !matches!(planned.scenario.broker.spec, BrokerSpec::Throwaway(_))
        {
            let reason = "the environment names a broker that runs (RABBITSCOPE_SET_BROKER__URI); a proof uses its own";
            return Err(UsageError(reason.to_owned()).into());
        }
        Ok(planned)
    }

    pub(super) fn conduct(&self, plan: &Plan) -> anyhow::Result<Exit> {
        plan.check()?;
        if plan.is_large() && !self.yes {
            let message = format!("{}; give --yes to allow this", plan.size());
            return Err(UsageError(message).into());
        }
        let asked = self.consent.consent();
        plan.arms.iter().try_for_each(|arm| run::check_repeated(&arm.scenario, asked))?;
        let stop = interrupt::watch()?;
        let concluded = conduct(plan, self.out.as_deref(), asked, &stop)?;
        let result = &concluded.result;
        if self.json {
            output::json(result)?;
        } else {
            output::result(&text(result));
            output::result(&format!("results  {}", concluded.directory.display()));
        }
        if let Some(failure) = concluded.failure {
            return Err(failure);
        }
        if result.aborted.is_some() {
            output::note(&format!(
                "to resume, run the same command with --out {}",
                concluded.directory.display()
            ));
            return Ok(Exit::Failed);
        }
        let has_met = result.known.as_ref().and_then(|known| known.met);
        let says_something =
            result.comparisons.iter().any(|comparison| !comparison.differences.is_empty());
        Ok(match (has_met, says_something) {
            (Some(false), _) => Exit::ExpectationFailed,
            (_, false) => Exit::NotValid,
            _ => Exit::Done,
        })
    }
}
