//! What a command line turns out to be.

use super::shell::Word;
use crate::{PerfTestError, arguments::is_variable};

/// PerfTest's own words, and what else decides what it does.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Call {
    pub(crate) words: Vec<String>,
    /// Variables, in order.
    pub(crate) environment: Vec<(String, String)>,
    /// Seconds after which `timeout` ends it.
    pub(crate) seconds: Option<u64>,
    pub(crate) notes: Vec<String>,
}

/// What is known after a word.
pub(super) enum Step {
    /// The words run something else.
    Other,
    Found(Call),
    /// The words of the command behind a wrapper; `otherwise` is the error when they are something else.
    Command {
        words: Vec<Word>,
        call: Call,
        otherwise: Option<PerfTestError>,
    },
    /// A text that a shell is given.
    Text(String, Call),
}

impl Step {
    pub(super) fn command(words: &[Word], call: Call) -> Self {
        Self::Command { words: words.to_vec(), call, otherwise: None }
    }
}

/// What a program makes of its words.
pub(super) type Stepped = Result<Step, PerfTestError>;

/// The error for a command line that is not understood.
pub(super) fn refused(reason: &str) -> PerfTestError {
    PerfTestError::CommandLine(format!("--from-perftest: {reason}"))
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

/// Refuses a word that only a shell can complete.
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
