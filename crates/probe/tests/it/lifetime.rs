//! Modules loaded during a recording, exiting nodes, and killed recorders.

use std::{
    process::{Command, Stdio},
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc::channel,
    },
    thread,
    time::Duration,
};

use rabbitscope_probe::{Backend, ErrorKind, Options, ProbeError};
use rabbitscope_profiles::Event;
use rabbitscope_testing::{Stops, eventually, is_root, kernel_programs_of};

use crate::bench::{
    burn, has_frame, load, node, own_node, record, record_aside, record_events, start,
};

#[test]
fn a_module_loaded_while_we_sample_has_names() {
    let broker = own_node();
    let profiles = record_events(broker.pid, &[Event::Cpu], || {
        load(&broker, "late_burn");
        start(&broker, "late_burn", "erlang");
        thread::sleep(Duration::from_secs(4));
    });
    let profile = &profiles[0];
    let named: u64 = profile
        .samples
        .iter()
        .filter(|sample| has_frame(profile, sample, "late_burn:sum/2"))
        .map(|sample| sample.weight)
        .sum();
    assert!(named > 100, "{named} samples in the new module; {:?}", profile.quality);
}

#[test]
fn a_node_that_exits_leaves_its_samples() {
    let broker = own_node();
    load(&broker, "burn");
    start(&broker, "burn", "member");
    let recorder = record_aside(broker.pid, 60.0);
    thread::sleep(Duration::from_secs(2));
    drop(broker);
    let profile = recorder.join().unwrap().unwrap();
    assert!(profile.quality.complete > 500, "{:?}", profile.quality);
    assert!(profile.capture.notes.iter().any(|note| note.contains("exited after")));
    let unsymbolised = profile.quality.unsymbolised as f64 / profile.quality.recorded() as f64;
    assert!(unsymbolised < 0.9, "{:?}", profile.quality);
}

/// A recorder that waits for a CPU reads its clock long before it takes the last samples.
#[test]
fn a_recording_is_as_long_as_its_samples() {
    let _burner = burn("member");
    let options = Options {
        pid: node().pid,
        events: vec![Event::Cpu],
        freq_hz: 999,
        duration: None,
        backend: None,
    };
    let stop = AtomicBool::new(false);
    let mut reports = 0;
    let recorded = rabbitscope_probe::record(&options, &stop, &mut |_| {
        reports += 1;
        if reports == 2 {
            thread::sleep(Duration::from_millis(600));
            stop.store(true, Ordering::Relaxed);
        }
    });
    let profile = recorded.unwrap().profiles.remove(0);
    let steps = profile.samples.iter().flat_map(|sample| sample.times.iter());
    let last = steps.map(|(step, _)| u64::from(step)).max().unwrap();
    let capture = &profile.capture;
    let last_nanos = last * capture.time_step_nanos;
    assert!(last_nanos <= capture.duration_nanos, "{last_nanos}: {capture:?}");
    // The burner has a CPU for most of the time.
    let cores = (profile.total() * capture.period_nanos) as f64 / capture.duration_nanos as f64;
    assert!(cores <= f64::from(capture.cpus) * 1.05, "{cores}: {capture:?}");
}

/// The kernel's verifier gives up when a signal waits.
#[test]
#[expect(unsafe_code, reason = "no safe function sends a signal to a thread")]
fn signals_during_the_start_of_a_recording_do_no_harm() {
    if !is_root() {
        return;
    }
    let broker = own_node();
    let options = Options {
        pid: broker.pid,
        events: vec![Event::Cpu],
        freq_hz: 999,
        duration: Some(Duration::from_millis(200)),
        backend: Some(Backend::Ebpf),
    };
    signal_hook::flag::register(libc::SIGHUP, Arc::default()).unwrap();
    let has_begun = AtomicBool::new(false);
    let (sender, thread_of_recorder) = channel();
    let recorded = thread::scope(|scope| {
        let recorder = scope.spawn(|| {
            // SAFETY: the function only returns the calling thread.
            sender.send(unsafe { libc::pthread_self() }).unwrap();
            rabbitscope_probe::record(&options, &AtomicBool::new(false), &mut |_| {
                has_begun.store(true, Ordering::Relaxed);
            })
        });
        let thread = thread_of_recorder.recv().unwrap();
        while !has_begun.load(Ordering::Relaxed) && !recorder.is_finished() {
            // SAFETY: the thread exists until it is joined.
            unsafe { libc::pthread_kill(thread, libc::SIGHUP) };
            thread::sleep(Duration::from_millis(1));
        }
        recorder.join().unwrap()
    });
    assert!(recorded.is_ok(), "{:?}", recorded.err());
}

#[test]
fn a_recorder_that_is_killed_leaves_no_program_in_the_kernel() {
    let broker = own_node();
    let recorder = Command::new(std::env::current_exe().unwrap())
        .args(["lifetime::record_for_a_minute", "--exact", "--ignored"])
        .env("RABBITSCOPE_TEST_PID", broker.pid.to_string())
        .stdout(Stdio::null())
        .spawn()
        .unwrap();
    let pid = recorder.id();
    eventually("the program is attached", || !kernel_programs_of(pid).is_empty());
    let theirs = kernel_programs_of(pid);
    recorder.killed();
    eventually("the program is gone", || !loaded_programs().iter().any(|id| theirs.contains(id)));
}

/// Runs as a separate process, started by the test above.
#[test]
#[ignore = "helper of another test"]
fn record_for_a_minute() {
    let pid = std::env::var("RABBITSCOPE_TEST_PID").unwrap().parse().unwrap();
    record(pid, 60.0).unwrap();
}

#[test]
fn a_process_that_is_no_node_is_refused() {
    let own = record(std::process::id(), 1.0).unwrap_err();
    assert!(matches!(own, ProbeError::NotABeam { .. }), "{own}");
    assert_eq!(own.kind(), ErrorKind::NodeNotFound);
    let none = record(u32::MAX - 1, 1.0).unwrap_err();
    assert!(matches!(none, ProbeError::NoSuchProcess { .. }), "{none}");
}

/// Ids of all programs in the kernel, of any loader.
fn loaded_programs() -> Vec<u32> {
    aya::programs::loaded_programs().flatten().map(|program| program.id()).collect()
}
