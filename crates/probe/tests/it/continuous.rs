//! Several nodes at one clock: each tick belongs to one node, and none is lost or counted twice.

use std::{
    collections::HashMap,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::{ContinuousOptions, ContinuousRecorder, NodeWindow};
use rabbitscope_profiles::{Event, Profile};

use crate::bench::{burn, has_frame, load, node, own_node, start};

const FREQUENCY_HZ: u32 = 499;
const WINDOW: Duration = Duration::from_millis(300);

/// Windows by pid.
type Windows = HashMap<u32, Vec<NodeWindow>>;

#[test]
fn two_nodes_share_a_clock_and_no_tick_is_lost_or_counted_twice() {
    let (first, second) = (node(), own_node());
    let _burner = burn("erlang");
    load(&second, "burn");
    start(&second, "burn", "member");
    let mut recorder = start_recorder();
    recorder.add(first.pid).unwrap();
    recorder.add(second.pid).unwrap();
    let mut windows = Windows::new();
    until(&mut recorder, &mut windows, |windows| {
        [first.pid, second.pid].iter().all(|pid| samples_of(windows, *pid) > 300)
    });
    // Code loaded meanwhile has names too.
    load(first, "late_burn");
    let late = start(first, "late_burn", "erlang");
    until(&mut recorder, &mut windows, |windows| {
        cpu(windows, first.pid).any(|profile| samples_in(profile, "late_burn:sum/2") > 20)
    });
    let _ = first.eval(&format!("exit(list_to_pid(\"{late}\"), kill)."));
    let gone = second.pid;
    drop(second);
    until(&mut recorder, &mut windows, |windows| windows[&gone].last().unwrap().has_ended);
    assert_eq!(recorder.pids().collect::<Vec<_>>(), [first.pid]);
    // No tick comes after the end, so that the windows have all of them.
    let ticks = windows[&gone].last().unwrap().ticks;
    let lost: u64 = cpu(&windows, gone).map(|profile| profile.quality.lost).sum();
    assert!(ticks.abs_diff(samples_of(&windows, gone) + lost) <= 1, "{ticks} ticks, {lost} lost");
    for pid in [first.pid, gone] {
        assert_well_recorded(&windows, pid);
    }
    // Only the second node spends its time there.
    let share = |pid| {
        let there: u64 =
            cpu(&windows, pid).map(|profile| samples_in(profile, "lists:member/2")).sum();
        there as f64 / samples_of(&windows, pid) as f64
    };
    assert!(share(first.pid) < 0.05 && share(gone) > 0.5, "{} {}", share(first.pid), share(gone));
}

#[test]
fn no_window_is_without_length_and_none_is_lost() {
    let node = node();
    let _burner = burn("erlang");
    let mut recorder = start_recorder();
    recorder.add(node.pid).unwrap();
    let (mut windows, mut short) = (Windows::new(), 0);
    for _ in 0..40 {
        // A window ends with a step of 50 ms: most of these requests fall within one.
        thread::sleep(Duration::from_millis(10));
        let ended = recorder.end_window();
        short += u32::from(ended.is_empty());
        for window in ended {
            windows.entry(node.pid).or_default().push(window.unwrap());
        }
    }
    assert!(short > 0);
    for window in recorder.end_last_window().into_iter().map(Result::unwrap) {
        windows.entry(node.pid).or_default().push(window);
    }
    for profile in cpu(&windows, node.pid) {
        assert!(profile.capture.duration_nanos > 0, "{:?}", profile.capture);
    }
    // Ticks after the samples of the last window were taken are counted, but in no window.
    let ticks = windows[&node.pid].last().unwrap().ticks;
    let lost: u64 = cpu(&windows, node.pid).map(|profile| profile.quality.lost).sum();
    let found = samples_of(&windows, node.pid) + lost;
    assert!(found > 20 && ticks.abs_diff(found) <= 20, "{ticks} ticks, {found} in windows");
    assert_well_recorded(&windows, node.pid);
}

fn start_recorder() -> ContinuousRecorder {
    let options = ContinuousOptions { freq_hz: FREQUENCY_HZ, has_off_cpu: false };
    ContinuousRecorder::start(&options).unwrap()
}

/// Takes windows until `is_done`.
fn until(
    recorder: &mut ContinuousRecorder,
    windows: &mut Windows,
    is_done: impl Fn(&Windows) -> bool,
) {
    let deadline = Instant::now() + Duration::from_secs(30);
    loop {
        thread::sleep(WINDOW);
        for window in recorder.end_window() {
            let window = window.unwrap();
            windows.entry(window.pid).or_default().push(window);
        }
        if is_done(windows) {
            return;
        }
        assert!(Instant::now() < deadline, "not within 30 s");
    }
}

fn cpu(windows: &Windows, pid: u32) -> impl Iterator<Item = &Profile> {
    windows.get(&pid).into_iter().flatten().filter_map(|window| window.profiles.first())
}

fn samples_of(windows: &Windows, pid: u32) -> u64 {
    cpu(windows, pid).map(Profile::total).sum()
}

fn samples_in(profile: &Profile, function: &str) -> u64 {
    let there = profile.samples.iter().filter(|sample| has_frame(profile, sample, function));
    there.map(|sample| sample.weight).sum()
}

fn assert_well_recorded(windows: &Windows, pid: u32) {
    let (mut complete, mut on_process) = (0, 0);
    let mut end = 0;
    for profile in cpu(windows, pid) {
        assert_eq!(profile.event, Event::Cpu);
        complete += profile.quality.complete;
        on_process += profile.quality.on_process();
        let started = profile.capture.started_unix_nanos;
        // Each window reads the wall clock; its length comes from the monotonic clock.
        assert!(end == 0 || started.abs_diff(end) < 20_000_000, "{started} after {end}");
        end = started + profile.capture.duration_nanos;
    }
    assert!(complete * 100 >= on_process * 99, "{complete} of {on_process} complete");
}
