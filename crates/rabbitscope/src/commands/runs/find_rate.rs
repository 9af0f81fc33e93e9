//! `rabbitscope find-rate`: the highest rate that a broker sustains within limits.

use std::{path::PathBuf, time::Duration};

use rabbitscope_analysis::capacity::Range;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_experiments::capacity::{self, SearchSettings, limit_as_override};
use rabbitscope_runner::run;
use rabbitscope_runs::capacity::CapacityOutcome;
use rabbitscope_terminal::{UsageError, output};
use rabbitscope_text::parse_duration;

use super::{
    broker_uri,
    consent::ConsentArgs,
    run::{URI_VARIABLE, read_scenario},
};
use crate::commands::arguments::number;
use crate::{exit::Exit, interrupt};

/// Find the highest rate that a broker sustains within limits, without a growing backlog
///
/// Use only scenarios that you trust: see `run --help`.
#[derive(Debug, clap::Args)]
pub(in crate::commands) struct Args {
    /// Scenario, a TOML file; the search sets the rates of its publishers
    scenario: PathBuf,
    /// Limit to keep, for example `confirm.p99 < 20ms`
    ///
    /// Latencies count from the scheduled time.
    #[arg(long = "slo", value_name = "LIMIT", required = true)]
    slo: Vec<String>,
    /// First rate to try, in messages per second over all publishers
    #[arg(long, default_value_t = 1000.0, value_parser = number::<f64>)]
    min: f64,
    /// Highest rate to try
    #[arg(long, default_value_t = 1_000_000.0, value_parser = number::<f64>)]
    max: f64,
    /// Distance between neighbouring rates near the limit, in percent
    #[arg(long, default_value = "5", value_name = "PERCENT", value_parser = percent)]
    tolerance: f64,
    /// Required number of passed steps at one rate and of failed steps at the next
    ///
    /// A larger number makes the result more certain and the search longer.
    #[arg(long, default_value_t = 7, value_name = "NUMBER", value_parser = number::<usize>)]
    crossings: usize,
    /// Number of searches, which take turns step by step
    ///
    /// The difference between their results shows how repeatable the result is.
    #[arg(long, default_value_t = 1, value_name = "NUMBER", value_parser = number::<usize>)]
    searches: usize,
    /// Duration of the measurement at each rate
    #[arg(long, default_value = "10s", value_parser = parse_duration)]
    step_time: Duration,
    /// Duration of the load at each rate before the measurement
    #[arg(long, default_value = "3s", value_parser = parse_duration)]
    warm_up: Duration,
    /// Replace a value of the scenario, for example `publishers.0.size=1KiB`
    #[arg(long = "set", value_name = "KEY=VALUE")]
    set: Vec<String>,
    /// Use this broker instead of the scenario's; see `run`
    #[arg(long, env = URI_VARIABLE, hide_env_values = true)]
    uri: Option<String>,
    /// Directory for the results, new or empty [default: runs/TIME-NAME-find-rate]
    #[arg(long, value_name = "DIR")]
    out: Option<PathBuf>,
    #[command(flatten)]
    consent: ConsentArgs,
    /// Print the result as JSON
    #[arg(long)]
    json: bool,
}

/// Reads `5`, `5%` or `5 %`.
fn percent(text: &str) -> Result<f64, String> {
    let number = text.trim().strip_suffix('%').unwrap_or(text).trim().parse::<f64>().ok();
    number
        .filter(|number| number.is_finite())
        .ok_or_else(|| "write percent, as in `5` or `5%`".to_owned())
}

impl Args {
    fn validate(self) -> anyhow::Result<(SearchSettings, RunDirectory, bool)> {
        let asked = self.consent.consent();
        let range = self.range()?;
        let limits =
            self.slo.iter().map(|limit| limit_as_override(limit)).collect::<Result<Vec<_>, _>>()?;
        let step_end = self.warm_up + self.step_time;
        let duration = format!("run.duration={}ms", step_end.as_millis().max(1));
        let overrides: Vec<_> = self.set.into_iter().chain([duration]).chain(limits).collect();
        let mut scenario = read_scenario(&self.scenario, &overrides)?;
        if let Some(uri) = self.uri {
            broker_uri::replace(&mut scenario, vec![uri]);
        }
        if scenario.publishers.is_empty() {
            let reason = "the scenario needs [[publishers]], whose rate the search varies";
            return Err(UsageError(reason.to_owned()).into());
        }
        run::check(&scenario)?;
        run::check_repeated(&scenario, asked)?;
        scenario.seed = scenario.seed.or_drawn(run::drawn_seed());
        let directory = match self.out {
            Some(out) => RunDirectory::create(&out)?,
            None => RunDirectory::create_named(&format!("{}-find-rate", scenario.name))?,
        };
        let (searches, warm_up, step) = (self.searches, self.warm_up, self.step_time);
        let settings = SearchSettings { scenario, asked, range, searches, warm_up, step };
        Ok((settings, directory, self.json))
    }

    fn range(&self) -> Result<Range, UsageError> {
        let &Self { min, max, tolerance, crossings, .. } = self;
        if !(min >= 1.0 && max > min && max <= 10_000_000.0) {
            let reason = "--min must be at least 1, --max above it and at most 10000000";
            return Err(UsageError(reason.to_owned()));
        }
        if !(0.1..=100.0).contains(&tolerance) {
            return Err(UsageError("--tolerance must be from 0.1 to 100 percent".to_owned()));
        }
        if !(1..=100).contains(&crossings) {
            return Err(UsageError("--crossings must be from 1 to 100".to_owned()));
        }
        if !(1..=100).contains(&self.searches) {
            return Err(UsageError("--searches must be from 1 to 100".to_owned()));
        }
        if self.step_time < Duration::from_secs(3) {
            let reason = "--step-time must be 3s or longer, to see whether messages pile up";
            return Err(UsageError(reason.to_owned()));
        }
        Ok(Range { min, max, tolerance: tolerance / 100.0, crossings })
    }

    pub(in crate::commands) fn execute(self) -> anyhow::Result<Exit> {
        let (question, directory, json) = self.validate()?;
        let stop = interrupt::watch()?;
        let (capacity, failure) = capacity::find(&question, &directory, &stop)
            .inspect_err(|_| directory.discard_if_unused())?;
        if json {
            output::json(&capacity)?;
        } else {
            output::result(&capacity::text(&capacity));
            output::result(&format!("results  {}", directory.path().display()));
        }
        if let Some(failure) = failure {
            return Err(failure);
        }
        Ok(match capacity.outcome {
            CapacityOutcome::Found | CapacityOutcome::Unlimited => Exit::Done,
            CapacityOutcome::Nothing => Exit::ExpectationFailed,
            CapacityOutcome::ClientLimited | CapacityOutcome::Unsettled => Exit::NotValid,
            CapacityOutcome::Aborted => Exit::Failed,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::percent;

    #[test]
    fn a_tolerance_may_have_its_sign() {
        assert_eq!(
            [percent("5"), percent("30%"), percent(" 2.5 % ")],
            [Ok(5.0), Ok(30.0), Ok(2.5)]
        );
        assert!(percent("five").is_err() && percent("%").is_err() && percent("inf").is_err());
    }
}
