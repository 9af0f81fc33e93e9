//! Events by the names that perf gives them, and what of them a profile can hold.

use std::collections::BTreeMap;

use super::Event;

/// Where the length stands in the record of `syscalls:sys_enter_mmap` and `sys_enter_munmap`: after
/// eight bytes that all tracepoints have, the number of the system call, and the address.
const LENGTH_IN_RECORD: usize = 24;

/// How many other events a note names.
const MAX_NAMED: usize = 5;

/// The event of an import.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct ForeignEvent {
    /// As perf calls it.
    pub(super) name: String,
    pub(super) event: Event,
    is_known: bool,
}

impl ForeignEvent {
    /// What an event is for us, by its name, modifiers included (`cpu-clock:pppH`).
    pub(super) fn of(name: &str) -> Self {
        let bare = without_modifiers(name);
        let event = match bare {
            "cpu-clock" | "task-clock" | "cycles" | "cpu-cycles" | "cpu_core/cycles/"
            | "cpu_atom/cycles/" => Some(Event::Cpu),
            "page-faults"
            | "faults"
            | "minor-faults"
            | "major-faults"
            | "exceptions:page_fault_user" => Some(Event::PageFaults),
            "context-switches" | "cs" | "sched:sched_switch" => Some(Event::ContextSwitches),
            "syscalls:sys_enter_mmap" => Some(Event::Mmap),
            "syscalls:sys_enter_munmap" => Some(Event::Munmap),
            _ => None,
        };
        Self {
            name: name.to_owned(),
            event: event.unwrap_or(Event::Cpu),
            is_known: event.is_some(),
        }
    }

    /// The weight of one sample, from the record of a tracepoint.
    pub(super) fn weight_of_record(&self, record: &[u8]) -> u64 {
        if !self.event.is_weighted() {
            return 1;
        }
        let length = record.get(LENGTH_IN_RECORD..).and_then(<[u8]>::first_chunk);
        length.map_or(0, |bytes| u64::from_le_bytes(*bytes))
    }

    /// The weight of one sample, from the arguments of a tracepoint as perf prints them
    /// (`addr: 0x00000000, len: 0x00001000`).
    pub(super) fn weight_of_arguments(&self, arguments: &str) -> u64 {
        if !self.event.is_weighted() {
            return 1;
        }
        let length = arguments.split("len: 0x").nth(1).and_then(|rest| {
            let digits = rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len());
            u64::from_str_radix(&rest[..digits], 16).ok()
        });
        length.unwrap_or(0)
    }

    /// What a reader must know.
    pub(super) fn notes(&self) -> Vec<String> {
        let mut notes = vec![
            "The file says neither which Erlang process ran nor how good its stacks are."
                .to_owned(),
        ];
        if !self.is_known {
            notes.push(format!("Weights are numbers of samples of the event `{}`.", self.name));
        }
        notes
    }
}

/// `sched:sched_switch` has a part before its colon, `cycles:ppp` after.
fn without_modifiers(name: &str) -> &str {
    match name.rsplit_once(':') {
        Some((bare, modifiers)) if modifiers.chars().all(|c| "ukhGHpPSDIWeb".contains(c)) => bare,
        _ => name,
    }
}

/// Samples of events that were left out.
#[derive(Debug, Default)]
pub(super) struct OtherEvents(BTreeMap<String, u64>);

impl OtherEvents {
    /// Counts a sample of the event `name`.
    pub(super) fn add(&mut self, name: &str) {
        if let Some(count) = self.0.get_mut(name) {
            *count += 1;
        } else if self.0.len() < MAX_NAMED {
            self.0.insert(name.to_owned(), 1);
        }
    }

    /// Says what was left out.
    pub(super) fn note(&self) -> Option<String> {
        if self.0.is_empty() {
            return None;
        }
        let each = self.0.iter().map(|(name, count)| format!("{count} of {name}"));
        let all: Vec<String> = each.collect();
        Some(format!(
            "Samples of other events were left out: {}. Record each event into a file of its own.",
            all.join(", ")
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(name: &str, expected: Event, is_known: bool) {
        let event = ForeignEvent::of(name);
        assert_eq!((event.event, event.is_known), (expected, is_known), "{name}");
    }

    #[test]
    fn names_of_perf_are_events() {
        check("cpu-clock:pppH", Event::Cpu, true);
        check("cycles", Event::Cpu, true);
        check("sched:sched_switch", Event::ContextSwitches, true);
        check("page-faults:u", Event::PageFaults, true);
        check("syscalls:sys_enter_mmap", Event::Mmap, true);
        check("branch-misses:u", Event::Cpu, false);
    }

    #[test]
    fn the_length_of_a_mapping_is_its_weight() {
        let mmap = ForeignEvent::of("syscalls:sys_enter_mmap");
        let arguments = "addr: 0x00000000, len: 0x00800000, prot: 0x00000003, fd: 0xffffffff";
        assert_eq!(mmap.weight_of_arguments(arguments), 0x80_0000);
        let mut record = [0; 56];
        record[24..32].copy_from_slice(&4096_u64.to_le_bytes());
        assert_eq!(mmap.weight_of_record(&record), 4096);
        assert_eq!(mmap.weight_of_record(&record[..20]), 0);
        assert_eq!(ForeignEvent::of("cycles").weight_of_record(&[]), 1);
    }
}
