//! What is planted under an event is found under it, with its weight.

use std::{fs, process::Command, thread};

use rabbitscope_data::profile::{Event, Profile, is_lock_wait};

use crate::bench::{has_frame, load, names, own_node, record_events};

const BINARIES: u64 = 20;
const BINARY_BYTES: u64 = 8 << 20;

#[test]
fn a_storm_of_mappings_has_its_bytes() {
    let broker = own_node("mmap");
    load(&broker, "burn");
    let profiles = record_events(broker.pid, &[Event::Mmap, Event::Munmap], 4.0, || {
        broker.eval(&format!("burn:hold({BINARIES}, {BINARY_BYTES}).")).unwrap();
    });
    let [mapped, unmapped] =
        [&profiles[0], &profiles[1]].map(|profile| below(profile, "burn:allocate/2"));
    // Alignment may map more than is kept.
    let kept = mapped.0.saturating_sub(unmapped.0);
    let planted = BINARIES * BINARY_BYTES;
    assert!((planted..planted * 11 / 10).contains(&kept), "{mapped:?} - {unmapped:?}");
    assert!((BINARIES..=2 * BINARIES).contains(&mapped.1), "{mapped:?}");
    assert_eq!(profiles[0].quality.lost, 0);
}

#[test]
fn a_read_that_waits_is_found_off_the_cpu() {
    let broker = own_node("off-cpu");
    load(&broker, "burn");
    let pipe = std::env::temp_dir().join(format!("rabbitscope-pipe-{}", std::process::id()));
    assert!(Command::new("mkfifo").arg(&pipe).status().unwrap().success());
    let events = [Event::OffCpu, Event::ContextSwitches];
    let profiles = record_events(broker.pid, &events, 5.0, || {
        broker.eval(&format!("burn:open_pipe(\"{}\").", pipe.display())).unwrap();
    });
    // Lets the node go on.
    drop(fs::OpenOptions::new().write(true).open(&pipe).unwrap());
    fs::remove_file(&pipe).unwrap();
    let (nanos, waits) = below(&profiles[0], "burn:wait_for_writer/1");
    let waiting = heaviest_below(&profiles[0], "burn:wait_for_writer/1");
    assert!((2_000_000_000..5_500_000_000).contains(&nanos), "{nanos} ns in {waits} waits");
    assert_eq!(waiting[..2], ["dirty_io_scheduler", "[blocked]"], "{waiting:?}");
    assert!(waiting.contains(&"prim_file:open_nif/2"), "{waiting:?}");
    assert!(below(&profiles[0], "[idle]").0 > nanos, "schedulers of an idle node sleep");
    assert!(below(&profiles[1], "erts_schedule").1 > 0);
}

#[test]
fn a_wait_for_a_lock_is_found_off_the_cpu() {
    if thread::available_parallelism().unwrap().get() < 2 {
        println!("not run: on one CPU nobody holds a lock while another one wants it");
        return;
    }
    let broker = own_node("lock");
    load(&broker, "burn");
    let profiles = record_events(broker.pid, &[Event::OffCpu], 4.0, || {
        broker.eval("burn:contend().").unwrap();
    });
    let profile = &profiles[0];
    let waits = profile.samples.iter().filter(|sample| {
        let stack = names(profile, sample);
        let place = |wanted: &dyn Fn(&str) -> bool| stack.iter().position(|it| wanted(it.0));
        let places = [
            // The VM first gives the CPU away for a while, then sleeps.
            place(&|it| it == "[blocked]" || it == "[runnable]"),
            place(&|it| it == "burn:write/2"),
            place(&|it| it.starts_with("ets:")),
            place(&is_lock_wait),
        ];
        places[0].is_some() && places.is_sorted_by(|above, below| above < below)
    });
    let nanos: u64 = waits.map(|sample| sample.weight).sum();
    let all = below(profile, "burn:write/2");
    // About a second when nothing else runs; the other tests take CPU from both.
    assert!(nanos > 100_000_000, "{nanos} ns of {all:?}");
}

#[test]
fn touched_pages_are_counted() {
    let broker = own_node("page-faults");
    load(&broker, "burn");
    let profiles = record_events(broker.pid, &[Event::PageFaults], 4.0, || {
        broker.eval(&format!("burn:hold({BINARIES}, {BINARY_BYTES}).")).unwrap();
    });
    let (faults, count) = below(&profiles[0], "burn:allocate/2");
    assert_eq!(faults, count);
    // At least one for every huge page of 2 MiB, at most one for every page of 4 KiB.
    let (fewest, most) =
        ((BINARIES * BINARY_BYTES) >> 21, ((BINARIES * BINARY_BYTES) >> 12) * 11 / 10);
    assert!((fewest..=most).contains(&faults), "{faults} faults");
}

/// Weight and number of the samples that have `function` in their stack.
fn below(profile: &Profile, function: &str) -> (u64, u64) {
    let samples = profile.samples.iter().filter(|sample| has_frame(profile, sample, function));
    samples.fold((0, 0), |(weight, count), it| (weight + it.weight, count + it.count))
}

fn heaviest_below<'a>(profile: &'a Profile, function: &str) -> Vec<&'a str> {
    let samples = profile.samples.iter().filter(|sample| has_frame(profile, sample, function));
    let heaviest = samples.max_by_key(|sample| sample.weight).unwrap();
    names(profile, heaviest).into_iter().map(|(name, _, _)| name).collect()
}
