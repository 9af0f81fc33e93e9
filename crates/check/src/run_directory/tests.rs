//! Kept run directories, and records with planted figures.

use std::path::{Path, PathBuf};

use rabbitscope_diagnosis::{Case, Certainty, CheckReport, LimitKind, Source, compare};
use rabbitscope_runs::record::{
    ClusterNode, Counters, Doubt, DoubtKind, RunRecord, SecondRow, Service, ServiceSpan, SpanKind,
};
use serde_json::json;

use super::{broker::broker, load::load, machine::host, measured::Measured, read_run_directory};

fn data(name: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(name)
}

fn read(name: &str) -> Case {
    read_run_directory(&data(name)).unwrap()
}

/// A second of a load with 1,000 messages.
fn second(number: u32) -> SecondRow {
    let counts = Counters {
        published: 1000,
        confirmed: 1000,
        delivered: 1000,
        consumed: 1000,
        settled: 1000,
        scheduled: 1000,
        ..Counters::default()
    };
    SecondRow {
        second: number,
        interval_nanos: 1_000_000_000,
        counts,
        connections: 4,
        queue_messages: Some(0),
        broker_cpu_cores: Some(0.5),
        client_cpu_cores: Some(0.25),
        broker_rss_bytes: Some(200 << 20),
        ..SecondRow::default()
    }
}

/// A warm-up, ten measured seconds, and a drain.
fn series() -> Vec<SecondRow> {
    let mut rows: Vec<SecondRow> = (0..12).map(second).collect();
    rows[0].warming = true;
    rows[11].draining = true;
    rows
}

fn record(consumers: &serde_json::Value) -> RunRecord {
    let mut record = RunRecord {
        scenario: json!({
            "name": "planted",
            "queues": [{ "name": "orders" }],
            "publishers": [{ "queue": "orders", "rate": 1000.0, "confirm-window": 100 }],
            "consumers": consumers,
        }),
        ..RunRecord::default()
    };
    record.machine.cpus = 4;
    record.machine.memory_bytes = 1 << 30;
    record.broker.pid = Some(7);
    record
}

fn one_group() -> serde_json::Value {
    json!([{ "queue": "orders", "count": 2, "prefetch": 10 }])
}

#[test]
fn a_run_of_format_1_is_a_case() {
    let case = read("../rabbitscope/tests/data/run-format-1");
    let broker = case.broker.as_ref().unwrap();
    assert_eq!(broker.otp, "25.2.3");
    assert!(broker.rates.published.unwrap() > 100.0, "{:?}", broker.rates);
    assert_eq!(case.cpu.as_ref().unwrap().samples, 4);
    let remedy = |source| {
        let report = CheckReport::from_case(&case);
        report.unread.iter().find(|part| part.source == source).unwrap().remedy.clone()
    };
    assert_eq!(remedy(Source::Packets), "record them with [packets]");
    assert_eq!(
        remedy(Source::OffCpuProfile),
        "record both with [profile] and event = \"cpu,off-cpu\""
    );
    assert_eq!(remedy(Source::Node), "run `rabbitscope check` on the node during the load");
    let report = CheckReport::from_case(&case);
    assert!(compare(&report, &report).largest.is_empty());
}

#[test]
fn another_directory_is_refused() {
    let refused = format!("{:#}", read_run_directory(&data("src")).unwrap_err());
    assert!(refused.contains("is not a run directory"), "{refused}");
}

#[test]
fn rates_are_those_of_the_measured_seconds() {
    let (record, mut series) = (record(&one_group()), series());
    series[0].counts.published = 77_777;
    let run = Measured::new(&record, &series);
    assert!(run.scenario.is_some());
    let found = broker(&run, None);
    let expected = Some(1000.0);
    assert_eq!((found.rates.confirmed, found.rates.delivered), (expected, expected));
    assert_eq!((found.rates.acknowledged, found.rates.got), (expected, None));
    assert_eq!((found.connections, found.alarms.len()), (Some(4), 0));
}

#[test]
fn automatic_acknowledgements_are_none() {
    let (record, series) = (record(&json!([{ "queue": "orders", "auto-ack": true }])), series());
    let run = Measured::new(&record, &series);
    assert_eq!(broker(&run, None).rates.acknowledged, None);
    assert_eq!(load(&run).consumers, None);
}

#[test]
fn an_alarm_counts_if_it_lasts() {
    let (mut record, mut series) = (record(&one_group()), series());
    record.service = Service {
        spans: vec![ServiceSpan {
            kind: SpanKind::Blocked,
            from_nanos: 0,
            to_nanos: 9_000_000_000,
            reason: "low on memory".to_owned(),
        }],
        ..Service::default()
    };
    assert!(broker(&Measured::new(&record, &series), None).alarms.is_empty());
    for row in &mut series {
        row.counts.alarm_nanos = 900_000_000;
    }
    assert_eq!(broker(&Measured::new(&record, &series), None).alarms, ["low on memory"]);
}

#[test]
fn settings_and_memory_of_a_throwaway_broker() {
    let (record, series) = (record(&one_group()), series());
    let environment = json!({
        "collect_statistics": "fine",
        "collect_statistics_interval": "5000",
        "vm_memory_high_watermark": "0.4",
    });
    let state = json!({
        "before": { "environment": environment }, "after": { "environment": environment }
    });
    let states = serde_json::from_value(state).unwrap();
    let found = broker(&Measured::new(&record, &series), Some(&states));
    assert_eq!(found.settings.statistics_interval_ms, Some(5000));
    assert_eq!(found.settings.other["rabbit.vm_memory_high_watermark"], "0.4");
    assert!((found.memory.unwrap().share() - 200.0 / 1024.0 / 0.4).abs() < 0.01);
}

