//! The names of PerfTest and related programs.

use super::found::refused;
use crate::{PerfTestError, Program};

/// The program that a name stands for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Name {
    PerfTest,
    /// `PerfTestMulti`, which reads a file.
    Multi,
    /// Stream PerfTest, which has other options.
    Stream,
    Omq,
    Other,
}

/// Returns the last part of a path.
pub(super) fn base(path: &str) -> &str {
    path.rsplit(['/', '\\']).next().unwrap_or(path)
}

/// Identifies the program at a path.
pub(super) fn for_program(path: &str) -> Name {
    let name = plain(base(path));
    let name = name.strip_prefix("rabbitmq-").or(name.strip_prefix("rabbit-")).unwrap_or(&name);
    match within(name) {
        Some(0) => Name::PerfTest,
        _ if name.starts_with("stream-perf-test") => Name::Stream,
        _ if name.starts_with("perftestmulti") => Name::Multi,
        _ if is_omq(name) => Name::Omq,
        _ => Name::Other,
    }
}

/// Identifies the program in a container image or jar. Their names vary more.
pub(super) fn for_image(image: &str) -> Name {
    let name = plain(base(image));
    match within(&name) {
        Some(start) if name[..start].ends_with("stream-") => Name::Stream,
        Some(_) => Name::PerfTest,
        None if is_omq(&name) => Name::Omq,
        None => Name::Other,
    }
}

/// Identifies the program of a Java class.
pub(super) fn for_class(class: &str) -> Name {
    match class.rsplit('.').next().unwrap_or(class) {
        "PerfTest" | "NativePerfTest" => Name::PerfTest,
        "PerfTestMulti" => Name::Multi,
        "StreamPerfTest" => Name::Stream,
        _ => Name::Other,
    }
}

fn is_omq(name: &str) -> bool {
    name == "omq" || name.starts_with("omq-") || name.starts_with("omq.")
}

/// Returns whether a name is that of the program. Refuses the names of related programs.
pub(super) fn is_wanted(name: Name, program: Program) -> Result<bool, PerfTestError> {
    let found = match name {
        Name::Other => return Ok(false),
        Name::Multi => return Err(multi()),
        Name::PerfTest => Program::PerfTest,
        Name::Stream => Program::StreamPerfTest,
        Name::Omq => Program::Omq,
    };
    if found == program {
        return Ok(true);
    }
    let (name, converter) = (found.name(), found.converter());
    Err(refused(&format!("{name} has options of its own: give it to `run {converter}`")))
}

fn plain(name: &str) -> String {
    name.to_lowercase().replace(['_', ':', '@'], "-")
}

/// Returns the position of PerfTest's name as a separate word.
fn within(name: &str) -> Option<usize> {
    ["perf-test", "perftest"].iter().find_map(|own| {
        let (before, after) = name.split_once(own)?;
        let begins = before.is_empty() || before.ends_with(|letter| "-.".contains(letter));
        let ends = after.is_empty() || after.starts_with(|letter| "-.".contains(letter));
        (begins && ends).then_some(before.len())
    })
}

/// Creates the error for `PerfTestMulti`.
pub(crate) fn multi() -> PerfTestError {
    refused(
        "PerfTestMulti reads its loads from a JSON file, which is not supported: give each as a command line of \
         PerfTest, or write a scenario (docs/reference/scenario.md)",
    )
}
