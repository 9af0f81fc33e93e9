//! Parser of event names such as `cpu_core/cycles/u`, `cycles:ppp`, `sched:sched_switch`.

use super::super::{Event, ValueName};

/// Offset of the length in the record of `syscalls:sys_enter_mmap` and `sys_enter_munmap`. Before it are the eight
/// bytes of every tracepoint, the number of the system call, and the address.
const LENGTH_IN_RECORD: usize = 24;

/// Aliases of events.
const ALIASES: [(&str, &str); 6] = [
    ("cpu-cycles", "cycles"),
    ("cpu_cycles", "cycles"),
    ("faults", "page-faults"),
    ("exceptions:page_fault_user", "page-faults"),
    ("cs", "context-switches"),
    ("sched:sched_switch", "context-switches"),
];

/// Modifier letters after an event's last colon or slash.
const MODIFIERS: &str = "ukhGHpPSDIWebR";

/// The parts of memory in which an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spaces {
    pub(crate) user: bool,
    pub(crate) kernel: bool,
}

impl Spaces {
    /// User space and kernel.
    pub(crate) const ALL: Self = Self { user: true, kernel: true };

    /// Returns whether it covers all that `other` counts.
    pub(super) fn includes(self, other: Self) -> bool {
        (self.user || !other.user) && (self.kernel || !other.kernel)
    }

    /// Returns whether the two have no space in common.
    pub(super) fn is_apart_from(self, other: Self) -> bool {
        !(self.user && other.user || self.kernel && other.kernel)
    }
}

/// An event with its parsed perf name.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventName {
    /// The name in perf's form.
    pub(crate) text: String,
    /// The name without unit and modifiers, with aliases resolved.
    pub(super) base: String,
    /// The counting unit in the name: `cpu_core`, `cpu_atom`. A hybrid machine has one for each kind of core.
    pub(super) unit: Option<String>,
    pub(super) spaces: Spaces,
    /// The equivalent rabbitscope event.
    pub(super) event: Option<Event>,
}

impl EventName {
    /// Parses a name.
    pub(crate) fn new(text: &str) -> Self {
        let (unit, event, modifiers) = split(text);
        let alias = ALIASES.iter().find(|(alias, _)| *alias == event);
        let base = alias.map_or(event, |(_, base)| base);
        Self {
            text: text.to_owned(),
            base: base.to_owned(),
            unit: unit.map(str::to_owned),
            spaces: spaces_of(modifiers),
            event: event_named(base),
        }
    }

    /// Returns the event with the spaces from its attributes.
    pub(crate) fn with_spaces(self, spaces: Spaces) -> Self {
        Self { spaces, ..self }
    }

    /// Name and unit of weights that are sums of periods.
    pub(super) fn value(&self) -> ValueName {
        let unit = match self.base.as_str() {
            "cpu-clock" | "task-clock" => "nanoseconds",
            "cycles" | "ref-cycles" => "cycles",
            "instructions" => "instructions",
            "page-faults" | "minor-faults" | "major-faults" => "faults",
            "context-switches" => "switches",
            _ => "events",
        };
        ValueName::new(&self.base, unit)
    }

    /// Returns whether the event counts nanoseconds.
    pub(super) fn is_clock(&self) -> bool {
        matches!(self.base.as_str(), "cpu-clock" | "task-clock")
    }

    /// Returns the weight of one occurrence, from a tracepoint's record.
    pub(crate) fn weight_of_record(&self, record: &[u8]) -> u64 {
        if !self.event.is_some_and(Event::is_weighted) {
            return 1;
        }
        let length = record.get(LENGTH_IN_RECORD..).and_then(<[u8]>::first_chunk);
        length.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// Returns the weight of one occurrence, from a tracepoint's arguments as perf prints them (`addr: 0x00000000, len:
    /// 0x00001000`).
    pub(crate) fn weight_of_arguments(&self, arguments: &str) -> u64 {
        if !self.event.is_some_and(Event::is_weighted) {
            return 1;
        }
        let length = arguments.split("len: 0x").nth(1).and_then(|rest| {
            let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            u64::from_str_radix(&rest[..digits], 16).ok()
        });
        length.unwrap_or(0)
    }
}

fn event_named(base: &str) -> Option<Event> {
    match base {
        "cpu-clock" | "task-clock" | "cycles" => Some(Event::Cpu),
        "page-faults" | "minor-faults" | "major-faults" => Some(Event::PageFaults),
        "context-switches" => Some(Event::ContextSwitches),
        "syscalls:sys_enter_mmap" => Some(Event::Mmap),
        "syscalls:sys_enter_munmap" => Some(Event::Munmap),
        _ => None,
    }
}

/// Splits a name into counting unit, name and modifiers. The colon of `sched:sched_switch` belongs to the name.
fn split(text: &str) -> (Option<&str>, &str, &str) {
    let mut parts = text.splitn(3, '/');
    if let (Some(unit), Some(name), Some(modifiers)) = (parts.next(), parts.next(), parts.next())
        && !unit.is_empty()
        && !name.is_empty()
    {
        return (Some(unit), name, modifiers.trim_start_matches(':'));
    }
    match text.rsplit_once(':') {
        Some((bare, modifiers)) if modifiers.chars().all(|letter| MODIFIERS.contains(letter)) => {
            (None, bare, modifiers)
        }
        _ => (None, text, ""),
    }
}

/// Returns the spaces that modifiers select; all of them without `u` and `k`.
fn spaces_of(modifiers: &str) -> Spaces {
    let (user, kernel) = (modifiers.contains('u'), modifiers.contains('k'));
    if user || kernel { Spaces { user, kernel } } else { Spaces::ALL }
}
