//! Properties of whole reports, over random cases.

use rabbitscope_wire::report::{self as packets, PacketReport, SourceLevel};

use super::CheckReport;
use crate::{
    case::{Amqp, AmqpQueue, Case, Source, Unread},
    costs::Costs,
    differences::compare,
    limit::{Certainty, LimitKind},
    memory::Memory,
    rules::tests::random::Random,
};

/// Number of random cases.
const CASES: u64 = 1_000;

/// A name of 200 columns with a second line, and orders for a terminal.
fn long_name() -> String {
    format!("{}\nlimit     forged\u{1b}[2J\u{202e}", "<script>".repeat(25))
}

/// Returns the report of a random case, compared with another one.
fn compared(random: &mut Random) -> CheckReport {
    let baseline = CheckReport::from_case(&random.case());
    let report = CheckReport::from_case(&random.case());
    CheckReport { differences: Some(compare(&baseline, &report)), ..report }
}

fn times<T: Clone>(rows: &[T], count: usize) -> Vec<T> {
    rows.iter().cycle().take(rows.len() * count).cloned().collect()
}

/// Repeats everything that a report has, under long names.
fn crowded(random: &mut Random) -> CheckReport {
    let mut report = compared(random);
    let name = long_name();
    report.node.clone_from(&name);
    report.rabbitmq.clone_from(&name);
    report.limit.sentence += &name;
    report.limit.runner_up.iter_mut().for_each(|second| second.sentence += &name);
    report.limit.evidence = times(&report.limit.evidence, 10);
    report.limit.evidence.iter_mut().for_each(|row| row.figure += &name);
    report.flow = times(&report.flow, 7);
    let links =
        report.flow.iter_mut().flat_map(|root| &mut root.chains).flat_map(|chain| &mut chain.links);
    links.for_each(|link| link.name.clone_from(&name));
    report.findings = times(&report.findings, 9);
    report.findings.iter_mut().for_each(|finding| finding.sentence += &name);
    report.healthy = vec![name.clone(); 40];
    let unread =
        |number| Unread { reason: format!("{number} {name}"), ..Unread::new(Source::Node) };
    report.unread = (0..12).map(unread).collect();
    let queue = AmqpQueue { name: name.clone(), ..AmqpQueue::default() };
    let (queues, ended) = (vec![queue; 30], Some(name.clone()));
    report.amqp = Some(Amqp { queues, ended, ..Amqp::default() });
    report.costs = Some(Costs::default());
    report.memory = Some(Memory::default());
    let differences = report.differences.get_or_insert_default();
    differences.conditions = vec![name.clone(); 9];
    differences.judgements = vec![name.clone(); 9];
    differences.largest.iter_mut().for_each(|row| row.sentence += &name);
    differences.found += 9;
    report
}

#[track_caller]
fn check(report: &CheckReport) {
    let text = report.to_string();
    let lines: Vec<&str> = text.lines().collect();
    assert!(lines.len() <= 40, "{} lines:\n{text}", lines.len());
    assert!(lines[0].starts_with("limit     "), "{text}");
    assert!(lines[lines.len() - 1].starts_with("checked   "), "{text}");
    assert_eq!(lines.iter().filter(|line| line.starts_with("limit ")).count(), 1, "{text}");
    let is_obeyed = |c: char| c == '\u{202e}' || (c.is_control() && c != '\n');
    assert!(!text.contains(is_obeyed), "{text}");
}

#[test]
fn a_text_has_at_most_forty_lines() {
    let mut random = Random::new(7);
    for _ in 0..CASES {
        check(&compared(&mut random));
        check(&crowded(&mut random));
    }
}

#[test]
fn rows_without_room_are_counted() {
    let mut random = Random::new(8);
    for _ in 0..CASES {
        let report = crowded(&mut random);
        let text = report.to_string();
        let is_counted = |noun: &str| {
            let ends = format!("{noun}s more in the JSON (--json)");
            text.lines().any(|line| line.ends_with(&ends))
        };
        assert!(is_counted("source") && is_counted("difference"), "{text}");
        assert!(report.findings.is_empty() || is_counted("finding"), "{text}");
        assert!(report.limit.evidence.is_empty() || is_counted("figure"), "{text}");
        assert!(report.flow.is_empty() || is_counted("chain"), "{text}");
    }
}

/// A small report shows everything.
#[test]
fn a_small_text_leaves_nothing_out() {
    let mut random = Random::new(9);
    let mut report = CheckReport::from_case(&random.case());
    report.flow.clear();
    report.findings.truncate(2);
    report.unread.truncate(3);
    assert!(!report.to_string().contains("(--json)"), "{report}");
}

/// Removes a part of a case.
type Removal = fn(&mut Case, Unread);

/// The parts that could show another limit.
const REMOVALS: [(&str, Removal); 9] = [
    ("broker", |case, reason| case.broker = Err(reason)),
    ("vm", |case, reason| case.vm = Err(reason)),
    ("queues", |case, reason| case.queues = Err(reason)),
    ("clients", |case, reason| case.clients = Err(reason)),
    ("flow", |case, reason| case.flow = Err(reason)),
    ("cpu", |case, reason| case.cpu = Err(reason)),
    ("waits", |case, reason| case.waits = Err(reason)),
    ("packets", |case, reason| case.packets = Err(reason)),
    ("host", |case, reason| case.host = Err(reason)),
];

/// Checks that no answer about a random case without these parts is certain. An alarm is one whatever else was read.
#[track_caller]
fn check_doubt(random: &mut Random, missing: &[&str]) {
    let mut case = random.case();
    for (name, remove) in REMOVALS {
        if missing.contains(&name) {
            remove(&mut case, Unread::new(Source::Node));
        }
    }
    let limit = CheckReport::from_case(&case).limit;
    let is_alarm = limit.kind == LimitKind::Alarm;
    assert!(is_alarm || limit.certainty != Certainty::Certain, "without {missing:?}: {limit:#?}");
}

#[test]
fn nothing_is_certain_without_the_vm_the_cpu_and_the_machine() {
    let mut random = Random::new(10);
    for _ in 0..CASES {
        check_doubt(&mut random, &["vm", "cpu", "host"]);
        for (name, _) in REMOVALS {
            check_doubt(&mut random, &[name]);
        }
    }
}

/// A user without the cookie and without rights sees the machine and sockets.
#[test]
fn a_stranger_is_told_no_limit_for_certain() {
    let mut random = Random::new(11);
    let inside = ["broker", "vm", "queues", "clients", "flow"];
    for _ in 0..CASES {
        check_doubt(&mut random, &inside);
        let mut case = Case::unread(random.case().subject);
        let seen = random.case();
        (case.host, case.packets) = (seen.host, seen.packets);
        let limit = CheckReport::from_case(&case).limit;
        let answer = (limit.kind, limit.certainty);
        assert_eq!(answer, (LimitKind::Unknown, Certainty::Uncertain), "{limit:#?}");
        assert!(limit.sentence.starts_with("cannot tell, because "), "{limit:#?}");
    }
}

#[test]
fn packets_that_may_not_be_captured_are_listed_with_the_remedy() {
    let mut case = Random::new(12).case();
    let note = "CAP_NET_RAW missing: run it with sudo".to_owned();
    let source = packets::Source { level: SourceLevel::Packets, present: false, note };
    case.packets = Ok(PacketReport { sources: vec![source], ..PacketReport::default() });
    let unread = CheckReport::from_case(&case).unread;
    let found = unread.iter().find(|part| part.source == Source::Packets).unwrap();
    assert_eq!((&*found.reason, &*found.remedy), ("CAP_NET_RAW missing", "run it with sudo"));
}
