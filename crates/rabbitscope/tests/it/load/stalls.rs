//! A stopped load generator still keeps its schedule, and reports its own part of the delay.
//!
//! A signal stops the whole program, more regularly than any scheduler. Other processes on the machine also stop it,
//! so that one of a few attempts must succeed.

use std::{
    process::Child,
    thread,
    time::{Duration, Instant},
};

use rabbitscope_testing::{
    Ends, Workbench, count, existing_broker, latency, pause,
    scenario::{Consumers, Publishers, Scenario},
};
use serde_json::Value;

const ATTEMPTS: u32 = 6;
const MILLI: u64 = 1_000_000;

fn load(name: &str, rate: i64) -> Scenario {
    Scenario::with_queue(name)
        .publishers(Publishers::new(name).rate(rate))
        .consumers(Consumers::new(name).auto_ack(true))
}

/// Starts the run on the shared broker and waits until it is under way. The run judges itself.
fn start(bench: &Workbench, scenario: Scenario) -> Child {
    bench.file("s.toml", scenario);
    let mut command = bench.command("run s.toml --out out");
    command.env("RABBITSCOPE_URI", existing_broker().uri());
    let child = command.env("RABBITSCOPE_SET_RUN__SELF_CHECK", "true").spawn().unwrap();
    bench.await_seconds("out", 1);
    child
}

fn stop(child: &Child, length: Duration) {
    // A process that has ended in the meantime was not waited for yet, so that its id is still its own.
    pause(child.id(), length);
}

/// Returns a figure of a latency in milliseconds.
fn millis(run: &Value, name: &str, key: &str) -> f64 {
    latency(run, name)[key].as_f64().unwrap() / MILLI as f64
}

/// Repeats the attempt, a few times, until it succeeds.
fn in_one_of_a_few_attempts(attempt: impl Fn(u32) -> Result<(), String>) {
    let mut failures = Vec::new();
    for number in 0..ATTEMPTS {
        match attempt(number) {
            Ok(()) => return,
            Err(failure) => failures.push(failure),
        }
    }
    panic!("{failures:#?}");
}

/// For a fifth of the time, nothing can be sent. Afterwards, all of it is sent.
#[test]
fn whoever_is_stopped_again_and_again_keeps_the_schedule() {
    in_one_of_a_few_attempts(|attempt| {
        let bench = Workbench::new(&format!("stopped-{attempt}"));
        let load = load(&format!("stopped-{attempt}"), 1000).duration("6s").trace_every(1);
        let mut child = start(&bench, load);
        while child.try_wait().unwrap().is_none() {
            stop(&child, Duration::from_millis(20));
            thread::sleep(Duration::from_millis(80));
        }
        // The figures of such a run are not the broker's, and its report says so.
        let ended = child.ended().code(4);
        assert!(ended.stdout.contains("NOT VALID, client-limited"), "{ended:#?}");
        let run = bench.json("out/run.json");
        let apart = ["end-to-end-intended", "end-to-end", "client-delay"];
        let [intended, broker, client] = apart.map(|name| millis(&run, name, "mean"));
        assert!((intended - broker - client).abs() < 0.02 * intended + 0.1, "{run:#}");
        assert!(millis(&run, "client-delay", "p95") >= 10.0, "{run:#}");
        assert!(count(&run, "late-by-client") >= count(&run, "late") * 99 / 100, "{run:#}");
        let seconds = kept(&bench.rows("out/trace.jsonl"), 6);
        let p50 = millis(&run, "end-to-end-intended", "p50");
        if seconds.iter().all(|sent| *sent >= 990) && p50 <= 15.0 {
            return Ok(());
        }
        Err(format!("{seconds:?}, {p50} ms"))
    });
}

/// Counts the messages of each second of the schedule that were sent a few milliseconds after it. A second may end
/// while the program is stopped.
fn kept(trace: &[Value], seconds: usize) -> Vec<u32> {
    let mut kept = vec![0; seconds];
    for message in trace {
        let [due, sent] =
            ["intended-nanos", "sent-nanos"].map(|key| message[key].as_u64().unwrap());
        let second = due / (1000 * MILLI);
        let in_time = sent < (second + 1) * 1000 * MILLI + 30 * MILLI;
        // Messages that fall due while it is stopped at the very end are sent, too.
        if let Some(count) = kept.get_mut(usize::try_from(second).unwrap()) {
            *count += u32::from(in_time);
        }
    }
    kept
}

/// Stalls for a hundredth of the time. Only messages that fall due in the stall are late, however high the rate is.
#[test]
fn a_stall_spoils_only_what_falls_due_in_it() {
    in_one_of_a_few_attempts(|attempt| {
        let rates = [200, 5000];
        let benches = rates.map(|rate| Workbench::new(&format!("stall-{rate}-{attempt}")));
        let begun: Vec<_> = benches
            .iter()
            .zip(rates)
            .map(|(bench, rate)| {
                let name = format!("stall-{rate}-{attempt}");
                (bench, rate, start(bench, load(&name, rate).duration("10s")))
            })
            .collect();
        for (_, _, child) in &begun {
            let since = Instant::now();
            stop(child, Duration::from_millis(100));
            assert!(since.elapsed() >= Duration::from_millis(100));
        }
        let results: Vec<_> = begun
            .into_iter()
            .map(|(bench, rate, child)| {
                let ended = child.ended();
                let run = bench.json("out/run.json");
                let late = count(&run, "late") as f64 / count(&run, "scheduled") as f64;
                assert!(late >= 0.009, "{rate}: it was stopped: {run:#}");
                assert!(millis(&run, "client-delay", "max") >= 90.0, "{run:#}");
                (rate, late, ended.code)
            })
            .collect();
        let is_fine = results.iter().all(|(_, late, code)| *late < 0.015 && *code == Some(0));
        if is_fine { Ok(()) } else { Err(format!("{results:?}")) }
    });
}

/// Three tenths of a second of the schedule are left out, and the broker is not the reason.
#[test]
fn what_a_stall_leaves_out_is_the_clients_doing() {
    let bench = Workbench::new("stall-skip");
    let load = load("stall-skip", 1000).duration("4s");
    let child = start(&bench, load.change_publishers(|group| group.late("skip")));
    stop(&child, Duration::from_millis(300));
    child.ended().code(4);
    let run = bench.json("out/run.json");
    assert!(count(&run, "dropped") >= 290, "{run:#}");
    assert!(count(&run, "late-by-client") >= 290, "{run:#}");
}
