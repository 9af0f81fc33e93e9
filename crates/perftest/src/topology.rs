//! The exchange and the queues of a scenario.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
};

use rabbitscope_runs::scenario::Protocol;
use toml::{Table, Value};

use super::{
    arguments::Arguments,
    pattern::Pattern,
    values::{capacity, iso_seconds, pairs},
    writer::{Draft, Section},
};
use crate::{PerfTestError, error::invalid_value};

/// Exchanges of every broker, with their types.
const PREDECLARED: [(&str, &str); 5] = [
    ("amq.direct", "direct"),
    ("amq.fanout", "fanout"),
    ("amq.topic", "topic"),
    ("amq.headers", "headers"),
    ("amq.match", "headers"),
];

/// Default arguments of PerfTest's streams.
const STREAM_ARGUMENTS: [(&str, i64); 2] =
    [("x-max-length-bytes", 20_000_000_000), ("x-stream-max-segment-size-bytes", 500_000_000)];

/// Largest `--stream-max-segment-size-bytes` that RabbitMQ accepts.
const SEGMENT_MAX: i64 = 3_000_000_000;

/// Limit of queues whose names are listed one by one.
const LISTED_MAX: u32 = 10_000;

/// Exchange, routing key and queues of the command line.
#[derive(Debug)]
pub(super) struct Target {
    /// Exchange; `None` for the default exchange.
    pub(super) exchange: Option<String>,
    pub(super) queues: Queues,
    pub(super) kind: &'static str,
    /// Routing key of all messages; `None` for the name of each queue.
    pub(super) key: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Queues {
    /// No queue is declared or consumed from.
    None,
    /// Each consumer has its own queue, which the broker names.
    OfConsumers,
    /// Each consumer consumes from all of these.
    All(Vec<String>),
    /// Publishers and consumers are assigned to these in turn.
    OneEach(Sequence),
}

/// Queues with a number in their names.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    Numbered { name: String, from: u32, to: u32 },
    Listed(Vec<String>),
    File(String),
}

impl Queues {
    fn from_arguments(arguments: &Arguments) -> Result<Self, PerfTestError> {
        let has_consumers =
            arguments.count("consumers")? * arguments.count("consumer-channel-count")? > 0;
        let sequence = sequence(arguments)?;
        // Exclusive queues are declared by their consumers.
        if arguments.has("exclusive") && !has_consumers {
            return Ok(Self::None);
        }
        if let Some(sequence) = sequence {
            return Ok(Self::OneEach(sequence));
        }
        let Some(names) = arguments.text("queue") else {
            let is_declared = has_consumers && !arguments.has("predeclared");
            return Ok(if is_declared { Self::OfConsumers } else { Self::None });
        };
        let names = names.trim_end_matches(',').split(',');
        Ok(Self::All(names.map(str::to_owned).collect()))
    }

    /// Returns the name that groups refer to.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::None | Self::OfConsumers => "perf-test",
            Self::All(names) => match names.as_slice() {
                [name] if !name.contains(['{', '}']) => name,
                _ => "queues",
            },
            Self::OneEach(Sequence::Numbered { name, .. }) => name,
            Self::OneEach(Sequence::Listed(_) | Sequence::File(_)) => "queues",
        }
    }

    /// Returns `member-queues` of groups, unless it has its default.
    pub(super) fn of_members(&self) -> Option<&'static str> {
        match self {
            Self::All(names) if names.len() > 1 => Some("all"),
            Self::OneEach(_) => Some("one"),
            Self::None | Self::OfConsumers | Self::All(_) => None,
        }
    }
}

/// Returns the queues of `--queue-pattern` or `--queue-file`.
fn sequence(arguments: &Arguments) -> Result<Option<Sequence>, PerfTestError> {
    let range = (
        arguments.number::<i64>("queue-pattern-from")?.filter(|from| *from >= 0),
        arguments.number::<i64>("queue-pattern-to")?.filter(|to| *to >= 0),
    );
    match (arguments.text("queue-pattern"), range) {
        (Some(pattern), (Some(from), Some(to))) if from <= to => {
            numbered(pattern, from, to).map(Some)
        }
        (None, (None, None)) => {
            Ok(arguments.text("queue-file").map(|path| Sequence::File(path.to_owned())))
        }
        _ => {
            let reason = "--queue-pattern needs --queue-pattern-from and --queue-pattern-to, the \
                          last at least the first";
            Err(PerfTestError::CommandLine(reason.to_owned()))
        }
    }
}

fn numbered(pattern: &str, from: i64, to: i64) -> Result<Sequence, PerfTestError> {
    let expected = "a name with one number, such as `q-%d` or `q-%05d`";
    let Some(read) = Pattern::read(pattern) else {
        return invalid_value("queue-pattern", pattern, expected);
    };
    let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(to)) else {
        return invalid_value("queue-pattern-to", &to.to_string(), "a number that fits");
    };
    match read {
        Pattern::Placeholder(name) => Ok(Sequence::Numbered { name, from, to }),
        Pattern::Parts { .. } if to - from < LISTED_MAX => {
            Ok(Sequence::Listed((from..=to).map(|number| read.name(number)).collect()))
        }
        Pattern::Parts { .. } => invalid_value("queue-pattern", pattern, expected),
    }
}

