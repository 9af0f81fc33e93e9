use super::*;
use crate::{Event, ValueName};

/// Checks the choice among events that have one sample for each of these periods.
#[track_caller]
fn check(events: &[(&str, &[u64])], asked: Option<&str>, expected: (&[usize], Event, &str)) {
    let chosen = events_of(events).choose(asked).unwrap().unwrap();
    let unit = chosen.value.as_ref().map_or(chosen.event.unit(), |value| &value.unit);
    assert_eq!((&chosen.events[..], chosen.event, unit), expected, "{events:?}");
}

fn events_of(events: &[(&str, &[u64])]) -> PerfEvents {
    let mut all = PerfEvents::default();
    for (number, (name, periods)) in events.iter().enumerate() {
        all.add(EventName::new(name));
        for period in *periods {
            all.count(number, Some(*period), 1);
        }
    }
    all
}

#[test]
fn one_event_of_two_kinds_of_core_is_one() {
    let both: &[(&str, &[u64])] = &[("cpu_atom/cycles/", &[7]), ("cpu_core/cycles/", &[9])];
    check(both, None, (&[0, 1], Event::Imported, "cycles"));
    check(both, Some("cycles"), (&[0, 1], Event::Imported, "cycles"));
    let user: &[(&str, &[u64])] = &[("cpu_atom/cycles/u", &[7]), ("cpu_core/cycles/u", &[7])];
    check(user, Some("cpu_core/cycles/u"), (&[0, 1], Event::Cpu, "samples"));
    let arm: &[(&str, &[u64])] =
        &[("armv8_cortex_a53/cpu_cycles/", &[1, 5]), ("armv8_cortex_a72/cpu_cycles/", &[1])];
    check(arm, None, (&[0, 1], Event::Imported, "cycles"));
}

#[test]
fn of_two_forms_of_an_event_the_wider_one_is_taken() {
    let beside: &[(&str, &[u64])] = &[("cycles:u", &[1, 2]), ("cycles", &[3, 4, 5])];
    check(beside, None, (&[1], Event::Imported, "cycles"));
    check(beside, Some("cycles:u"), (&[0], Event::Imported, "cycles"));
    let parts: &[(&str, &[u64])] = &[("cpu-clock:u", &[5]), ("cpu-clock:k", &[5])];
    check(parts, None, (&[0, 1], Event::Cpu, "samples"));
    let three: &[(&str, &[u64])] = &[("cycles:u", &[1]), ("cycles:k", &[1]), ("cycles:ppp", &[1])];
    check(three, None, (&[2], Event::Cpu, "samples"));
    // Counting the same event twice would double everything.
    check(&[("cycles", &[1]), ("cycles", &[1])], None, (&[0], Event::Cpu, "samples"));
    let hybrid: &[(&str, &[u64])] = &[
        ("cpu_atom/cycles/u", &[1]),
        ("cpu_core/cycles/u", &[1]),
        ("cpu_atom/cycles/", &[2]),
        ("cpu_core/cycles/", &[2]),
    ];
    check(hybrid, None, (&[2, 3], Event::Cpu, "samples"));
}

#[test]
fn an_event_without_samples_is_not_chosen() {
    check(&[("cycles", &[]), ("page-faults", &[1])], None, (&[1], Event::PageFaults, "faults"));
    assert_eq!(events_of(&[("cycles", &[])]).choose(None), Ok(None));
}

#[test]
fn weights_are_periods_where_these_differ() {
    check(&[("cpu-clock:pppH", &[1_001_001, 1_001_001])], None, (&[0], Event::Cpu, "samples"));
    check(&[("cpu-clock", &[10, 11])], None, (&[0], Event::Imported, "nanoseconds"));
    check(&[("page-faults:u", &[1, 1])], None, (&[0], Event::PageFaults, "faults"));
    check(&[("page-faults", &[1, 9])], None, (&[0], Event::Imported, "faults"));
    check(&[("sched:sched_switch", &[1])], None, (&[0], Event::ContextSwitches, "switches"));
    check(&[("branch-misses:u", &[5000])], None, (&[0], Event::Imported, "events"));
    check(&[("syscalls:sys_enter_mmap", &[1])], None, (&[0], Event::Mmap, "bytes"));
    let mut without = PerfEvents::default();
    without.add(EventName::new("branch-misses"));
    without.count(0, None, 1);
    let value = without.choose(None).unwrap().unwrap().value;
    assert_eq!(value, Some(ValueName::new("branch-misses", "samples")));
}

#[test]
fn a_name_that_is_not_there_is_refused_with_those_that_are() {
    let error = events_of(&[("cycles:u", &[1]), ("faults", &[1])]).choose(Some("x")).unwrap_err();
    let text = error.to_string();
    assert!(text.contains("no value `x`") && text.contains("`cycles:u`, `faults`"), "{text}");
}

#[test]
fn the_length_of_a_mapping_is_its_weight() {
    let mmap = EventName::new("syscalls:sys_enter_mmap");
    let arguments = "addr: 0x00000000, len: 0x00800000, prot: 0x00000003, fd: 0xffffffff";
    assert_eq!(mmap.weight_of_arguments(arguments), 0x80_0000);
    let mut record = [0; 56];
    record[24..32].copy_from_slice(&4096_u64.to_le_bytes());
    assert_eq!(mmap.weight_of_record(&record), 4096);
    assert_eq!(mmap.weight_of_record(&record[..20]), 0);
    assert_eq!(EventName::new("cycles").weight_of_record(&[]), 1);
}
