//! Latencies of a run, by group and by queue, as tables of text.

use std::fmt::{Display, Write};

use rabbitscope_analysis::end_in_words;
use rabbitscope_runs::record::{
    ExpectedLatency, Latency, LatencyBreakdown, LatencyFigures, LatencySummary, Percentiles,
    RunRecord,
};

use rabbitscope_text::escapes;
use rabbitscope_text::grouped;

/// Number of rows in a table; `run.json` has all of them.
const MAX_ROWS: usize = 20;

/// Returns the table of all latencies of a run.
pub(super) fn latency_table(latencies: &[LatencySummary]) -> String {
    if latencies.is_empty() {
        return String::new();
    }
    let width = latencies.iter().map(|row| row.figures.name.len() + 2).max().unwrap_or(0).max(12);
    let mut text = format!("\n{:<width$}", "latency") + &cells(&Percentiles::TITLES);
    for row in latencies.iter().map(|latency| &latency.figures) {
        let _ = write!(text, "{:<width$}{}", row.name, cells(&row.percentiles.cells()));
    }
    text
}

/// Returns the end of a line: times, then the number of measurements.
fn cells(cells: &[impl Display]) -> String {
    let Some((count, times)) = cells.split_last() else { return String::new() };
    let mut text = String::new();
    for time in times {
        let _ = write!(text, "{time:>10}");
    }
    let _ = writeln!(text, "{count:>14}");
    text
}

/// Describes where the end-to-end latencies end, and counts delivered messages that were never processed.
pub(super) fn ends(record: &RunRecord) -> String {
    let has = |latency| record.latency(latency).is_some();
    let counts = &record.load.counts;
    let Some(end) =
        end_in_words(record, ExpectedLatency::EndToEnd).filter(|_| has(Latency::EndToEnd))
    else {
        return String::new();
    };
    let mut text = match (has(Latency::Processed), has(Latency::Settled)) {
        (true, _) => {
            "end-to-end is until delivered; limits on it mean until processed\n".to_owned()
        }
        _ if end == "until delivered" => String::new(),
        (false, true) => {
            "processed is the same as end-to-end: consumers start messages when they read them\n".to_owned()
        }
        (false, false) => {
            "processed and settled are the same as end-to-end: consumers start messages when they read them\n"
                .to_owned()
        }
    };
    let waiting = counts.delivered.saturating_sub(counts.consumed);
    if waiting > 0 {
        let (waiting, all) = (grouped(waiting), grouped(counts.delivered));
        let _ = writeln!(text, "{waiting} of {all} messages delivered were never processed");
    }
    text
}

/// Returns latencies per group (where several groups contribute) and per queue.
pub(super) fn breakdown(record: &RunRecord) -> String {
    let LatencyBreakdown { groups, queues, left_out } = &record.breakdown;
    let is_shared = |latency: &LatencyFigures| {
        groups.iter().filter(|row| row.latencies.iter().any(|one| one.name == latency.name)).count()
            > 1
    };
    let by_group = groups.iter().flat_map(|row| {
        let shared = row.latencies.iter().filter(|latency| is_shared(latency));
        shared.map(|latency| (row.group.as_str(), latency))
    });
    let by_queue = queues
        .iter()
        .flat_map(|row| row.latencies.iter().map(|latency| (row.queue.as_str(), latency)));
    let mut text = table("by group", &by_group.collect::<Vec<_>>());
    text += &table("by queue", &by_queue.collect::<Vec<_>>());
    if *left_out > 0 {
        let _ = writeln!(text, "{left_out} groups and queues more are in the totals only");
    }
    text
}

fn table(title: &str, rows: &[(&str, &LatencyFigures)]) -> String {
    if rows.is_empty() {
        return String::new();
    }
    let names: Vec<_> = rows.iter().take(MAX_ROWS).map(|(name, _)| escapes::value(name)).collect();
    let widest = |lengths: &mut dyn Iterator<Item = usize>| lengths.max().unwrap_or(0) + 2;
    let width = widest(&mut names.iter().map(|name| name.chars().count()).chain([title.len()]));
    let second = widest(&mut rows.iter().map(|(_, row)| row.name.len()));
    let [p50, _, p99, p999, max, count] = Percentiles::TITLES;
    let titles = cells(&[p50, p99, p999, max, count]);
    let mut text = format!("\n{title:<width$}{:<second$}{titles}", "");
    for (name, (_, row)) in names.iter().zip(rows) {
        let [p50, _, p99, p999, max, count] = row.percentiles.cells();
        let figures = cells(&[p50, p99, p999, max, count]);
        let _ = write!(text, "{name:<width$}{:<second$}{figures}", row.name);
    }
    if rows.len() > MAX_ROWS {
        let _ = writeln!(text, "{} more are in run.json", rows.len() - MAX_ROWS);
    }
    text
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{GroupLatencies, QueueLatencies};

    use super::*;

    fn latencies(names: &[&str]) -> Vec<LatencyFigures> {
        let figures = |name: &&str| LatencyFigures {
            name: (*name).to_owned(),
            percentiles: Percentiles { count: 12_345, p99: 2_000_000, ..Percentiles::default() },
            ..LatencyFigures::default()
        };
        names.iter().map(figures).collect()
    }

    fn text(groups: &[&[&str]], queues: usize) -> String {
        let groups = groups.iter().enumerate().map(|(at, names)| GroupLatencies {
            kind: "publishers".to_owned(),
            group: format!("group-{at}"),
            latencies: latencies(names),
        });
        let queues = (0..queues).map(|number| QueueLatencies {
            queue: format!("q\u{1b}-{number}"),
            latencies: latencies(&["end-to-end"]),
        });
        let breakdown =
            LatencyBreakdown { groups: groups.collect(), queues: queues.collect(), left_out: 0 };
        super::breakdown(&RunRecord { breakdown, ..RunRecord::default() })
    }

    #[test]
    fn only_what_several_groups_measured_is_told_apart() {
        assert_eq!(text(&[&["confirm"], &["end-to-end"]], 0), "");
        let two = text(&[&["confirm", "client-delay"], &["confirm"], &["end-to-end"]], 0);
        assert!(two.contains("\nby group") && two.contains("group-1   confirm"), "{two}");
        assert!(!two.contains("client-delay") && !two.contains("group-2"), "{two}");
        assert!(two.contains("12,345") && two.contains("2.00 ms"), "{two}");
    }

    #[test]
    fn many_queues_are_not_all_printed() {
        let many = text(&[], 25);
        assert_eq!(many.lines().count(), 1 + 1 + MAX_ROWS + 1, "{many}");
        assert!(many.ends_with("5 more are in run.json\n") && !many.contains('\u{1b}'), "{many}");
    }
}