impl Target {
    pub(super) fn from_arguments(arguments: &Arguments) -> Result<Self, PerfTestError> {
        let kind = arguments.text("type").unwrap_or("direct");
        let exchange = arguments.text("exchange").unwrap_or(kind);
        // Over the stream protocol, publishers write to streams without an exchange.
        let has_none = arguments.protocol() == Protocol::Stream;
        let is_default = has_none || ["", "amq.default"].contains(&exchange);
        let queues = Queues::from_arguments(arguments)?;
        let target = Self {
            exchange: (!is_default).then(|| exchange.to_owned()),
            key: arguments.text("routing-key").map(str::to_owned).or_else(|| own_key(&queues)),
            queues,
            kind: queue_type(arguments),
        };
        target.can_be_declared(arguments, kind)?;
        Ok(target)
    }

    /// Refuses declarations of PerfTest that RabbitMQ does not accept.
    fn can_be_declared(
        &self,
        arguments: &Arguments,
        exchange_type: &str,
    ) -> Result<(), PerfTestError> {
        let refused = |reason: String| {
            Err(PerfTestError::CommandLine(format!("PerfTest would be refused: {reason}")))
        };
        if arguments.has("predeclared") {
            return Ok(());
        }
        let (classic, persistent) = (self.kind == "classic", arguments.flag("persistent"));
        let by_option = arguments.has("quorum-queue") || arguments.has("stream-queue");
        if arguments.has("quorum-queue") && arguments.has("stream-queue") {
            return refused("queues are quorum queues or streams, not both".to_owned());
        }
        match &self.exchange {
            None if arguments.protocol() == Protocol::Stream => {}
            None => return refused("the default exchange cannot be declared: add -p".to_owned()),
            Some(name) if name.starts_with("amq.") => {
                match PREDECLARED.iter().find(|(known, _)| known == name) {
                    Some((_, known)) if *known == exchange_type => {}
                    Some((_, known)) => {
                        return refused(format!("`{name}` is of type {known}: add -t {known}"));
                    }
                    None => return refused(format!("`{name}` cannot be declared: add -p")),
                }
            }
            Some(_) => {}
        }
        if !classic && self.queues == Queues::OfConsumers {
            return refused(format!("the broker names no {} queues: add -u", self.kind));
        }
        let declares_queues = self.queues != Queues::None;
        if declares_queues && !classic && arguments.has("exclusive") {
            return refused(format!("a {} queue cannot be exclusive", self.kind));
        }
        if declares_queues
            && !classic
            && !by_option
            && (!persistent || arguments.switch("auto-delete", true))
        {
            let kind = self.kind;
            return refused(format!(
                "a {kind} queue needs -f persistent and -ad false, as --{kind}-queue sets them"
            ));
        }
        Ok(())
    }
}

/// Returns the routing key that PerfTest would choose for queues that share one: their names, or a random key, so
/// that two runs do not receive each other's messages.
fn own_key(queues: &Queues) -> Option<String> {
    let joined = match queues {
        Queues::OneEach(_) => return None,
        Queues::All(names) => names.join(","),
        Queues::None | Queues::OfConsumers => String::new(),
    };
    Some(if (1..256).contains(&joined.len()) { joined } else { random_key() })
}

fn random_key() -> String {
    let random = || RandomState::new().build_hasher().finish();
    format!("perf-test-{:016x}{:016x}", random(), random())
}

/// Returns the type of the queues. PerfTest's own options override `x-queue-type`.
fn queue_type(arguments: &Arguments) -> &'static str {
    let argument = pairs(arguments, "queue-args").remove("x-queue-type");
    match argument.as_ref().and_then(Value::as_str) {
        _ if arguments.has("stream-queue") => "stream",
        _ if arguments.has("quorum-queue") => "quorum",
        Some("stream") => "stream",
        Some("quorum") => "quorum",
        _ => "classic",
    }
}

pub(super) fn write(
    arguments: &Arguments,
    target: &Target,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if let Some(name) = target.exchange.as_ref().filter(|name| !name.starts_with("amq.")) {
        draft.push(exchange(arguments, name));
    }
    match queues(arguments, target, draft)? {
        Some(section) => draft.push(section),
        None => draft.note("PerfTest declares no queue when it is called like this"),
    }
    Ok(())
}

/// Writes the exchange. PerfTest declares it durable and does not delete it.
fn exchange(arguments: &Arguments, name: &str) -> Section {
    let mut section = Section::new("[[exchanges]]");
    section.set("name", name);
    section.set("type", arguments.text("type").unwrap_or("direct"));
    section.set("durable", true);
    section.set_if("if-missing", arguments.has("predeclared"));
    section.set("keep", true);
    section
}

