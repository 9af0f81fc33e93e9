//! The parts of records that a list needs.

use std::{
    collections::BTreeMap,
    hash::{DefaultHasher, Hash, Hasher},
};

use rabbitscope_runs::{
    experiment::ArmFacts,
    record::{
        BrokerFacts, Doubt, ExpectationResult, LatencySummary, MachineFacts, Measured, Verdict,
    },
};
use serde::{Deserialize, Deserializer, Serialize};

/// The part of `run.json` for a list and for trends. Other keys are skipped.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct RunFacts {
    /// Version of the record.
    pub format_version: u32,
    /// Version of rabbitscope.
    pub rabbitscope: String,
    /// Name of the scenario.
    pub name: String,
    /// Start of the load, nanoseconds since 1970-01-01 UTC.
    pub started_unix_nanos: u64,
    /// Length of the load in nanoseconds.
    pub duration_nanos: u64,
    /// Digest of the scenario, to tell whether two runs had the same one. Other programs cannot compute it.
    #[serde(deserialize_with = "digest", skip_serializing)]
    pub scenario: u64,
    /// The machine.
    pub machine: MachineFacts,
    /// The broker.
    pub broker: BrokerFacts,
    /// The end of the run.
    pub verdict: Verdict,
    /// The results of `[expect]`.
    #[serde(default)]
    pub expectations: Vec<ExpectationResult>,
    /// Reasons to doubt the figures.
    #[serde(default)]
    pub doubts: Vec<Doubt>,
    /// The figures of lists and trends by name, in messages per second or nanoseconds.
    #[serde(skip_deserializing)]
    pub figures: BTreeMap<&'static str, f64>,
    /// The measured part.
    #[serde(default, skip_serializing)]
    pub measured: Measured,
    /// The latencies.
    #[serde(default, skip_serializing)]
    pub latencies: Vec<LatencySummary>,
}

impl RunFacts {
    /// Returns the number of limits that failed.
    pub fn failed_limits(&self) -> usize {
        self.expectations.iter().filter(|expectation| !expectation.passed).count()
    }
}

/// The part of `experiment.json` for a list.
#[derive(Clone, Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct ExperimentFacts {
    /// Version of the record.
    pub format_version: u32,
    /// Name of the experiment.
    pub name: String,
    /// The arms.
    pub arms: Vec<ArmFacts>,
    /// The reason for an early end.
    pub aborted: Option<String>,
    /// The outcome, a sentence for each arm.
    pub sentences: Vec<String>,
}

fn digest<'de, D: Deserializer<'de>>(deserializer: D) -> Result<u64, D::Error> {
    let mut hasher = DefaultHasher::new();
    serde_json::Value::deserialize(deserializer)?.hash(&mut hasher);
    Ok(hasher.finish())
}
