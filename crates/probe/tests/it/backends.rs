//! Recordings of an ordinary user's own node. The profiles name their backend.

use std::{
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use rabbitscope_probe::{Backend, ErrorKind, Options, ProbeError, record};
use rabbitscope_profiles::{Event, Profile, Sample};

use crate::{bench::has_frame, ordinary_user::OrdinaryUser};

/// Samples at which recordings end. On a busy machine a burner gets few.
const ENOUGH: u64 = 1500;
const RECORDINGS: usize = 15;

/// Tolerance of a share in percentage points: more than three times the statistical error.
const TOLERANCE: f64 = 4.0;

#[track_caller]
fn check_as_ordinary_user(name: &str, flags: &[&str], test: &str) {
    let user = OrdinaryUser::new(name);
    let node = user.start_node(flags, &["erlang"]);
    let output = user.run_test(test, &node);
    let said =
        [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).into_owned());
    assert!(output.status.success(), "{}", said.concat());
    assert!(said[0].contains("1 passed"), "{}", said.concat());
}

#[test]
fn an_ordinary_user_records_whole_stacks_of_a_node_with_frame_pointers() {
    check_as_ordinary_user("fp", &["+JPperf", "true"], "backends::whole_stacks");
}

#[test]
fn an_ordinary_user_learns_the_limits_of_a_stock_node() {
    check_as_ordinary_user("stock", &[], "backends::stock_node");
}

/// Runs as a separate process, started by a test above.
#[test]
#[ignore = "helper of another test"]
fn whole_stacks() {
    let profiles = record_enough(node_to_record(), None);
    for profile in &profiles {
        check_recorder(profile);
        assert!(!has_note(profile, "no frame pointers"), "{:?}", profile.capture.notes);
    }
    check_complete(&profiles);
    check_shares(&profiles);
    let burner = |profile: &Profile, sample: &Sample| {
        has_frame(profile, sample, "burn:loop/1").then(|| sample.labels.process.clone())
    };
    let of_one = |profile: &Profile| -> Vec<Option<Arc<str>>> {
        profile.samples.iter().filter_map(|sample| burner(profile, sample)).collect()
    };
    let mut processes: Vec<_> = profiles.iter().flat_map(of_one).collect();
    processes.sort_unstable();
    processes.dedup();
    assert!(matches!(&processes[..], [Some(_)]), "{processes:?}");
}

/// Runs as a separate process, started by a test above.
#[test]
#[ignore = "helper of another test"]
fn stock_node() {
    let profiles = record_enough(node_to_record(), None);
    for profile in &profiles {
        check_recorder(profile);
        assert!(has_note(profile, "no frame pointers"), "{:?}", profile.capture.notes);
    }
    // The burners are Erlang code, whose stack is in each sample.
    check_complete(&profiles);
    check_shares(&profiles);

    let refused = record_by(node_to_record(), Some(Backend::Ebpf), &[Event::Cpu]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Permission, "{refused}");
}

#[track_caller]
fn check_recorder(profile: &Profile) {
    assert_eq!(profile.capture.recorder, "perf events");
    assert!(has_note(profile, "not by eBPF: CAP_BPF"), "{:?}", profile.capture.notes);
    assert_eq!(profile.quality.lost, 0, "{:?}", profile.quality);
}

#[track_caller]
fn check_complete(profiles: &[Profile]) {
    let share = |profile: &Profile| profile.quality.accounted_share();
    let least = profiles.iter().map(share).fold(1.0, f64::min);
    let all: Vec<_> = profiles.iter().map(|profile| profile.quality).collect();
    assert!(least >= 0.97, "{all:?}");
}

/// Checks the known answer of `burn.erl`.
#[track_caller]
fn check_shares(profiles: &[Profile]) {
    let all = weight_below(profiles, "burn:loop/1");
    let parts = [("burn:seventy/2", 70.0), ("burn:twenty/2", 20.0), ("burn:ten/2", 10.0)];
    for (function, expected) in parts {
        let found = 100.0 * weight_below(profiles, function) as f64 / all as f64;
        assert!((found - expected).abs() <= TOLERANCE, "{function} {found:.1} % of {all}");
    }
}

fn weight_below(profiles: &[Profile], function: &str) -> u64 {
    let samples = profiles.iter().flat_map(|profile| {
        profile.samples.iter().filter(|sample| has_frame(profile, sample, function))
    });
    samples.map(|sample| sample.weight).sum()
}

fn record_enough(pid: u32, backend: Option<Backend>) -> Vec<Profile> {
    let mut profiles = Vec::new();
    while weight_below(&profiles, "burn:loop/1") < ENOUGH {
        assert!(profiles.len() < RECORDINGS, "{} samples", weight_below(&profiles, "burn:loop/1"));
        profiles.push(record_by(pid, backend, &[Event::Cpu]).unwrap());
    }
    profiles
}

fn has_note(profile: &Profile, part: &str) -> bool {
    profile.capture.notes.iter().any(|note| note.contains(part))
}

fn node_to_record() -> u32 {
    std::env::var("RABBITSCOPE_TEST_PID").unwrap().parse().unwrap()
}

fn record_by(pid: u32, backend: Option<Backend>, events: &[Event]) -> Result<Profile, ProbeError> {
    let duration = Some(Duration::from_secs(5));
    let options = Options { pid, events: events.to_vec(), freq_hz: 999, duration, backend };
    let recorded = record(&options, &AtomicBool::new(false), &mut |_| ());
    recorded.map(|mut recorded| recorded.profiles.remove(0))
}

#[test]
fn both_backends_agree_on_a_node_with_frame_pointers() {
    let user = OrdinaryUser::new("both");
    let node = user.start_node(&["+JPperf", "true"], &["erlang"]);
    for (backend, recorder) in [(Backend::Ebpf, "eBPF"), (Backend::PerfEvents, "perf events")] {
        let profiles = record_enough(node.pid(), Some(backend));
        assert_eq!(profiles[0].capture.recorder, recorder);
        check_complete(&profiles);
        check_shares(&profiles);
    }
    let refused = record_by(node.pid(), Some(Backend::PerfEvents), &[Event::OffCpu]).unwrap_err();
    assert_eq!(refused.kind(), ErrorKind::Permission, "{refused}");
}

/// Prints the table of completeness in `docs/measurements/profiling.md`.
#[test]
#[ignore = "prints figures, judges nothing"]
fn completeness_by_work() {
    let works = ["erlang", "gc", "send", "match", "member", "select", "nif"];
    for (flags, work) in [&["+JPperf", "true"][..], &[]]
        .iter()
        .flat_map(|flags| works.iter().map(move |work| (flags, work)))
    {
        let user = OrdinaryUser::new("figures");
        let node = user.start_node(flags, &[work]);
        for backend in Backend::ALL {
            let quality = record_by(node.pid(), Some(backend), &[Event::Cpu]).unwrap().quality;
            let percent = 100.0 * quality.accounted_share();
            println!("{work:8}{:14}{backend:14}{percent:6.1} %  {quality:?}", flags.join(" "));
        }
    }
}