fn queues(
    arguments: &Arguments,
    target: &Target,
    draft: &mut Draft,
) -> Result<Option<Section>, PerfTestError> {
    let mut section = Section::new("[[queues]]");
    section.set("name", target.queues.name());
    match &target.queues {
        Queues::None => return Ok(None),
        Queues::OfConsumers => section.set("server-named", true),
        Queues::All(names) => {
            if target.queues.name() == "queues" {
                section.set("names", names.iter().map(String::as_str).collect::<Vec<_>>());
            }
        }
        Queues::OneEach(Sequence::Numbered { from, to, .. }) => {
            section.set("from", i64::from(*from));
            section.set("to", i64::from(*to));
        }
        Queues::OneEach(Sequence::Listed(names)) => {
            section.set("names", names.iter().map(String::as_str).collect::<Vec<_>>());
        }
        Queues::OneEach(Sequence::File(path)) => section.set("names-file", path.as_str()),
    }
    declaration(arguments, target, &mut section);
    bindings(arguments, target, &mut section);
    let queue_arguments = queue_arguments(arguments, target, draft)?;
    if !queue_arguments.is_empty() {
        section.set("arguments", Value::Table(queue_arguments));
    }
    Ok(Some(section))
}

fn declaration(arguments: &Arguments, target: &Target, section: &mut Section) {
    section.set("type", target.kind);
    let is_exclusive = arguments.has("exclusive");
    let is_replicated = arguments.has("quorum-queue") || arguments.has("stream-queue");
    let goes_away = !is_replicated && arguments.switch("auto-delete", true);
    if target.kind == "classic" {
        section.set("durable", arguments.flag("persistent"));
        section.set_if("exclusive", is_exclusive);
        section.set_if("auto-delete", goes_away);
    }
    section
        .set_if("if-missing", arguments.has("predeclared") && target.queues != Queues::OfConsumers);
    // PerfTest leaves its queues, except polled ones that would disappear with a consumer.
    let is_removed = arguments.has("polling") && goes_away;
    section.set_if("keep", !is_exclusive && !is_removed);
}

/// Writes the bindings, also for queues that existed before.
fn bindings(arguments: &Arguments, target: &Target, section: &mut Section) {
    let Some(exchange) = target.exchange.as_ref().filter(|_| !arguments.has("skip-binding-queues"))
    else {
        return;
    };
    let mut binding = Table::new();
    binding.insert("exchange".to_owned(), exchange.as_str().into());
    let numbered = || match &target.queues {
        Queues::OneEach(Sequence::Numbered { name, .. }) => name.clone(),
        _ => "{}".to_owned(),
    };
    binding.insert("routing-key".to_owned(), target.key.clone().unwrap_or_else(numbered).into());
    section.set("bindings", Value::Array(vec![Value::Table(binding)]));
    section.set_if("bind-existing", target.queues != Queues::OfConsumers);
}

fn queue_arguments(
    arguments: &Arguments,
    target: &Target,
    draft: &mut Draft,
) -> Result<Table, PerfTestError> {
    let mut table = pairs(arguments, "queue-args");
    let said = table.remove("x-queue-type");
    if said.as_ref().and_then(Value::as_str) == Some("classic") && target.kind == "classic" {
        table.insert("x-queue-type".to_owned(), "classic".into());
    } else if let Some(other) = said.filter(|kind| kind.as_str() != Some(target.kind)) {
        draft.note(format!(
            "--queue-args x-queue-type={other}: the queues are of type {}",
            target.kind
        ));
    }
    if arguments.has("stream-queue") {
        let defaults =
            STREAM_ARGUMENTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
        table.extend(defaults);
    }
    sizes(arguments, &mut table)?;
    if let Some(age) = arguments.text("max-age") {
        let Some(seconds) = iso_seconds(age) else {
            return invalid_value("max-age", age, "a time such as `PT10M30S` or `P5DT8H`");
        };
        table.insert("x-max-age".to_owned(), format!("{seconds}s").into());
    }
    match arguments.text("leader-locator") {
        Some(locator @ ("client-local" | "balanced")) => {
            table.insert("x-queue-leader-locator".to_owned(), locator.into());
        }
        Some(other) => {
            return invalid_value("leader-locator", other, "`client-local` or `balanced`");
        }
        None => {}
    }
    Ok(table)
}

fn sizes(arguments: &Arguments, table: &mut Table) -> Result<(), PerfTestError> {
    let length = capacity(arguments, "max-length-bytes")?;
    let segment = capacity(arguments, "stream-max-segment-size-bytes")?;
    match length {
        Some(0) => drop(table.remove("x-max-length-bytes")),
        Some(bytes) => drop(table.insert("x-max-length-bytes".to_owned(), bytes.into())),
        None => {}
    }
    let Some(segment) = segment else { return Ok(()) };
    let default = arguments.has("stream-queue").then_some(STREAM_ARGUMENTS[0].1);
    let length = length.or(default).filter(|length| *length > 0);
    if segment > SEGMENT_MAX || length.is_some_and(|length| length <= segment) {
        let expected = "at most 3gb and less than --max-length-bytes";
        return invalid_value("stream-max-segment-size-bytes", &segment.to_string(), expected);
    }
    table.insert("x-stream-max-segment-size-bytes".to_owned(), segment.into());
    Ok(())
}
