//! Conversion of a command line of Stream PerfTest.

use super::{broker, clients, options::OPTIONS, streams, streams::Streams};
use crate::{
    PerfTestError, Program,
    arguments::{Arguments, Style, read_words},
    conversion::{Converted, check, draft},
};

/// Converts a command line to the equivalent scenario.
pub(crate) fn convert(command_line: &str) -> Result<Converted, PerfTestError> {
    let arguments = Arguments::new(Program::StreamPerfTest, &[&OPTIONS]);
    let arguments = read_words(command_line, arguments, Style::Picocli)?;
    if let Some(word) = arguments.ignored().first() {
        let reason =
            format!("`{word}` belongs to no option, and Stream PerfTest refuses such words");
        return Err(PerfTestError::CommandLine(reason));
    }
    let streams = Streams::from_arguments(&arguments)?;
    let mut draft = draft(&arguments);
    let uris = broker::write(&arguments, &mut draft)?;
    streams::write(&arguments, &streams, &mut draft)?;
    clients::publishers(&arguments, &streams, &mut draft)?;
    clients::readers(&arguments, &streams, &mut draft)?;
    check(arguments.program(), draft, uris)
}
