//! Conversion of a command line of omq.

use super::{broker, command::Command, consumers, options::OPTIONS, publishers, queues};
use crate::{
    PerfTestError, Program,
    arguments::{Arguments, Style, read_words},
    conversion::{Converted, check, draft},
};

/// Converts a command line to the equivalent scenario.
pub(crate) fn convert(command_line: &str) -> Result<Converted, PerfTestError> {
    let arguments = Arguments::new(Program::Omq, &[&OPTIONS]);
    let mut arguments = read_words(command_line, arguments, Style::Pflag)?;
    let command = Command::from_arguments(&mut arguments)?;
    let mut draft = draft(&arguments);
    let uris = broker::write(&arguments, &mut draft)?;
    queues::write(&arguments, command, &mut draft)?;
    publishers::write(&arguments, command, &mut draft)?;
    consumers::write(&arguments, command, &mut draft)?;
    check(arguments.program(), draft, uris)
}
