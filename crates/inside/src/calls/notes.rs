//! Notes on a recording: the reason for its end, and missing data. Every result carries them.

use std::time::Duration;

use rabbitscope_erlang::probes::{CallsResult, Counters, Samples, TreeResult};
use rabbitscope_text::{counted, grouped};

/// Notes on a call tree, one sentence each.
pub fn tree_notes(result: &TreeResult, has_entry: bool) -> Vec<String> {
    let TreeResult { calls, calls_cut, calls_on_node, windows, seen, unseen, .. } = result;
    let mut notes = vec![end_note(&result.stopped_by, result.elapsed)];
    if has_entry {
        notes.push(format!(
            "{} recorded and {calls_cut} in part, of {calls_on_node} on the node in this time{}.",
            counted(*calls, "call"),
            percent(calls + calls_cut, *calls_on_node)
        ));
    }
    notes.extend(selection_note(result.processes, result.candidates, "traced"));
    notes.extend(mailbox_note(result.mailbox));
    if *windows > 1 {
        let whose = if has_entry { "calls" } else { "processes" };
        notes.push(format!(
            "Recorded in {windows} stretches with pauses, to spare the node. They cover {:.0} % of the time of the \
             recorded {whose}.",
            share(*seen, *seen + *unseen) * 100.0
        ));
    }
    notes.push(format!(
        "{}. Each costs its process about a microsecond, so functions with very many calls look slower than they are.",
        counted(result.events, "event")
    ));
    let numbers = [
        (result.events_dropped, "events arrived after the end and were ignored"),
        (result.not_understood, "parts of the tree had an unknown format and are missing"),
        (result.unplaced, "calls did not fit into the tree and count for their callers"),
        (
            result.not_followed,
            "calls to other processes were not followed, because those were already followed",
        ),
    ];
    notes.extend(numbers.iter().filter(|(n, _)| *n > 0).map(|(n, what)| format!("{n} {what}.")));
    if !result.gc_traced {
        notes.push(
            "Garbage collections are not shown separately, because the node has another trace session.".to_owned(),
        );
    }
    notes
}

/// Notes on traced calls, one sentence each.
pub fn call_notes(result: &CallsResult) -> Vec<String> {
    let mut notes = vec![end_note(&result.stopped_by, result.elapsed)];
    notes.push(format!(
        "{} shown of {} on the node in this time{}; {} per second before.",
        counted(result.calls, "call"),
        result.calls_on_node,
        percent(result.calls, result.calls_on_node),
        result.calls_per_second
    ));
    if result.narrowed {
        notes.push(format!(
            "The function has very many calls: only {}, chosen at random, {} traced.",
            counted(result.processes, "process"),
            if result.processes == 1 { "was" } else { "were" }
        ));
    }
    if result.calls_dropped > 0 {
        notes.push(format!(
            "{} events arrived after the limit and were ignored.",
            result.calls_dropped
        ));
    }
    notes
}

/// Notes on counted functions, one sentence each.
pub fn counter_notes(counters: &Counters) -> Vec<String> {
    let mut notes = vec![
        end_note(&counters.stopped_by, counters.elapsed),
        format!("{} counted.", counted(counters.processes, "process")),
    ];
    notes.extend(selection_note(counters.processes, counters.candidates, "counted"));
    notes.extend(mailbox_note(counters.mailbox));
    if counters.timed < counters.called {
        notes.push(format!(
            "Of {} functions called on the node just before, the {} most frequent were counted.",
            counters.called, counters.timed
        ));
    }
    notes
}

/// Number of messages up to which a collection of a process is short.
const SHORT_MAILBOX: u64 = 10_000;

/// The collections that the probe itself causes cannot be distinguished from others.
fn mailbox_note(mailbox: u64) -> Option<String> {
    (mailbox > SHORT_MAILBOX).then(|| {
        format!(
            "A recorded process had {} messages in its mailbox, which each garbage collection scans. Starting or \
             stopping the probe may cause a collection, so the probe may have caused part of this time.",
            grouped(mailbox)
        )
    })
}

