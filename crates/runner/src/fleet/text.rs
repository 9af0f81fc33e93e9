//! The workers of a run in plain text.

use std::{collections::BTreeSet, fmt::Write};

use rabbitscope_runs::record::{FleetFacts, RunRecord};
use rabbitscope_text::{counted, escapes, short_time};

/// Describes the number of workers, the skew of their starts and the error of latencies between them. Empty for a run
/// of one process.
pub(crate) fn workers(record: &RunRecord) -> String {
    let Some(fleet) = &record.fleet else { return String::new() };
    let hosts: BTreeSet<_> = fleet.workers.iter().map(|worker| worker.host.as_str()).collect();
    let connections: u64 = fleet.workers.iter().map(|worker| worker.connections).sum();
    let machines = match hosts.len() {
        1 => "one machine".to_owned(),
        count => format!("{count} machines"),
    };
    let mut text = format!(
        "workers   {:>11} on {machines}, {}, started within {}; {}\n",
        fleet.workers.len(),
        counted(connections, "connection"),
        short_time(fleet.start_skew_nanos),
        latency_error(fleet),
    );
    if fleet.resumed {
        text += "the controller was lost, and another continued: the seconds between have no figures of the broker\n";
    }
    for (part, worker) in fleet.workers.iter().enumerate().filter(|(_, one)| one.lost || one.lagged)
    {
        let fate = if worker.lost { "was lost" } else { "sent nothing for a while" };
        let host = escapes::value(&worker.host);
        let _ = writeln!(text, "worker {part} (pid {} on {host}) {fate}", worker.pid);
    }
    text
}

fn latency_error(fleet: &FleetFacts) -> String {
    match fleet.latency_error_nanos {
        0 => "all have one clock".to_owned(),
        error => format!("latencies between them are accurate within {}", short_time(error)),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::FleetWorker;

    use super::*;

    #[test]
    fn the_error_of_the_clocks_is_said() {
        let text = |error, lost| {
            let worker = |host: &str, lost| FleetWorker {
                host: host.to_owned(),
                lost,
                connections: 600,
                ..FleetWorker::default()
            };
            let fleet = FleetFacts {
                latency_error_nanos: error,
                start_skew_nanos: 90_000,
                workers: vec![worker("one", false), worker("two", lost)],
                ..FleetFacts::default()
            };
            workers(&RunRecord { fleet: Some(fleet), ..RunRecord::default() })
        };
        let one = text(0, false);
        assert!(one.contains("2 on 2 machines, 1,200 connections"), "{one}");
        assert!(one.contains("all have one clock") && one.lines().count() == 1, "{one}");
        let two = text(250_000, true);
        assert!(two.contains("accurate within 250 µs"), "{two}");
        assert!(two.contains("worker 1 (pid 0 on two) was lost"), "{two}");
        assert_eq!(workers(&RunRecord::default()), "");
    }
}
