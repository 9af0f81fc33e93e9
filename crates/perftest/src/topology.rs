//! Exchange and queues.

use std::{
    collections::hash_map::RandomState,
    hash::{BuildHasher, Hasher},
};

use toml::{Table, Value};

use super::{
    arguments::{capacity, iso_seconds, pairs},
    command_line::Given,
    pattern::Pattern,
    writer::{Draft, Section},
    wrong,
};
use crate::PerfTestError;

/// Exchanges that every broker has, with their types.
const PREDECLARED: [(&str, &str); 5] = [
    ("amq.direct", "direct"),
    ("amq.fanout", "fanout"),
    ("amq.topic", "topic"),
    ("amq.headers", "headers"),
    ("amq.match", "headers"),
];

/// Arguments of PerfTest's streams.
const STREAM_ARGUMENTS: [(&str, i64); 2] =
    [("x-max-length-bytes", 20_000_000_000), ("x-stream-max-segment-size-bytes", 500_000_000)];

/// Most of what `--stream-max-segment-size-bytes` may be.
const SEGMENT_MAX: i64 = 3_000_000_000;

/// Most queues whose names are written out.
const LISTED_MAX: u32 = 10_000;

/// What messages are sent to and read from.
#[derive(Debug)]
pub(super) struct Target {
    /// Absent: the default exchange.
    pub(super) exchange: Option<String>,
    pub(super) queues: Queues,
    pub(super) kind: &'static str,
    /// The routing key that all use; absent: the name of each queue.
    pub(super) key: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Queues {
    /// Nothing is declared and nothing read.
    None,
    /// Each consumer has one, which the broker names.
    OfConsumers,
    /// Each consumer reads all of these.
    All(Vec<String>),
    /// Publishers and consumers have one each, in turn.
    OneEach(Sequence),
}

/// Queues that differ by name.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Sequence {
    Numbered { name: String, from: u32, to: u32 },
    Listed(Vec<String>),
    File(String),
}

impl Queues {
    fn of(given: &Given) -> Result<Self, PerfTestError> {
        let has_consumers = given.count("consumers")? * given.count("consumer-channel-count")? > 0;
        let sequence = sequence(given)?;
        // Exclusive queues are declared by their consumers.
        if given.has("exclusive") && !has_consumers {
            return Ok(Self::None);
        }
        if let Some(sequence) = sequence {
            return Ok(Self::OneEach(sequence));
        }
        let Some(names) = given.text("queue") else {
            let is_declared = has_consumers && !given.has("predeclared");
            return Ok(if is_declared { Self::OfConsumers } else { Self::None });
        };
        let names = names.trim_end_matches(',').split(',');
        Ok(Self::All(names.map(str::to_owned).collect()))
    }

    /// By which groups refer to them.
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

    /// `member-queues` of groups, where it is not the default.
    pub(super) fn of_members(&self) -> Option<&'static str> {
        match self {
            Self::All(names) if names.len() > 1 => Some("all"),
            Self::OneEach(_) => Some("one"),
            Self::None | Self::OfConsumers | Self::All(_) => None,
        }
    }
}

