//! Why a command line does not become a scenario.

use rabbitscope_runs::scenario::ScenarioError;
use thiserror::Error;

/// Why a command line does not become a scenario.
#[derive(Debug, Error)]
pub enum PerfTestError {
    /// PerfTest would not take it either.
    #[error("{0}")]
    CommandLine(String),
    /// What it asks for contradicts itself.
    #[error("PerfTest takes this command line, but it cannot work")]
    CannotWork(#[source] ScenarioError),
}
