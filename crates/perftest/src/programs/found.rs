//! Results of the search for PerfTest.

use super::shell::Word;
use crate::{PerfTestError, Program, arguments::is_variable};

/// The program's own words, and the other circumstances of its call.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    /// The program that is searched for.
    pub(crate) program: Program,
    pub(crate) words: Vec<String>,
    /// Environment variables, in order.
    pub(crate) environment: Vec<(String, String)>,
    /// Seconds after which `timeout` ends PerfTest.
    pub(crate) seconds: Option<u64>,
    pub(crate) notes: Vec<String>,
}

/// Result of interpreting a word.
pub(super) enum Step {
    /// The words run something else.
    Other,
    Found(Call),
    /// The words of the command after a wrapper. `otherwise` is the error if they run something else.
    Command {
        words: Vec<Word>,
        call: Call,
        otherwise: Option<PerfTestError>,
    },
    /// A command line as an argument of a shell.
    Text(String, Call),
}

impl Step {
    pub(super) fn command(words: &[Word], call: Call) -> Self {
        Self::Command { words: words.to_vec(), call, otherwise: None }
    }
}

/// Result of interpreting a program's words.
pub(super) type Stepped = Result<Step, PerfTestError>;

/// Creates the error for a command line that cannot be interpreted.
pub(super) fn refused(reason: &str) -> PerfTestError {
    PerfTestError::CommandLine(format!("the command line: {reason}"))
}

/// Adds a variable, if the word is an assignment.
pub(super) fn assign(word: &Word, call: &mut Call) -> Result<(), PerfTestError> {
    let Some((name, value)) = word.text.split_once('=') else { return Ok(()) };
    if is_variable(name) {
        check(word)?;
    }
    call.environment.push((name.to_owned(), value.to_owned()));
    Ok(())
}

/// Refuses a word with a substitution that only a shell can make.
fn check(word: &Word) -> Result<(), PerfTestError> {
    match &word.substitution {
        Some(text) => Err(refused(&format!("`{text}` is not replaced here: write its value"))),
        None => Ok(()),
    }
}

/// Takes words as PerfTest's own.
pub(super) fn finish(words: &[Word], mut call: Call) -> Result<Call, PerfTestError> {
    words.iter().try_for_each(check)?;
    call.words = words.iter().map(|word| word.text.clone()).collect();
    Ok(call)
}