#[test]
fn the_load_generator_is_a_neighbour() {
    let (mut record, series) = (record(&one_group()), series());
    let found = host(&Measured::new(&record, &series)).unwrap();
    assert!((found.node_cores - 0.5).abs() < 1e-9 && (found.idle_share - 0.8125).abs() < 1e-9);
    assert!(found.neighbours[0].is_client && found.neighbours.len() == 1);
    // The profiled node is the first of two.
    record.duration_nanos = 12_000_000_000;
    let node = |seconds: u64| ClusterNode {
        cpu_nanos: Some(seconds * 1_000_000_000),
        ..ClusterNode::default()
    };
    record.broker.nodes = vec![node(3), node(3)];
    let found = host(&Measured::new(&record, &series)).unwrap();
    assert!((found.node_cores - 0.25).abs() < 1e-9);
    assert_eq!(found.neighbours.len(), 2);
    record.broker.pid = None;
    assert_eq!(host(&Measured::new(&record, &series)), None);
}

#[test]
fn consumers_hold_what_they_did_not_settle() {
    let (record, mut series) = (record(&one_group()), series());
    series[0].counts.settled = 981;
    series[10].queue_messages = Some(700);
    let found = load(&Measured::new(&record, &series)).consumers.unwrap();
    assert_eq!((found.queue.as_str(), found.may_hold, found.ready), ("orders", 20, 700));
    assert!((found.held - 19.0).abs() < 1e-9);
}

#[test]
fn a_schedule_and_its_late_messages() {
    let (record, mut series) = (record(&one_group()), series());
    series[3].counts.late = 100;
    let found = load(&Measured::new(&record, &series));
    assert_eq!((found.scheduled_per_second, found.confirm_window), (Some(1000.0), Some(100)));
    assert!((found.late_share - 0.01).abs() < 1e-9);
}

#[test]
fn doubts_of_the_load_generator_alone_are_obstacles() {
    let (mut record, series) = (record(&one_group()), series());
    let doubt = |kind| Doubt { kind, reason: format!("{kind:?}") };
    record.doubts = vec![doubt(DoubtKind::NotSteady), doubt(DoubtKind::ClientLimited)];
    let run = Measured::new(&record, &series);
    assert_eq!(load(&run).doubts, ["ClientLimited"]);
    let mut case = read("../rabbitscope/tests/data/run-format-1");
    case.subject.duration = std::time::Duration::from_secs(10);
    case.load = Some(load(&run));
    let limit = CheckReport::from_case(&case).limit;
    assert_eq!((limit.kind, limit.certainty), (LimitKind::Unknown, Certainty::Uncertain));
    assert!(limit.sentence.starts_with("cannot tell, because the load generator"));
}

#[test]
fn a_killed_run_without_seconds_is_no_limit() {
    let run = Measured::new(&RunRecord::default(), &[]).rates;
    assert!(run.seconds.abs() < 1e-9);
    let (record, series) = (RunRecord::default(), Vec::new());
    let measured = Measured::new(&record, &series);
    assert_eq!(broker(&measured, None).rates.published, Some(0.0));
    assert_eq!(load(&measured).consumers, None);
}

/// Runs that this program's version 0.1.0 recorded, of eight seconds each. They are never recorded again.
const KEPT: &str = "tests/data";

#[track_caller]
fn check_limit(name: &str, kind: LimitKind, subject: &str) -> CheckReport {
    let report = CheckReport::from_case(&read(&format!("{KEPT}/{name}")));
    let limit = &report.limit;
    assert_eq!((limit.kind, limit.certainty), (kind, Certainty::Likely), "{limit:#?}");
    assert!(limit.subject.contains(subject), "{limit:#?}");
    report
}

#[test]
fn a_run_that_kept_its_schedule_names_no_limit() {
    let report = check_limit("healthy", LimitKind::Nothing, "");
    assert!(report.limit.sentence.contains("messages a second that the run's schedule asks for"));
    assert!(report.figures.values["published.rate"] > 250.0, "{:?}", report.figures.values);
    assert!(report.figures.samples > 0 && report.figures.values.contains_key("cpu-per-published"));
}

#[test]
fn publishers_that_wait_for_each_confirm_are_the_limit_of_a_run() {
    let report = check_limit("one-by-one", LimitKind::Publishers, "");
    assert!(report.figures.values.contains_key("publish-to-confirm.p50"));
}

#[test]
fn slow_consumers_are_the_limit_of_a_run() {
    let _ = check_limit("slow-consumers", LimitKind::Consumers, "orders");
}

#[test]
fn a_run_differs_from_another_load() {
    let of = |name: &str| CheckReport::from_case(&read(&format!("{KEPT}/{name}")));
    let found = compare(&of("healthy"), &of("one-by-one"));
    let named: Vec<&str> = found.largest.iter().map(|one| one.figure.as_str()).collect();
    assert!(named.contains(&"published.rate"), "{found:#?}");
    assert!(found.judgements[0].starts_with("the limit was: nothing limits"), "{found:#?}");
    assert!(found.conditions.iter().any(|reason| reason.contains("CPU samples")), "{found:#?}");
    assert!(found.lines(12).len() <= 12);
}

/// Both are throwaway brokers of different names, on a machine with other work.
#[test]
fn two_runs_of_the_same_load_do_not_differ() {
    let of = |name: &str| CheckReport::from_case(&read(&format!("{KEPT}/{name}")));
    let found = compare(&of("healthy"), &of("healthy-again"));
    assert!(found.compared > 20, "{}", found.compared);
    assert!(found.largest.is_empty() && found.judgements.is_empty(), "{:#?}", found.lines(12));
}
