//! Exchange and queues.

use toml::{Table, Value};

use super::{
    command_line::Given,
    writer::{Draft, Section},
    wrong,
};
use crate::exit::UsageError;

/// What messages are sent to and read from.
#[derive(Debug)]
pub(super) struct Target {
    /// Absent: the default exchange.
    pub(super) exchange: Option<String>,
    pub(super) queues: Queues,
    pub(super) kind: &'static str,
    /// The routing key, where it is not that of the queue.
    pub(super) key: Option<String>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Queues {
    One(String),
    Numbered { name: String, from: i64, to: i64 },
    File(String),
}

impl Queues {
    /// By which groups refer to them.
    pub(super) fn name(&self) -> &str {
        match self {
            Self::One(name) | Self::Numbered { name, .. } => name,
            Self::File(_) => "queues",
        }
    }
}

impl Target {
    pub(super) fn of(given: &Given) -> Result<Self, UsageError> {
        let queues = match (given.text("queue-pattern"), given.text("queue-file")) {
            (Some(pattern), _) => Queues::Numbered {
                name: placeholder(pattern)?,
                from: given.number("queue-pattern-from")?.unwrap_or(1),
                to: given.number("queue-pattern-to")?.unwrap_or(1),
            },
            (None, Some(file)) => Queues::File(file.to_owned()),
            (None, None)
                if given.has("exclusive") && given.number("consumers")?.unwrap_or(1) > 1 =>
            {
                let to = given.number("consumers")?.unwrap_or(1);
                Queues::Numbered { name: "perf-test-{}".to_owned(), from: 1, to }
            }
            (None, None) => Queues::One(given.text("queue").unwrap_or("perf-test").to_owned()),
        };
        let exchange = given.text("exchange").unwrap_or("direct");
        let is_default = ["", "amq.default"].contains(&exchange);
        // A list of names is not a list of keys: such queues are sent to by their names.
        let is_listed = matches!(queues, Queues::File(_));
        Ok(Self {
            exchange: (!is_default && !is_listed).then(|| exchange.to_owned()),
            queues,
            kind: kind(given),
            key: given.text("routing-key").map(str::to_owned),
        })
    }
}

/// Type of the queues; `x-queue-type` says the same as PerfTest's own options.
fn kind(given: &Given) -> &'static str {
    let of_arguments = given.all("queue-args").iter().flat_map(|list| list.split(','));
    let mut of_arguments = of_arguments.filter_map(|pair| pair.strip_prefix("x-queue-type="));
    match of_arguments.next_back() {
        Some("quorum") => "quorum",
        Some("stream") => "stream",
        _ if given.has("stream-queue") => "stream",
        _ if given.has("quorum-queue") => "quorum",
        _ => "classic",
    }
}

pub(super) fn write(given: &Given, target: &Target, draft: &mut Draft) -> Result<(), UsageError> {
    let predeclared = given.has("predeclared");
    if let Some(exchange) = target.exchange.as_ref().filter(|name| !name.starts_with("amq.")) {
        let mut section = Section::new("[[exchanges]]");
        section.set("name", exchange.as_str());
        section.set("type", given.text("type").unwrap_or("direct"));
        section.set("durable", false);
        section.set_if("predeclared", predeclared);
        draft.push(section);
    }
    let mut section = Section::new("[[queues]]");
    section.set("name", target.queues.name());
    match &target.queues {
        Queues::One(_) => {}
        Queues::Numbered { from, to, .. } => {
            section.set("from", *from);
            section.set("to", *to);
        }
        Queues::File(path) => section.set("names-file", path.as_str()),
    }
    if predeclared {
        section.set("predeclared", true);
        section.set("type", target.kind);
    } else {
        declared(given, target, &mut section)?;
    }
    draft.push(section);
    Ok(())
}

fn declared(given: &Given, target: &Target, section: &mut Section) -> Result<(), UsageError> {
    let is_classic = target.kind == "classic";
    section.set("type", target.kind);
    let exclusive = given.has("exclusive") && is_classic;
    if is_classic {
        let persistent = given.all("flag").iter().any(|flag| flag == "persistent");
        section.set("durable", persistent && !exclusive);
        section.set_if("exclusive", exclusive);
        let has_consumers = given.number("consumers")?.unwrap_or(1) > 0;
        let auto_delete = given.switch("auto-delete", true) && has_consumers && !exclusive;
        section.set_if("auto-delete", auto_delete);
    }
    let arguments = arguments(given)?;
    if !arguments.is_empty() {
        section.set("arguments", Value::Table(arguments));
    }
    if let Some(exchange) = target.exchange.as_ref().filter(|_| !given.has("skip-binding-queues")) {
        let mut binding = Table::new();
        binding.insert("exchange".to_owned(), exchange.as_str().into());
        let key = target.key.as_deref().unwrap_or(target.queues.name());
        binding.insert("routing-key".to_owned(), key.into());
        section.set("bindings", Value::Array(vec![Value::Table(binding)]));
    }
    Ok(())
}

