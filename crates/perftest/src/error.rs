//! Errors of the conversion.

use rabbitscope_runs::scenario::ScenarioError;
use thiserror::Error;

/// Reason why a command line cannot become a scenario.
#[derive(Debug, Error)]
pub enum PerfTestError {
    /// PerfTest would also refuse the command line.
    #[error("{0}")]
    CommandLine(String),
    /// The options contradict one another.
    #[error("PerfTest takes this command line, but it cannot work")]
    CannotWork(#[source] ScenarioError),
}

/// Creates the error for a value that PerfTest does not accept.
pub(crate) fn invalid_value<T>(
    option: &str,
    value: &str,
    expected: &str,
) -> Result<T, PerfTestError> {
    Err(PerfTestError::CommandLine(format!("--{option}: `{value}` is not {expected}")))
}