/// `--queue-pattern` or `--queue-file`.
fn sequence(given: &Given) -> Result<Option<Sequence>, PerfTestError> {
    let range = (
        given.number::<i64>("queue-pattern-from")?.filter(|from| *from >= 0),
        given.number::<i64>("queue-pattern-to")?.filter(|to| *to >= 0),
    );
    match (given.text("queue-pattern"), range) {
        (Some(pattern), (Some(from), Some(to))) if from <= to => {
            numbered(pattern, from, to).map(Some)
        }
        (None, (None, None)) => {
            Ok(given.text("queue-file").map(|it| Sequence::File(it.to_owned())))
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
        return wrong("queue-pattern", pattern, expected);
    };
    let (Ok(from), Ok(to)) = (u32::try_from(from), u32::try_from(to)) else {
        return wrong("queue-pattern-to", &to.to_string(), "a number that fits");
    };
    match read {
        Pattern::Placeholder(name) => Ok(Sequence::Numbered { name, from, to }),
        Pattern::Parts { .. } if to - from < LISTED_MAX => {
            Ok(Sequence::Listed((from..=to).map(|number| read.name(number)).collect()))
        }
        Pattern::Parts { .. } => wrong("queue-pattern", pattern, expected),
    }
}

impl Target {
    pub(super) fn of(given: &Given) -> Result<Self, PerfTestError> {
        let kind = given.text("type").unwrap_or("direct");
        let exchange = given.text("exchange").unwrap_or(kind);
        let is_default = ["", "amq.default"].contains(&exchange);
        let queues = Queues::of(given)?;
        let target = Self {
            exchange: (!is_default).then(|| exchange.to_owned()),
            key: given.text("routing-key").map(str::to_owned).or_else(|| own_key(&queues)),
            queues,
            kind: queue_type(given),
        };
        target.can_be_declared(given, kind)?;
        Ok(target)
    }

    /// RabbitMQ would take what PerfTest declares.
    fn can_be_declared(&self, given: &Given, exchange_type: &str) -> Result<(), PerfTestError> {
        let refused = |reason: String| {
            Err(PerfTestError::CommandLine(format!("PerfTest would be refused: {reason}")))
        };
        if given.has("predeclared") {
            return Ok(());
        }
        let (classic, persistent) = (self.kind == "classic", given.flag("persistent"));
        let by_option = given.has("quorum-queue") || given.has("stream-queue");
        if given.has("quorum-queue") && given.has("stream-queue") {
            return refused("queues are quorum queues or streams, not both".to_owned());
        }
        match &self.exchange {
            None => return refused("nobody may declare the default exchange: add -p".to_owned()),
            Some(name) if name.starts_with("amq.") => {
                match PREDECLARED.iter().find(|it| it.0 == name) {
                    Some((_, known)) if *known == exchange_type => {}
                    Some((_, known)) => {
                        return refused(format!("`{name}` is of type {known}: add -t {known}"));
                    }
                    None => return refused(format!("nobody may declare `{name}`: add -p")),
                }
            }
            Some(_) => {}
        }
        if !classic && self.queues == Queues::OfConsumers {
            return refused(format!("the broker names no {} queues: add -u", self.kind));
        }
        let declares_queues = self.queues != Queues::None;
        if declares_queues && !classic && given.has("exclusive") {
            return refused(format!("a {} queue cannot be exclusive", self.kind));
        }
        if declares_queues
            && !classic
            && !by_option
            && (!persistent || given.switch("auto-delete", true))
        {
            let kind = self.kind;
            return refused(format!(
                "a {kind} queue needs -f persistent and -ad false, as --{kind}-queue sets them"
            ));
        }
        Ok(())
    }
}

/// The key that PerfTest would make up, for queues that share one: so that two runs do not get each
/// other's messages, the names of the queues, or something that nobody else has.
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

/// Type of the queues. PerfTest's own options win over `x-queue-type`.
fn queue_type(given: &Given) -> &'static str {
    let of_arguments = pairs(given, "queue-args").remove("x-queue-type");
    match of_arguments.as_ref().and_then(Value::as_str) {
        _ if given.has("stream-queue") => "stream",
        _ if given.has("quorum-queue") => "quorum",
        Some("stream") => "stream",
        Some("quorum") => "quorum",
        _ => "classic",
    }
}

pub(super) fn write(
    given: &Given,
    target: &Target,
    draft: &mut Draft,
) -> Result<(), PerfTestError> {
    if let Some(name) = target.exchange.as_ref().filter(|name| !name.starts_with("amq.")) {
        draft.push(exchange(given, name));
    }
    match queues(given, target, draft)? {
        Some(section) => draft.push(section),
        None => draft.note("PerfTest declares no queue when it is called like this"),
    }
    Ok(())
}