fn arguments(given: &Given) -> Result<Table, UsageError> {
    let mut table = pairs(given, "queue-args")?;
    table.remove("x-queue-type");
    let numbers = [
        ("x-max-length-bytes", "max-length-bytes"),
        ("x-stream-max-segment-size-bytes", "stream-max-segment-size-bytes"),
    ];
    for (argument, option) in numbers {
        if let Some(number) = given.limit(option)? {
            table.insert(argument.to_owned(), number.into());
        }
    }
    if let Some(age) = given.text("max-age") {
        let Some(seconds) = iso_seconds(age) else {
            return wrong("max-age", age, "a time such as `PT10M30S` or `P5DT8H`");
        };
        table.insert("x-max-age".to_owned(), format!("{seconds}s").into());
    }
    if let Some(locator) = given.text("leader-locator") {
        table.insert("x-queue-leader-locator".to_owned(), locator.into());
    }
    Ok(table)
}

/// `key=value,key=value`; whole numbers are numbers.
pub(super) fn pairs(given: &Given, option: &'static str) -> Result<Table, UsageError> {
    let mut table = Table::new();
    for pair in given.all(option).iter().flat_map(|list| list.split(',')) {
        let Some((key, value)) = pair.split_once('=') else {
            return wrong(option, pair, "`key=value`");
        };
        let number = value.trim().parse::<i64>().map(Value::from);
        table.insert(key.trim().to_owned(), number.unwrap_or_else(|_| value.trim().into()));
    }
    Ok(table)
}

/// `%d` and `%05d` as scenarios write them.
fn placeholder(pattern: &str) -> Result<String, UsageError> {
    let written = pattern.split_once('%').and_then(|(front, rest)| {
        let (digits, end) = rest.split_once('d')?;
        let is_width = digits.is_empty()
            || digits.starts_with('0') && digits.bytes().all(|byte| byte.is_ascii_digit());
        let colon = if digits.is_empty() { "" } else { ":" };
        is_width.then(|| format!("{front}{{{colon}{digits}}}{end}"))
    });
    written.map_or_else(|| wrong("queue-pattern", pattern, "a name with `%d` or `%05d`"), Ok)
}

/// `P5DT8H`, `PT10M30S`; months and years have no length.
fn iso_seconds(text: &str) -> Option<u64> {
    let mut rest = text.strip_prefix('P')?;
    let mut seconds = 0_u64;
    let mut in_day = false;
    while !rest.is_empty() {
        if let Some(time) = rest.strip_prefix('T').filter(|_| !in_day) {
            (rest, in_day) = (time, true);
            continue;
        }
        let digits = rest.find(|c: char| !c.is_ascii_digit())?;
        let number: u64 = rest[..digits].parse().ok()?;
        let unit = match (rest.as_bytes()[digits], in_day) {
            (b'W', false) => 604_800,
            (b'D', false) => 86_400,
            (b'H', true) => 3600,
            (b'M', true) => 60,
            (b'S', true) => 1,
            _ => return None,
        };
        seconds = number.checked_mul(unit).and_then(|part| seconds.checked_add(part))?;
        rest = &rest[digits + 1..];
    }
    (seconds > 0).then_some(seconds)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn durations_of_iso_8601() {
        fn check(text: &str, expected: Option<u64>) {
            assert_eq!(iso_seconds(text), expected, "{text}");
        }
        check("PT10M30S", Some(630));
        check("P5DT8H", Some(460_800));
        check("P1W", Some(604_800));
        check("P1Y", None);
        check("10s", None);
        check("PT", None);
        check("P1D2H", None);
    }

    #[test]
    fn patterns_become_placeholders() {
        assert_eq!(placeholder("q-%d").unwrap(), "q-{}");
        assert_eq!(placeholder("%05d.x").unwrap(), "{:05}.x");
        assert!(placeholder("q").is_err());
        assert!(placeholder("q-%s").is_err());
    }
}
