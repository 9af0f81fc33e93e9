//! Why a command line does not become a scenario.

use rabbitscope_runs::scenario::ScenarioError;
use thiserror::Error;

/// Why a command line does not become a scenario.
#[derive(Debug, Error)]
pub enum PerfTestError {
    /// PerfTest would refuse the command line, too.
    #[error("{0}")]
    CommandLine(String),
    /// The options contradict one another.
    #[error("PerfTest takes this command line, but it cannot work")]
    CannotWork(#[source] ScenarioError),
}

/// The error for a value that PerfTest does not accept.
pub(crate) fn invalid_value<T>(
    option: &str,
    value: &str,
    expected: &str,
) -> Result<T, PerfTestError> {
    Err(PerfTestError::CommandLine(format!("--{option}: `{value}` is not {expected}")))
}
