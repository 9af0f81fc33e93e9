//! One run or experiment, as far as a list needs it.

use rabbitscope_runs::{
    experiment::FORMAT_VERSION as EXPERIMENT_VERSION, record::FORMAT_VERSION as RUN_VERSION,
};
use serde::Serialize;

use super::{ExperimentFacts, Figure, RunFacts};

/// A directory with a run or an experiment.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Entry {
    /// Path below the served directory; empty for that directory itself.
    pub path: String,
    /// Names of its pages.
    pub pages: Vec<String>,
    /// The content of its record.
    #[serde(flatten)]
    pub contents: Contents,
}

/// The content of a record.
#[derive(Debug, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub enum Contents {
    /// A run that has ended.
    Run(Box<RunFacts>),
    /// An experiment with its result.
    Experiment(ExperimentFacts),
    /// A run that was killed, or has not ended.
    Unfinished,
    /// A record that cannot be read.
    Unreadable {
        /// The reason.
        reason: String,
    },
}

impl Contents {
    /// Interprets the bytes of `run.json`.
    pub fn from_run(bytes: &[u8]) -> Self {
        let read = serde_json::from_slice::<RunFacts>(bytes);
        let read = read.map_err(|error| error.to_string());
        match read.and_then(|facts| require_version(facts.format_version, RUN_VERSION, facts)) {
            Ok(mut facts) => {
                let value = |figure: Figure| Some((figure.name(), figure.value(&facts)?));
                let figures = Figure::ALL.into_iter().filter_map(value).collect();
                facts.figures = figures;
                Self::Run(Box::new(facts))
            }
            Err(reason) => Self::Unreadable { reason },
        }
    }

    /// Interprets the bytes of `experiment.json`.
    pub fn from_experiment(bytes: &[u8]) -> Self {
        let read = serde_json::from_slice::<ExperimentFacts>(bytes);
        let read = read.map_err(|error| error.to_string());
        match read
            .and_then(|facts| require_version(facts.format_version, EXPERIMENT_VERSION, facts))
        {
            Ok(facts) => Self::Experiment(facts),
            Err(reason) => Self::Unreadable { reason },
        }
    }
}

fn require_version<T>(version: u32, latest: u32, facts: T) -> Result<T, String> {
    if (1..=latest).contains(&version) {
        return Ok(facts);
    }
    Err(format!("has format version {version}; this rabbitscope reads 1 to {latest}"))
}
