//! Windows of one recording: they are contiguous, and the recording is their sum.

use std::{sync::atomic::AtomicBool, time::Duration};

use rabbitscope_probe::{Backend, Options, Windows, record_windows};
use rabbitscope_profiles::{Event, Profile, StackQuality};

use crate::bench::{burn, node};

const WINDOW: Duration = Duration::from_millis(500);

#[test]
fn a_recording_is_the_sum_of_its_windows() {
    check(Backend::Ebpf, &[Event::Cpu, Event::OffCpu]);
    check(Backend::PerfEvents, &[Event::Cpu]);
}

fn check(backend: Backend, events: &[Event]) {
    let _burner = burn("erlang");
    let options = Options {
        pid: node().pid,
        events: events.to_vec(),
        freq_hz: 499,
        duration: Some(Duration::from_secs(3)),
        backend: Some(backend),
    };
    let mut windows: Vec<Vec<Profile>> = Vec::new();
    let take = &mut |profiles: &[Profile]| windows.push(profiles.to_vec());
    let stop = AtomicBool::new(false);
    let asked = Windows { length: WINDOW, take };
    let recorded = record_windows(&options, &stop, asked).unwrap();
    assert!((5..=7).contains(&windows.len()), "{}", windows.len());
    for (at, whole) in recorded.profiles.iter().enumerate() {
        let parts: Vec<&Profile> = windows.iter().map(|profiles| &profiles[at]).collect();
        check_sum(whole, &parts);
        check_times(whole, &parts);
    }
}

fn check_sum(whole: &Profile, parts: &[&Profile]) {
    let sum = |count: fn(&Profile) -> u64| parts.iter().map(|part| count(part)).sum::<u64>();
    assert_eq!(whole.total(), sum(Profile::total));
    assert_eq!(whole.capture.duration_nanos, sum(|part| part.capture.duration_nanos));
    let counts: [fn(&StackQuality) -> u64; 3] =
        [StackQuality::recorded, |quality| quality.complete, |quality| quality.lost];
    for count in counts {
        let all: u64 = parts.iter().map(|part| count(&part.quality)).sum();
        assert_eq!(count(&whole.quality), all);
    }
    assert!(whole.total() > 100 && whole.capture.duration() >= Duration::from_secs(3));
    assert_eq!(whole.capture.started_unix_nanos, parts[0].capture.started_unix_nanos);
}

/// Windows follow each other, and each weight stands in the steps of its window.
fn check_times(whole: &Profile, parts: &[&Profile]) {
    let step = whole.capture.time_step_nanos;
    for two in parts.windows(2) {
        let [one, next] = [&two[0].capture, &two[1].capture];
        let end = one.started_unix_nanos + one.duration_nanos;
        assert!(end.abs_diff(next.started_unix_nanos) < 5_000_000, "{one:?}, then {next:?}");
    }
    let timed = |profile: &Profile| -> u64 {
        let times = profile.samples.iter().flat_map(|sample| sample.times.iter());
        times.map(|(_, weight)| weight).sum()
    };
    assert_eq!(timed(whole), parts.iter().map(|part| timed(part)).sum::<u64>());
    let steps = whole.samples.iter().flat_map(|sample| sample.times.iter());
    let last = steps.map(|(step, _)| u64::from(step)).max().unwrap();
    let length = whole.capture.duration_nanos / step;
    assert!(last >= length - 2 && last <= length + 1, "{last} of {length}");
}
