//! Environment variables that a program reads as options: `PRODUCERS=3` overrides `--producers`.

use super::{
    command_line::Arguments,
    options::{ProgramOption, Values, all},
};
use crate::Program;

/// Returns the variable with a prefix for the names of all others.
fn prefix_of(program: Program) -> &'static str {
    match program {
        Program::StreamPerfTest => "RABBITMQ_STREAM_PERF_TEST_ENV_PREFIX",
        Program::PerfTest | Program::Omq => "RABBITMQ_PERF_TEST_ENV_PREFIX",
    }
}

/// Applies variables. The last one of a name counts.
pub(super) fn apply(variables: &[(String, String)], arguments: &mut Arguments) {
    let last = |name: &str| variables.iter().rfind(|(known, _)| known == name);
    let program = arguments.program;
    let prefix =
        last(prefix_of(program)).map(|(_, value)| value.trim()).filter(|prefix| !prefix.is_empty());
    let prefix =
        prefix.map_or(String::new(), |prefix| format!("{}_", prefix.trim_end_matches('_')));
    let options = arguments.options.iter().flat_map(|table| table.iter());
    for option in options.filter(|(short, ..)| !short.is_empty()) {
        let name = format!("{prefix}{}", option.1.replace('-', "_").to_uppercase());
        if let Some((_, value)) = last(&name) {
            let by = program.name();
            arguments.note(format!("the variable {name} is read as --{}, as {by} does", option.1));
            arguments.replace(option.1, values(option, value));
        }
    }
}

/// Returns true if PerfTest reads an option from this variable, without a prefix.
pub(crate) fn is_option(name: &str) -> bool {
    let named = |(short, long, ..): &&ProgramOption| {
        !short.is_empty() && name == long.replace('-', "_").to_uppercase()
    };
    all().find(named).is_some()
}

fn values(option: &ProgramOption, value: &str) -> Option<Vec<String>> {
    match option.2 {
        Values::None => value.eq_ignore_ascii_case("true").then(Vec::new),
        Values::Many => Some(value.split(',').map(str::to_owned).collect()),
        Values::One | Values::Optional => Some(vec![value.to_owned()]),
    }
}
