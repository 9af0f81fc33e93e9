//! Disturbances of a run in plain text: lateness, time without service, errors.

use std::fmt::Write;

use rabbitscope_analysis::{LoadRates, service_sentences};
use rabbitscope_runs::record::{
    DoubtKind, ErrorCount, LatencySummary, LoadTotals, Loss, RunRecord, Verdict,
};

use rabbitscope_text::{escapes, grouped, grouped_rate};

/// Smaller shares of written messages that are not accepted yet are merely in flight.
const NOTICEABLE: f64 = 0.02;

/// Returns one line per disturbance; empty for an undisturbed run.
pub(super) fn interruptions(record: &RunRecord) -> String {
    let mut text = lateness(&record.load);
    for sentence in service_sentences(record) {
        let _ = writeln!(text, "service   {}", escapes::value(&sentence));
    }
    text + &record.errors.iter().map(error).collect::<String>()
}

/// Describes the end of a run; empty if it completed.
pub(super) fn ending(verdict: &Verdict) -> String {
    let reason = escapes::value(verdict.reason().unwrap_or_default());
    match verdict {
        Verdict::Completed => String::new(),
        Verdict::Aborted { .. } => {
            format!("\nCut short: {reason}. The results until then are kept.\n")
        }
        Verdict::Stopped { .. } => format!("\nStopped early, because {reason}.\n"),
        Verdict::Failed { .. } => format!("\nFAILED: {reason}.\n"),
    }
}

/// Names latencies whose measurements include lower bounds.
pub(super) fn overdue(latencies: &[LatencySummary]) -> String {
    let lines = latencies.iter().filter(|latency| latency.overdue > 0).map(|latency| {
        format!(
            "{}: {} of {} measurements are messages overdue at the end, with their age then\n",
            latency.figures.name,
            grouped(latency.overdue),
            grouped(latency.figures.percentiles.count)
        )
    });
    lines.collect()
}

/// States the rate of writes to the sockets if it noticeably exceeds the rate that the broker accepted.
pub(super) fn written(rates: &LoadRates, record: &RunRecord) -> String {
    let behind = rates.written - rates.published();
    if behind <= NOTICEABLE * rates.written {
        return String::new();
    }
    let (rate, count) = (grouped_rate(rates.written), grouped(record.load.counts.published));
    format!(
        "written   {rate:>11} msg/s  ({:.1} s; {count} written in all): sockets were full for {:.0} % of the time, and \
         {} messages were not accepted when the load ended\n",
        rates.seconds,
        100.0 * record.client.sockets_full_share,
        grouped_rate(behind * rates.seconds),
    )
}

/// States the share of the time in which the broker gave publishers no credit, if it is noticeable.
pub(super) fn without_credit(record: &RunRecord) -> String {
    let share = record.client.without_credit_share;
    if share <= NOTICEABLE {
        return String::new();
    }
    format!(
        "limited by the broker's credit: publishers had messages to send but no credit for {:.0} % of the time\n",
        100.0 * share
    )
}

/// States the reason for an unsteady measured time, unless a doubt states it already.
pub(super) fn unsteady(record: &RunRecord) -> String {
    let is_doubt = record.doubts.iter().any(|doubt| doubt.kind == DoubtKind::NotSteady);
    let found = record.steadiness.as_ref().filter(|found| !found.steady && !is_doubt);
    found.map_or_else(String::new, |found| format!("not steady: {}\n", found.sentence))
}

/// Describes data that was not recorded or measured.
pub(super) fn loss(loss: &Loss) -> String {
    format!(
        "not recorded: {} of {} {} ({})\n",
        grouped(loss.count),
        grouped(loss.of),
        loss.what,
        escapes::value(&loss.meaning)
    )
}

/// Lists the expectations with their results, and the doubts about the run.
pub(super) fn judgement(record: &RunRecord) -> String {
    let mut text = String::new();
    for expectation in &record.expectations {
        let result = if expectation.passed { "as expected" } else { "NOT AS EXPECTED" };
        let measured = expectation.measured.as_deref().unwrap_or("nothing was measured");
        let _ = writeln!(text, "{result}: {} ({measured})", expectation.text);
    }
    for doubt in &record.doubts {
        let kind = match doubt.kind {
            DoubtKind::ClientLimited => "client-limited",
            DoubtKind::NotSteady => "not steady",
            DoubtKind::WorkerLagging => "worker lagging",
            DoubtKind::WorkerLost => "worker lost",
            DoubtKind::FaultFailed => "fault failed",
        };
        let _ = writeln!(text, "NOT VALID, {kind}: {}", escapes::value(&doubt.reason));
    }
    text
}

/// Counts late messages, and separates the client's part from the broker's.
fn lateness(load: &LoadTotals) -> String {
    let count =
        load.counts.late + load.counts.dropped - load.counts.overdue.min(load.counts.dropped);
    if count == 0 {
        return String::new();
    }
    let overdue = match load.counts.overdue {
        0 => String::new(),
        count => format!("; {} of them overdue at the end", grouped(count)),
    };
    let own = load.counts.late_by_client;
    format!(
        "late      {:>11} of {} scheduled messages: {} by the load generator itself, {} by the broker\
         {overdue}\n",
        grouped(count),
        grouped(load.counts.scheduled),
        grouped(own),
        grouped(count.saturating_sub(own)),
    )
}

fn error(error: &ErrorCount) -> String {
    let times = if error.count == 1 {
        "once".to_owned()
    } else {
        format!("{} times", grouped(error.count))
    };
    let line = format!(
        "error     {} {times}, last at {:.1} s: {}",
        error.kind.words(),
        error.last_at_nanos as f64 / 1e9,
        error.last
    );
    format!("{}\n", escapes::value(&line))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::ErrorKind;

    use rabbitscope_runs::record::Counters;

    use super::*;

    #[test]
    fn what_happened_has_a_line() {
        let load = LoadTotals {
            counts: Counters {
                scheduled: 10_000,
                late: 5524,
                dropped: 5520,
                overdue: 5520,
                late_by_client: 3,
                ..Counters::default()
            },
            ..LoadTotals::default()
        };
        let last = "too\u{1b}large".to_owned();
        let kind = ErrorKind::ChannelClosed;
        let errors = vec![ErrorCount { kind, count: 2, last, last_at_nanos: 1_500_000_000 }];
        let record = RunRecord { load, errors, ..RunRecord::default() };
        let text = interruptions(&record);
        let late = "late            5,524 of 10,000 scheduled messages: 3 by the load generator itself, \
                    5,521 by the broker; 5,520 of them overdue at the end";
        assert_eq!(text.lines().next(), Some(late), "{text}");
        assert!(
            text.contains("channel closed by the broker 2 times, last at 1.5 s: too"),
            "{text}"
        );
        assert!(!text.contains('\u{1b}'), "{text}");
        assert_eq!(interruptions(&RunRecord::default()), "");
    }
}
