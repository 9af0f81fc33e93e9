//! Errors of the conversion.

use rabbitscope_runs::scenario::ScenarioError;
use thiserror::Error;

use crate::Program;

/// Reason why a command line cannot become a scenario.
#[derive(Debug, Error)]
pub enum PerfTestError {
    /// The program would also refuse the command line.
    #[error("{0}")]
    CommandLine(String),
    /// The options contradict one another.
    #[error("{} takes this command line, but it cannot work", program.name())]
    CannotWork {
        /// The program of the command line.
        program: Program,
        /// The contradiction.
        source: ScenarioError,
    },
}

/// Creates the error for a value that the program does not accept.
pub(crate) fn invalid_value<T>(
    option: &str,
    value: &str,
    expected: &str,
) -> Result<T, PerfTestError> {
    Err(PerfTestError::CommandLine(format!("--{option}: `{value}` is not {expected}")))
}