/// PerfTest's exchange is durable and stays.
fn exchange(given: &Given, name: &str) -> Section {
    let mut section = Section::new("[[exchanges]]");
    section.set("name", name);
    section.set("type", given.text("type").unwrap_or("direct"));
    section.set("durable", true);
    section.set_if("if-missing", given.has("predeclared"));
    section.set("keep", true);
    section
}

fn queues(
    given: &Given,
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
    declaration(given, target, &mut section);
    bindings(given, target, &mut section);
    let arguments = arguments(given, target, draft)?;
    if !arguments.is_empty() {
        section.set("arguments", Value::Table(arguments));
    }
    Ok(Some(section))
}

fn declaration(given: &Given, target: &Target, section: &mut Section) {
    section.set("type", target.kind);
    let is_exclusive = given.has("exclusive");
    let is_replicated = given.has("quorum-queue") || given.has("stream-queue");
    let goes_away = !is_replicated && given.switch("auto-delete", true);
    if target.kind == "classic" {
        section.set("durable", given.flag("persistent"));
        section.set_if("exclusive", is_exclusive);
        section.set_if("auto-delete", goes_away);
    }
    section.set_if("if-missing", given.has("predeclared") && target.queues != Queues::OfConsumers);
    // PerfTest leaves its queues there, but for those that are polled and would go away with a consumer.
    let is_removed = given.has("polling") && goes_away;
    section.set_if("keep", !is_exclusive && !is_removed);
}

/// Queues that were there before are bound, too.
fn bindings(given: &Given, target: &Target, section: &mut Section) {
    let Some(exchange) = target.exchange.as_ref().filter(|_| !given.has("skip-binding-queues"))
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

fn arguments(given: &Given, target: &Target, draft: &mut Draft) -> Result<Table, PerfTestError> {
    let mut table = pairs(given, "queue-args");
    let said = table.remove("x-queue-type");
    if said.as_ref().and_then(Value::as_str) == Some("classic") && target.kind == "classic" {
        table.insert("x-queue-type".to_owned(), "classic".into());
    } else if let Some(other) = said.filter(|kind| kind.as_str() != Some(target.kind)) {
        draft.note(format!(
            "--queue-args x-queue-type={other}: the queues are of type {}",
            target.kind
        ));
    }
    if given.has("stream-queue") {
        let defaults =
            STREAM_ARGUMENTS.iter().map(|(key, value)| ((*key).to_owned(), (*value).into()));
        table.extend(defaults);
    }
    sizes(given, &mut table)?;
    if let Some(age) = given.text("max-age") {
        let Some(seconds) = iso_seconds(age) else {
            return wrong("max-age", age, "a time such as `PT10M30S` or `P5DT8H`");
        };
        table.insert("x-max-age".to_owned(), format!("{seconds}s").into());
    }
    match given.text("leader-locator") {
        Some(locator @ ("client-local" | "balanced")) => {
            table.insert("x-queue-leader-locator".to_owned(), locator.into());
        }
        Some(other) => return wrong("leader-locator", other, "`client-local` or `balanced`"),
        None => {}
    }
    Ok(table)
}

fn sizes(given: &Given, table: &mut Table) -> Result<(), PerfTestError> {
    let length = capacity(given, "max-length-bytes")?;
    let segment = capacity(given, "stream-max-segment-size-bytes")?;
    match length {
        Some(0) => drop(table.remove("x-max-length-bytes")),
        Some(bytes) => drop(table.insert("x-max-length-bytes".to_owned(), bytes.into())),
        None => {}
    }
    let Some(segment) = segment else { return Ok(()) };
    let default = given.has("stream-queue").then_some(STREAM_ARGUMENTS[0].1);
    let length = length.or(default).filter(|length| *length > 0);
    if segment > SEGMENT_MAX || length.is_some_and(|length| length <= segment) {
        let expected = "at most 3gb and less than --max-length-bytes";
        return wrong("stream-max-segment-size-bytes", &segment.to_string(), expected);
    }
    table.insert("x-stream-max-segment-size-bytes".to_owned(), segment.into());
    Ok(())
}
