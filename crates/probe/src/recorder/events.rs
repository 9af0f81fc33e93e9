//! The one table of events: the name of each in profiles, its number in the kernel program, and its programs.

use aya::programs::perf_event::SoftwareEvent;
use rabbitscope_profiles::Event;

use crate::kernel_interface::{ProbeEvent, RawSample};

/// A recordable event. Its unit is [`Event::unit`].
#[derive(Debug)]
pub(super) struct ProbeEventRow {
    /// Name in profiles and on the command line.
    pub(super) event: Event,
    /// Number in samples of the kernel program.
    pub(super) number: ProbeEvent,
    /// Programs of `bpf/` that record it.
    pub(super) programs: &'static [ProgramRow],
    /// True if the perf-events backend records it too.
    pub(super) has_perf_events: bool,
}

/// A program of the eBPF object. Events may share one.
#[derive(Clone, Copy, Debug)]
pub(super) struct ProgramRow {
    /// Name of the C function.
    pub(super) name: &'static str,
    /// Attachment of the program.
    pub(super) hook: Hook,
}

/// Attachment of a program.
#[derive(Clone, Copy, Debug)]
pub(super) enum Hook {
    /// A sampling clock on every CPU. Its samples go through the ring buffer. Those of all other hooks are counted
    /// in a map.
    Clock,
    /// Every occurrence of an event that the kernel counts, on every CPU.
    Software(SoftwareEvent),
    /// A tracepoint, by the kernel's name.
    RawTracepoint(&'static str),
}

const ON_TICK: ProgramRow = ProgramRow { name: "on_tick", hook: Hook::Clock };
const ON_PAGE_FAULT: ProgramRow =
    ProgramRow { name: "on_page_fault", hook: Hook::Software(SoftwareEvent::PageFaults) };
const ON_SWITCH: ProgramRow =
    ProgramRow { name: "on_switch", hook: Hook::RawTracepoint("sched_switch") };
const ON_WAKEUP: ProgramRow =
    ProgramRow { name: "on_wakeup", hook: Hook::RawTracepoint("sched_wakeup") };
const ON_SYSCALL: ProgramRow =
    ProgramRow { name: "on_syscall", hook: Hook::RawTracepoint("sys_exit") };

/// All recordable events.
pub(super) const EVENTS: [ProbeEventRow; 7] = [
    ProbeEventRow {
        event: Event::Cpu,
        number: ProbeEvent::Cpu,
        programs: &[ON_TICK],
        has_perf_events: true,
    },
    ProbeEventRow {
        event: Event::OffCpu,
        number: ProbeEvent::OffCpu,
        programs: &[ON_SWITCH, ON_WAKEUP],
        has_perf_events: false,
    },
    ProbeEventRow {
        event: Event::Mmap,
        number: ProbeEvent::Mmap,
        programs: &[ON_SYSCALL],
        has_perf_events: false,
    },
    ProbeEventRow {
        event: Event::Munmap,
        number: ProbeEvent::Munmap,
        programs: &[ON_SYSCALL],
        has_perf_events: false,
    },
    ProbeEventRow {
        event: Event::Brk,
        number: ProbeEvent::Brk,
        programs: &[ON_SYSCALL],
        has_perf_events: false,
    },
    ProbeEventRow {
        event: Event::PageFaults,
        number: ProbeEvent::PageFaults,
        programs: &[ON_PAGE_FAULT],
        has_perf_events: false,
    },
    ProbeEventRow {
        event: Event::ContextSwitches,
        number: ProbeEvent::ContextSwitches,
        programs: &[ON_SWITCH],
        has_perf_events: false,
    },
];

/// The rows of `events`.
pub(super) fn rows_of(events: &[Event]) -> impl Iterator<Item = &'static ProbeEventRow> {
    EVENTS.iter().filter(|row| events.contains(&row.event))
}

/// The programs that `events` need, each once.
pub(super) fn programs_of(events: &[Event]) -> Vec<ProgramRow> {
    let mut programs: Vec<ProgramRow> = Vec::new();
    for program in rows_of(events).flat_map(|row| row.programs) {
        if programs.iter().all(|known| known.name != program.name) {
            programs.push(*program);
        }
    }
    programs
}

/// The event of a sample; `None` for an undefined number.
pub(super) fn event_of(sample: &RawSample) -> Option<Event> {
    let number = sample.event()?;
    EVENTS.iter().find(|row| row.number == number).map(|row| row.event)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use object::{Object, ObjectSection, ObjectSymbol, SymbolKind};
    use rabbitscope_profiles::Event;

    use super::{EVENTS, Hook, event_of, programs_of};
    use crate::kernel_interface::{CpuMode, ProbeEvent, RawSample};

    #[test]
    fn every_event_has_one_row() {
        assert_eq!(EVENTS.map(|row| row.event), Event::RECORDED);
        assert_eq!(EVENTS.map(|row| row.number), *ProbeEvent::ALL);
    }

    #[test]
    fn the_object_has_the_programs_of_the_table_and_no_others() {
        let bytes = include_bytes!(concat!(env!("OUT_DIR"), "/sampler.bpf.o"));
        let file = object::File::parse(bytes.as_slice()).unwrap();
        let in_object: BTreeSet<(String, String)> = file
            .symbols()
            .filter(|symbol| symbol.kind() == SymbolKind::Text && symbol.is_global())
            .filter_map(|symbol| {
                let section = file.section_by_index(symbol.section_index()?).ok()?;
                let section = section.name().ok()?.to_owned();
                (section != ".text").then(|| (symbol.name().unwrap().to_owned(), section))
            })
            .collect();
        let section = |hook| match hook {
            Hook::Clock | Hook::Software(_) => "perf_event".to_owned(),
            Hook::RawTracepoint(tracepoint) => format!("raw_tp/{tracepoint}"),
        };
        let in_table: BTreeSet<(String, String)> = programs_of(&Event::RECORDED)
            .into_iter()
            .map(|program| (program.name.to_owned(), section(program.hook)))
            .collect();
        assert_eq!(in_object, in_table);
    }

    #[test]
    fn an_unknown_number_is_no_event() {
        let mut sample = RawSample::tick(1, 2, CpuMode::User);
        assert_eq!(event_of(&sample), Some(Event::Cpu));
        sample.head.event = 99;
        assert_eq!(event_of(&sample), None);
    }
}
