//! The faults of a run in plain text: a line for each, and their common cost.

use std::fmt::Write;

use rabbitscope_runs::record::{ClusterNode, FaultRecord, FaultTimes, NearestRanks, RunRecord};
use rabbitscope_text::{counted, escapes, short_time};

/// Number of faults up to which each has a line. Beyond it, only failed faults have one.
const MAX_LINES: usize = 40;

/// Returns the table of faults; empty for a run without faults.
pub(in crate::run) fn faults_text(record: &RunRecord) -> String {
    if record.faults.is_empty() {
        return String::new();
    }
    let mut text = format!(
        "\n{:<14}{:<8}{:>9}{:>10}{:>10}{:>11}{:>17}{:>9}{:>14}\n",
        "fault",
        "node",
        "at",
        "happened",
        "back",
        "recovered",
        "without service",
        "stalled",
        "longest wait"
    );
    let has_room = record.faults.len() <= MAX_LINES;
    let shown = record.faults.iter().filter(|fault| has_room || fault.failure.is_some());
    for fault in shown {
        text += &line(fault, &record.broker.nodes);
    }
    if !has_room {
        let _ = writeln!(
            text,
            "({} faults; those that went as planned are in run.json)",
            record.faults.len()
        );
    }
    text + "\n" + &record.fault_times.iter().map(times).collect::<String>()
}

fn line(fault: &FaultRecord, nodes: &[ClusterNode]) -> String {
    let since = |from: Option<u64>, to: Option<u64>| match (from, to) {
        (Some(from), Some(to)) => format!("+{}", short_time(to.saturating_sub(from))),
        _ => "–".to_owned(),
    };
    let cost = |cost: fn(&FaultRecord) -> Option<u64>| {
        cost(fault).map_or_else(|| "–".to_owned(), short_time)
    };
    let mut text = format!(
        "{:<14}{:<8}{:>7.1} s{:>10}{:>10}{:>11}{:>17}{:>9}{:>14}",
        fault.kind.as_str(),
        node(&fault.node, nodes),
        fault.begun_nanos.unwrap_or(fault.planned_nanos) as f64 / 1e9,
        since(fault.begun_nanos, fault.happened_nanos),
        since(fault.begun_nanos, fault.undone_nanos),
        since(fault.begun_nanos, fault.outage.and_then(|outage| outage.until_nanos)),
        cost(|fault| Some(fault.outage?.without_service_nanos)),
        cost(|fault| Some(fault.outage?.stalled_nanos)),
        cost(|fault| Some(fault.outage?.longest_wait_nanos)),
    );
    if let Some(failure) = &fault.failure {
        let _ = write!(text, "  FAILED: {}", escapes::value(failure));
    }
    text + "\n"
}

/// Returns the number of a node in the cluster.
fn node(name: &str, nodes: &[ClusterNode]) -> String {
    let place = nodes.iter().position(|node| node.name == name);
    place.map_or_else(|| "–".to_owned(), |place| (place + 1).to_string())
}

fn times(of: &FaultTimes) -> String {
    let kind = of.kind.as_str();
    let mut text = format!("{kind}: {} of {} as planned\n", of.as_planned, of.planned);
    let rows = [
        ("without service", of.without_service),
        ("publishers stalled", of.stalled),
        ("longest wait of a channel", of.longest_wait),
        ("back in service after", of.return_to_service),
    ];
    for (name, NearestRanks { count, p50, p90, p99, max }) in
        rows.into_iter().filter(|row| row.1.count > 0)
    {
        let [p50, p90, p99, max] = [p50, p90, p99, max].map(short_time);
        let _ = writeln!(
            text,
            "  {name:<27}p50 {p50:>8}  p90 {p90:>8}  p99 {p99:>8}  max {max:>8}  ({})",
            counted(count, "fault")
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::{
        record::{BrokerFacts, FaultOutage},
        scenario::FaultKind,
    };

    use super::*;

    #[test]
    fn every_fault_has_a_line_and_every_kind_its_percentiles() {
        let second = 1_000_000_000;
        let killed = FaultRecord {
            kind: FaultKind::Kill,
            node: "b-2@h".to_owned(),
            planned_nanos: 20 * second,
            begun_nanos: Some(20 * second),
            happened_nanos: Some(20 * second + 3_000_000),
            undone_nanos: Some(29 * second),
            outage: Some(FaultOutage { stalled_nanos: second, ..FaultOutage::default() }),
            ..FaultRecord::default()
        };
        let failed =
            FaultRecord { failure: Some("b-2@h did not stop".to_owned()), ..killed.clone() };
        let name = |name: &str| ClusterNode { name: name.to_owned(), ..ClusterNode::default() };
        let broker =
            BrokerFacts { nodes: vec![name("b-1@h"), name("b-2@h")], ..BrokerFacts::default() };
        let stalled = NearestRanks::from_values(vec![second]);
        let times = FaultTimes { planned: 2, as_planned: 1, stalled, ..FaultTimes::default() };
        let record = RunRecord {
            broker,
            faults: vec![killed, failed],
            fault_times: vec![times],
            ..RunRecord::default()
        };
        let text = faults_text(&record);
        assert!(text.contains("kill          2          20.0 s"), "{text}");
        assert!(text.contains("FAILED: b-2@h did not stop"), "{text}");
        assert!(text.contains("kill: 1 of 2 as planned\n  publishers stalled"), "{text}");
        assert_eq!(faults_text(&RunRecord::default()), "");
    }
}
