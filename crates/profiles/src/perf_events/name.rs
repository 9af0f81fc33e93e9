//! The name of an event, taken apart: `cpu_core/cycles/u`, `cycles:ppp`, `sched:sched_switch`.

use super::super::{Event, ValueName};

/// Where the length stands in the record of `syscalls:sys_enter_mmap` and `sys_enter_munmap`: after
/// eight bytes that all tracepoints have, the number of the system call, and the address.
const LENGTH_IN_RECORD: usize = 24;

/// Other names of the same events.
const ALIASES: [(&str, &str); 6] = [
    ("cpu-cycles", "cycles"),
    ("cpu_cycles", "cycles"),
    ("faults", "page-faults"),
    ("exceptions:page_fault_user", "page-faults"),
    ("cs", "context-switches"),
    ("sched:sched_switch", "context-switches"),
];

/// Letters that may follow an event's name after a colon or a slash.
const MODIFIERS: &str = "ukhGHpPSDIWebR";

/// The parts of memory in which an event counts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Spaces {
    pub(crate) user: bool,
    pub(crate) kernel: bool,
}

impl Spaces {
    /// Both.
    pub(crate) const ALL: Self = Self { user: true, kernel: true };

    /// Whether all that `other` counts is counted here too.
    pub(super) fn includes(self, other: Self) -> bool {
        (self.user || !other.user) && (self.kernel || !other.kernel)
    }

    /// Whether nothing is counted by both.
    pub(super) fn is_apart_from(self, other: Self) -> bool {
        !(self.user && other.user || self.kernel && other.kernel)
    }
}

/// An event by the name that perf gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct EventName {
    /// As perf has it.
    pub(crate) text: String,
    /// Without unit and modifiers; one name for all aliases.
    pub(super) base: String,
    /// The counting unit that it names: `cpu_core`, `cpu_atom`. The two kinds of core of one machine are two.
    pub(super) unit: Option<String>,
    pub(super) spaces: Spaces,
}

impl EventName {
    /// Takes a name apart.
    pub(crate) fn new(text: &str) -> Self {
        let (unit, event, modifiers) = split(text);
        let alias = ALIASES.iter().find(|(alias, _)| *alias == event);
        let base = alias.map_or(event, |(_, base)| base);
        Self {
            text: text.to_owned(),
            base: base.to_owned(),
            unit: unit.map(str::to_owned),
            spaces: spaces_of(modifiers),
        }
    }

    /// As [`Self::new`], with what the attributes of the event say of its spaces.
    pub(crate) fn with_spaces(self, spaces: Spaces) -> Self {
        Self { spaces, ..self }
    }

    /// The event of rabbitscope that it is the same as.
    pub(super) fn event(&self) -> Option<Event> {
        match self.base.as_str() {
            "cpu-clock" | "task-clock" | "cycles" => Some(Event::Cpu),
            "page-faults" | "minor-faults" | "major-faults" => Some(Event::PageFaults),
            "context-switches" => Some(Event::ContextSwitches),
            "syscalls:sys_enter_mmap" => Some(Event::Mmap),
            "syscalls:sys_enter_munmap" => Some(Event::Munmap),
            _ => None,
        }
    }

    /// Name and unit of its weights, when a weight is a sum of periods.
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

    /// Whether it counts time in nanoseconds.
    pub(super) fn is_clock(&self) -> bool {
        matches!(self.base.as_str(), "cpu-clock" | "task-clock")
    }

    /// The weight of one occurrence, from the record of a tracepoint.
    pub(crate) fn weight_of_record(&self, record: &[u8]) -> u64 {
        if !self.event().is_some_and(Event::is_weighted) {
            return 1;
        }
        let length = record.get(LENGTH_IN_RECORD..).and_then(<[u8]>::first_chunk);
        length.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// The weight of one occurrence, from the arguments of a tracepoint as perf prints them
    /// (`addr: 0x00000000, len: 0x00001000`).
    pub(crate) fn weight_of_arguments(&self, arguments: &str) -> u64 {
        if !self.event().is_some_and(Event::is_weighted) {
            return 1;
        }
        let length = arguments.split("len: 0x").nth(1).and_then(|rest| {
            let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            u64::from_str_radix(&rest[..digits], 16).ok()
        });
        length.unwrap_or(0)
    }
}

/// Counting unit, name and modifiers. `sched:sched_switch` has a part of its name before its colon.
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

/// Without `u` and `k` an event counts in both.
fn spaces_of(modifiers: &str) -> Spaces {
    let (user, kernel) = (modifiers.contains('u'), modifiers.contains('k'));
    if user || kernel { Spaces { user, kernel } } else { Spaces::ALL }
}