/// Returns the selection of processes, if there were too many for all.
fn selection_note(processes: u64, candidates: u64, what: &str) -> Option<String> {
    (processes < candidates).then(|| {
        format!(
            "{processes} of {candidates} processes were {what}: the busiest in the quarter of a second before. The \
             others are missing."
        )
    })
}

/// Notes on samples, one sentence each.
pub(super) fn sample_notes(samples: &Samples) -> Vec<String> {
    vec![
        end_note(&samples.stopped_by, samples.elapsed),
        format!(
            "{} rounds over the busiest of {} processes; {} of {} answers came from running or runnable processes.",
            samples.rounds, samples.processes, samples.taken, samples.asked
        ),
        "Sampled from inside: a process answers at the end of its time slice. Samples show only places where Erlang \
         can be interrupted, with at most eight frames, and no native or kernel code."
            .to_owned(),
    ]
}

fn end_note(stopped_by: &str, elapsed: Duration) -> String {
    let reason = match stopped_by {
        "duration" => "the time was over".to_owned(),
        "cancelled" => "it was interrupted".to_owned(),
        "max_calls" | "max_events" => format!("the limit `{stopped_by}` was reached"),
        "max_node_memory_bytes" => {
            "the budget `max_node_memory_bytes`, which protects the node, was used up; the probe caused at least a \
             quarter of the node's growth"
                .to_owned()
        }
        "max_node_growth_bytes" => "the node's memory grew by more than the budget `max_node_growth_bytes`, perhaps \
                                    for other reasons; the probe stopped to protect the node"
            .to_owned(),
        budget => format!("the budget `{budget}`, which protects the node, was used up"),
    };
    format!("Ended after {:.1} s: {reason}.", elapsed.as_secs_f64())
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return String::new();
    }
    let share = part as f64 / whole as f64 * 100.0;
    if share > 0.0 && share < 0.1 {
        " (below 0.1 %)".to_owned()
    } else {
        format!(" ({share:.1} %)")
    }
}

fn share(part: Duration, whole: Duration) -> f64 {
    if whole.is_zero() { 1.0 } else { part.as_secs_f64() / whole.as_secs_f64() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn losses_are_noted() {
        let result = TreeResult {
            stopped_by: "max_events".to_owned(),
            calls: 1,
            calls_on_node: 10_000,
            windows: 2,
            seen: Duration::from_millis(100),
            unseen: Duration::from_millis(300),
            not_followed: 3,
            processes: 64,
            candidates: 1_173,
            mailbox: 200_000,
            ..TreeResult::default()
        };
        let notes = tree_notes(&result, true).join(" ");
        for part in [
            "the limit `max_events` was reached",
            "of 10000 on the node in this time (below 0.1 %)",
            "25 % of the time",
            "3 calls to other processes were not followed",
            "another trace session",
            "64 of 1173 processes were traced",
            "200,000 messages in its mailbox",
        ] {
            assert!(notes.contains(part), "{part} is not in {notes}");
        }
    }

    #[test]
    fn the_reason_of_the_end_is_noted() {
        let check = |stopped_by: &str, part: &str| {
            let notes = end_note(stopped_by, Duration::from_secs(2));
            assert!(notes.starts_with("Ended after 2.0 s: ") && notes.contains(part), "{notes}");
        };
        check("duration", "the time was over");
        check("max_node_memory_bytes", "the probe caused at least a quarter of the node's growth");
        check("max_node_growth_bytes", "perhaps for other reasons");
        check("max_mailbox", "the budget `max_mailbox`, which protects the node, was used up");
    }

    #[test]
    fn shares() {
        assert_eq!(percent(1, 4), " (25.0 %)");
        assert_eq!(percent(0, 0), "");
        assert_eq!(percent(0, 7), " (0.0 %)");
    }
}
