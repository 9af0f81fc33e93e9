//! Planted work is found under its event, with its weight.

use std::{
    fs,
    io::Write,
    path::PathBuf,
    process::Command,
    thread::{self, sleep},
    time::{Duration, Instant},
};

use rabbitscope_profiles::{Event, Profile, is_lock_wait};
use tempfile::TempDir;

use crate::{
    bench::{has_frame, load, names, not_run, own_node, record_events},
    driver::Planted,
};

const BINARIES: u64 = 20;
const BINARY_BYTES: u64 = 8 << 20;

const PAGE_BYTES: u64 = 4096;

/// Duration of planted waits.
const WAIT: Duration = Duration::from_millis(1500);

#[test]
fn a_storm_of_mappings_has_its_bytes() {
    let broker = own_node();
    load(&broker, "burn");
    let profiles = record_events(broker.pid, &[Event::Mmap, Event::Munmap], || {
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
fn a_heap_that_grows_by_brk_has_its_bytes() {
    let planted = Planted::start();
    let (steps, bytes): (u64, u64) = (50, 300_000);
    let profiles = record_events(planted.broker.pid, &[Event::Brk], || {
        planted.call("grow_heap", &[steps.into(), bytes.into()]);
    });
    let (grown, calls) = below(&profiles[0], "burn:grow/3");
    // The heap's end before the first step is known to within a page.
    assert!((steps * bytes).abs_diff(grown) <= PAGE_BYTES, "{grown} bytes in {calls} calls");
    assert_eq!(calls, steps);
    let stack = heaviest_below(&profiles[0], "burn:grow/3");
    assert!(stack.contains(&"erlang:port_control/3"), "{stack:?}");
    // The C library has the function under both names.
    assert!(stack.iter().any(|name| ["sbrk", "__sbrk"].contains(name)), "{stack:?}");
    assert_eq!(profiles[0].quality.lost, 0);
}

#[test]
fn a_read_that_waits_is_found_off_the_cpu_for_as_long_as_it_waited() {
    let broker = own_node();
    load(&broker, "burn");
    let pipe = Pipe::new();
    let mut waited = Duration::ZERO;
    let profiles = record_events(broker.pid, &[Event::OffCpu], || {
        broker.eval(&format!("burn:read_pipe(\"{}\").", pipe.path.display())).unwrap();
        let mut writer = fs::OpenOptions::new().write(true).open(&pipe.path).unwrap();
        let opened = Instant::now();
        sleep(WAIT);
        writer.write_all(b"line\n").unwrap();
        waited = opened.elapsed();
    });
    check_wait(&profiles[0], "burn:wait_for_line/1", "prim_file:read_nif/2", waited);
}

#[test]
fn a_port_that_sleeps_is_found_off_the_cpu_below_its_caller() {
    let planted = Planted::start();
    let profiles = record_events(planted.broker.pid, &[Event::OffCpu], || {
        planted.call("sleep_in_port", &[WAIT.as_micros()]);
    });
    check_wait(&profiles[0], "burn:sleep_in_port/2", "erlang:port_control/3", WAIT);
    check_wait(&profiles[0], "planted_sleep", "burn:sleep_in_port/2", WAIT);
}

#[test]
fn a_library_that_was_deleted_has_names() {
    let planted = Planted::start();
    planted.delete_library();
    let profiles = record_events(planted.broker.pid, &[Event::OffCpu], || {
        planted.call("sleep_in_port", &[WAIT.as_micros()]);
    });
    check_wait(&profiles[0], "planted_sleep", "burn:sleep_in_port/2", WAIT);
}

/// The scheduler is not idle, although no process runs meanwhile.
#[test]
fn a_port_that_sleeps_in_its_turn_blocks_its_scheduler() {
    let planted = Planted::start();
    let profiles = record_events(planted.broker.pid, &[Event::OffCpu], || {
        planted.call("sleep_in_port_later", &[WAIT.as_micros()]);
        sleep(WAIT * 2);
    });
    check_wait(&profiles[0], "planted_sleep", "erts_port_task_execute", WAIT);
}

/// Checks that `function` waited for `wait`, blocked, with `through` on its whole stack.
#[track_caller]
fn check_wait(profile: &Profile, function: &str, through: &str, wait: Duration) {
    let stack = heaviest_below(profile, function);
    assert_eq!(stack[1], "[blocked]", "{stack:?}");
    assert!(stack.contains(&through) && !stack.contains(&"[C frames missing]"), "{stack:?}");
    let found = Duration::from_nanos(blocked_below(profile, function));
    let latest = wait.mul_f64(1.1);
    // The test's clock starts and stops outside of the wait. On a busy machine a thread first waits for a CPU.
    assert!(found + Duration::from_millis(50) >= wait && found <= latest, "{found:?} of {wait:?}");
}

/// Nanoseconds for which `function` waited for a wakeup.
fn blocked_below(profile: &Profile, function: &str) -> u64 {
    let of_function = |sample: &&_| has_frame(profile, sample, function);
    let blocked = |sample: &&_| has_frame(profile, sample, "[blocked]");
    profile.samples.iter().filter(of_function).filter(blocked).map(|sample| sample.weight).sum()
}

/// A named pipe, removed at the end of the test.
struct Pipe {
    path: PathBuf,
    _directory: TempDir,
}

impl Pipe {
    fn new() -> Self {
        let directory = tempfile::tempdir().unwrap();
        let path = directory.path().join("pipe");
        assert!(Command::new("mkfifo").arg(&path).status().unwrap().success());
        Self { path, _directory: directory }
    }
}

#[test]
fn an_open_that_waits_is_found_off_the_cpu() {
    let broker = own_node();
    load(&broker, "burn");
    let pipe = Pipe::new();
    let events = [Event::OffCpu, Event::ContextSwitches];
    let profiles = record_events(broker.pid, &events, || {
        broker.eval(&format!("burn:open_pipe(\"{}\").", pipe.path.display())).unwrap();
        sleep(WAIT);
    });
    // Ends the node's wait.
    drop(fs::OpenOptions::new().write(true).open(&pipe.path).unwrap());
    let (nanos, waits) = below(&profiles[0], "burn:wait_for_writer/1");
    let waiting = heaviest_below(&profiles[0], "burn:wait_for_writer/1");
    assert!(u128::from(nanos) > WAIT.as_nanos() * 9 / 10, "{nanos} ns in {waits} waits");
    assert_eq!(waiting[..2], ["dirty_io_scheduler", "[blocked]"], "{waiting:?}");
    assert!(waiting.contains(&"prim_file:open_nif/2"), "{waiting:?}");
    assert!(below(&profiles[0], "[idle]").0 > nanos, "schedulers of an idle node sleep");
    assert!(below(&profiles[1], "erts_schedule").1 > 0);
}

#[test]
fn a_wait_for_a_lock_is_found_off_the_cpu() {
    if thread::available_parallelism().unwrap().get() < 2 {
        return not_run("on one CPU no thread holds a lock while another one wants it");
    }
    let broker = own_node();
    load(&broker, "burn");
    let profiles = record_events(broker.pid, &[Event::OffCpu], || {
        broker.eval("burn:contend().").unwrap();
        sleep(Duration::from_secs(3));
    });
    let profile = &profiles[0];
    let waits = profile.samples.iter().filter(|sample| {
        let stack = names(profile, sample);
        let place = |wanted: &dyn Fn(&str) -> bool| stack.iter().position(|entry| wanted(entry.0));
        let places = [
            // The VM first yields the CPU for a while, then sleeps.
            place(&|name| name == "[blocked]" || name == "[runnable]"),
            place(&|name| name == "burn:write/2"),
            place(&|name| name.starts_with("ets:")),
            place(&is_lock_wait),
        ];
        places[0].is_some() && places.is_sorted_by(|above, below| above < below)
    });
    let nanos: u64 = waits.map(|sample| sample.weight).sum();
    let all = below(profile, "burn:write/2");
    // About a second on an idle machine; the other tests take CPU from both processes.
    assert!(nanos > 100_000_000, "{nanos} ns of {all:?}");
}

#[test]
fn touched_pages_are_counted() {
    let broker = own_node();
    load(&broker, "burn");
    let profiles = record_events(broker.pid, &[Event::PageFaults], || {
        broker.eval(&format!("burn:hold({BINARIES}, {BINARY_BYTES}).")).unwrap();
    });
    let (faults, count) = below(&profiles[0], "burn:allocate/2");
    assert_eq!(faults, count);
    // At least one for every huge page of 2 MiB, at most one for every page of 4 KiB.
    let (fewest, most) =
        ((BINARIES * BINARY_BYTES) >> 21, ((BINARIES * BINARY_BYTES) >> 12) * 11 / 10);
    assert!((fewest..=most).contains(&faults), "{faults} faults");
}

/// Weight and number of the samples with `function` in their stack.
fn below(profile: &Profile, function: &str) -> (u64, u64) {
    let samples = profile.samples.iter().filter(|sample| has_frame(profile, sample, function));
    samples.fold((0, 0), |(weight, count), sample| (weight + sample.weight, count + sample.count))
}

fn heaviest_below<'a>(profile: &'a Profile, function: &str) -> Vec<&'a str> {
    let samples = profile.samples.iter().filter(|sample| has_frame(profile, sample, function));
    let heaviest = samples.max_by_key(|sample| sample.weight).unwrap();
    names(profile, heaviest).into_iter().map(|(name, _, _)| name).collect()
}
