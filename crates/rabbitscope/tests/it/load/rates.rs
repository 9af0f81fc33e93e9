//! An open loop stays open: it holds its rate without bursts, and a pause of the broker shows.
//!
//! The trace of every message has its send time. Tests share the machine, so that the load generator may get a CPU
//! too rarely to keep the rate without bursts. Such a burst follows a gap; any other burst is a fault. One of a few
//! attempts must have no fault. `make bench-pace` makes no such allowance. `stalls` covers a stopped load generator.

use std::time::Duration;

use rabbitscope_testing::{
    Ends, Workbench, count, latency_figure, own_broker, pause,
    scenario::{Consumers, Publishers, Scenario},
};
use serde_json::Value;

const RATE: u64 = 14_000;
const MILLI: u64 = 1_000_000;

/// Longer than any step of a schedule. Shorter than the 2 ms of messages by which a window must exceed its share to
/// be a burst.
const GAP: u64 = 18 * MILLI / 10;

const ATTEMPTS: u32 = 3;

fn trace(bench: &Workbench) -> Vec<Value> {
    bench.rows("out/trace.jsonl")
}

/// Counts windows of 10 ms, one from each message on, with more than 1.2 times the messages of the rate: those with
/// an excuse, and those without.
fn bursts(sent: &[u64]) -> (usize, usize) {
    let most = usize::try_from(RATE / 100 * 12 / 10).unwrap();
    let (mut excused, mut faults) = (0, 0);
    for (at, from) in sent.iter().enumerate() {
        let end = sent.partition_point(|time| *time < from + 10 * MILLI);
        if end - at <= most {
            continue;
        }
        let before = sent.partition_point(|time| time + 10 * MILLI < *from);
        let is_late_start = before == 0 && sent[0] > GAP;
        let mut pairs = sent[before.saturating_sub(1)..end].windows(2);
        let is_behind_gap = is_late_start || pairs.any(|pair| pair[1] - pair[0] > GAP);
        *(if is_behind_gap { &mut excused } else { &mut faults }) += 1;
    }
    (excused, faults)
}

#[test]
fn bursts_are_found() {
    let even: Vec<u64> = (0..RATE).map(|index| index * 1_000_000_000 / RATE).collect();
    assert_eq!(bursts(&even), (0, 0));
    let steps: Vec<u64> = even.iter().map(|time| time / MILLI * MILLI).collect();
    assert_eq!(bursts(&steps), (0, 0), "a millisecond at once is no burst");
    let early = |time: &u64| if *time < 500 * MILLI { *time } else { time - 5 * MILLI };
    let mut permits: Vec<u64> = even.iter().map(early).collect();
    permits.sort_unstable();
    assert!(bursts(&permits).1 > 10, "70 messages ahead of their time");
    let kept =
        |time: &u64| if (200 * MILLI..300 * MILLI).contains(time) { 300 * MILLI } else { *time };
    let (excused, faults) = bursts(&even.iter().map(kept).collect::<Vec<_>>());
    assert!(excused > 1000 && faults == 0, "{excused} {faults}");
}

#[test]
fn a_rate_is_held_without_bursts() {
    let mut seen = Vec::new();
    for attempt in 0..ATTEMPTS {
        let (excused, faults, sent) = pace(attempt);
        if faults == 0 && excused <= sent / 4 {
            return;
        }
        seen.push(format!("{faults} bursts and {excused} excused ones in {sent} windows"));
    }
    panic!("{seen:#?}");
}

/// Returns the number of bursts with an excuse, of bursts without one, and of messages.
fn pace(attempt: u32) -> (usize, usize, usize) {
    let bench = Workbench::new(&format!("pace-{attempt}"));
    let text = Scenario::with_queue("pace")
        .publishers(Publishers::new("pace").rate(i64::try_from(RATE).unwrap()))
        .consumers(Consumers::new("pace").auto_ack(true))
        .duration("4s")
        .trace_every(1);
    let run = bench.record(&text, 0);
    let [published, scheduled, dropped] =
        ["published", "scheduled", "dropped"].map(|key| count(&run, key));
    assert!((4 * RATE).abs_diff(scheduled) <= 4 * RATE / 100, "{scheduled}");
    // A publisher that gets no CPU at the end of the load cannot send the last messages.
    assert_eq!(published + dropped, scheduled);
    assert!(dropped <= scheduled / 10, "{dropped} of {scheduled}");
    let messages = trace(&bench);
    assert_eq!(messages.len() as u64, published, "every message is followed");
    let time = |message: &Value, key: &str| message[key].as_u64().unwrap();
    for message in &messages {
        let [intended, sent] = ["intended-nanos", "sent-nanos"].map(|key| time(message, key));
        assert!(intended <= sent, "nothing is sent before its time: {message}");
        let delivered = message["delivered-nanos"].as_u64();
        assert!(delivered.is_none_or(|delivered| sent <= delivered), "{message}");
    }
    let deliveries = messages.iter().map(|message| time(message, "deliveries")).sum::<u64>();
    assert_eq!(deliveries, count(&run, "consumed"));
    // At the end, the remaining messages are sent at once.
    let sent = messages.iter().map(|message| time(message, "sent-nanos"));
    let sent: Vec<_> = sent.filter(|time| *time < 4000 * MILLI).collect();
    let (excused, faults) = bursts(&sent);
    (excused, faults, sent.len())
}

/// In 8 seconds, the broker pauses for 2. A quarter of the messages fall due in the pause and wait for 1 s on
/// average. Only a window of them is ever in flight, and latencies from the send time show only that window.
#[test]
fn a_pause_of_the_broker_shows_from_the_schedule() {
    let broker = own_broker();
    let bench = Workbench::new("intended");
    let text = Scenario::with_queue("intended")
        .publishers(Publishers::new("intended").rate(2000).confirm_window(10))
        .consumers(Consumers::new("intended").prefetch(100))
        .duration("8s")
        .trace_every(100)
        .expect("without-service", "< 90%");
    let running = bench.start_run(&broker, text, 2);
    pause(broker.pid, Duration::from_secs(2));
    running.ended().code(0);
    let run = bench.json("out/run.json");
    let of = |name: &str, key: &str| Duration::from_nanos(latency_figure(&run, name, key));
    for name in ["confirm-intended", "end-to-end-intended"] {
        let p99 = of(name, "p99");
        assert!(p99 >= Duration::from_millis(1500), "{name} {p99:?}");
    }
    // A closed loop would show the pause only in the maximum.
    let (p99, max) = (of("confirm", "p99"), of("confirm", "max"));
    assert!(max >= Duration::from_millis(1900), "{max:?}");
    assert!(p99 < Duration::from_secs(1), "{p99:?}");
    assert!(count(&run, "late") > 2000 && count(&run, "scheduled") >= 15_900, "{run:#}");
    let waited = trace(&bench).into_iter().filter(|message| {
        let time = |key: &str| message[key].as_u64().unwrap();
        time("sent-nanos") - time("intended-nanos") > 1_000 * MILLI
    });
    let waited = waited.count();
    assert!(waited >= 15, "{waited} of the followed messages waited for more than 1 s");
}
