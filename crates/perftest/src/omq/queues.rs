//! The queues of a scenario.

use rabbitscope_runs::scenario::Protocol;
use toml::{Table, Value};

use super::{
    command::Command,
    target::{Name, Target, USUAL},
};
use crate::{
    PerfTestError,
    arguments::Arguments,
    error::invalid_value,
    values::pairs,
    writer::{Draft, Section},
};

/// Writes the queues of publishers and consumers.
pub(super) fn write(
    arguments: &Arguments,
    command: Command,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    let kind = arguments.text("queues").unwrap_or("predeclared").to_lowercase();
    if !["predeclared", "classic", "quorum", "stream", "exclusive"].contains(&kind.as_str()) {
        let expected =
            "`predeclared`, `classic`, `quorum`, `stream` or `exclusive`, which have a counterpart";
        return invalid_value("queues", &kind, expected);
    }
    let sides = [
        ("publish-to", "publishers", command.publishers),
        ("consume-from", "consumers", command.consumers),
    ];
    let mut names: Vec<(Name, i64)> = Vec::new();
    for (option, members, protocol) in sides {
        let count = arguments.count(members)?;
        if protocol == Protocol::Mqtt || count < 1 {
            continue;
        }
        let target = Target::parse(option, arguments.text(option).unwrap_or(USUAL))?;
        let Target::Queue(name) = target else { continue };
        match names.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = count.max(*known),
            None => names.push((name, count)),
        }
    }
    // A name may be that of one of the numbered queues.
    let numbered: Vec<_> = names.iter().filter(|(name, _)| name.is_numbered()).cloned().collect();
    names.retain(|(name, _)| {
        let is_one =
            |(set, count): &(Name, i64)| (0..*count).any(|member| set.of_member(member) == name.0);
        name.is_numbered() || !numbered.iter().any(is_one)
    });
    let by_stream = [command.publishers, command.consumers].contains(&Protocol::Stream);
    for (name, count) in names {
        draft.push(queue(arguments, (&name, count), (&kind, by_stream))?);
    }
    Ok(())
}

fn queue(
    arguments: &Arguments,
    (name, count): (&Name, i64),
    (kind, by_stream): (&str, bool),
) -> Result<Section, PerfTestError> {
    let mut section = Section::new("[[queues]]");
    section.set("name", name.placeholder());
    if name.is_numbered() {
        section.set("from", 0);
        section.set("to", count - 1);
    }
    if arguments.has("stream-super-stream") {
        section.set(
            "partitions",
            arguments.number("stream-super-stream-partitions")?.unwrap_or(3_i64),
        );
    }
    match kind {
        "predeclared" => {
            section.set_some("type", by_stream.then_some("stream"));
            section.set("predeclared", true);
            return Ok(section);
        }
        "exclusive" => section.set("exclusive", true),
        kind => {
            section.set("type", kind);
            section.set_if("keep", !arguments.has("cleanup-queues"));
        }
    }
    let table = pairs(arguments, "queue-args");
    if !table.is_empty() {
        section.set("arguments", table);
    }
    if let Some(exchange) = arguments.text("exchange") {
        let mut binding = Table::new();
        binding.insert("exchange".to_owned(), exchange.into());
        let key = arguments.text("binding-key").unwrap_or_default().replace("%d", "{}");
        binding.insert("routing-key".to_owned(), key.into());
        section.set("bindings", vec![Value::Table(binding)]);
    }
    Ok(section)
}
