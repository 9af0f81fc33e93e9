//! Findings about packets.

use rabbitscope_wire::report::{self, FindingRule, NotJudged, PacketReport, SourceLevel};

use super::cases::{change, healthy};
use crate::{
    case::{CaptureEnd, Case, PeerNode, Source, Unread},
    finding::{Finding, Severity},
    rules::judge,
};

fn found(rule: FindingRule, fix: &str) -> report::Finding {
    report::Finding {
        rule,
        severity: report::Severity::Warning,
        sentence: "a sentence".to_owned(),
        source: SourceLevel::Packets,
        evidence: "12 of 20".to_owned(),
        fix: fix.to_owned(),
        connections: vec!["10.0.0.5:40000 -> 10.0.0.1:5672".to_owned(), "x -> y".to_owned()],
        connections_in_all: 30,
        packets: vec![4, 7],
    }
}

fn judged(findings: Vec<report::Finding>) -> Vec<Finding> {
    let mut case = healthy();
    let not_judged =
        Some(vec![NotJudged { rule: FindingRule::Polling, reason: "none".to_owned() }]);
    let totals = report::Totals { duration_nanos: 9, ..report::Totals::default() };
    case.packets = Ok(PacketReport { findings, not_judged, totals, ..PacketReport::default() });
    judge(&case).findings
}

#[test]
fn a_finding_about_packets_keeps_its_evidence_and_remedy() {
    let findings = judged(vec![found(FindingRule::Amqp10Error, "do this")]);
    let [finding] = &findings[..] else { panic!("{findings:?}") };
    assert_eq!(finding.rule, "packets-amqp10-error");
    assert_eq!(finding.severity, Severity::Warning);
    assert_eq!(
        finding.subjects,
        ["billing (10.0.0.5:40000 -> 10.0.0.1:5672, user app)".to_owned(), "x -> y".to_owned(),]
    );
    assert_eq!(finding.subjects_in_all, 30);
    let evidence = &finding.evidence[0];
    assert_eq!(evidence.figure, "12 of 20 (packets 4, 7)");
    assert_eq!((evidence.source, evidence.lasted_nanos), (Source::Packets, 9));
    assert_eq!(finding.change.as_ref().unwrap().sentence, "do this");
}

/// The other end of a connection between nodes is no client.
#[test]
fn connections_between_nodes_are_left_out() {
    let mut case = healthy();
    let mut finding = found(FindingRule::ZeroWindow, "wait");
    finding.connections = vec!["10.0.0.2:40124 -> 10.0.0.1:25672".to_owned()];
    finding.connections_in_all = 1;
    let judged = |case: &Case, finding: &report::Finding| {
        let report = PacketReport { findings: vec![finding.clone()], ..PacketReport::default() };
        let findings = judge(&Case { packets: Ok(report), ..case.clone() }).findings;
        findings.into_iter().map(|finding| finding.subjects_in_all).collect::<Vec<u64>>()
    };
    assert_eq!(judged(&case, &finding), [1]);
    let peer = PeerNode { tcp_ports: Some((25_672, 40_124)), ..PeerNode::default() };
    case.vm.as_mut().unwrap().peers = vec![peer];
    assert_eq!(judged(&case, &finding), [0_u64; 0]);
    finding.connections.push("10.0.0.5:40000 -> 10.0.0.1:5672".to_owned());
    finding.connections_in_all = 2;
    assert_eq!(judged(&case, &finding), [1]);
}

#[test]
fn remedies_for_different_codes_are_all_given() {
    let closed = |fix| found(FindingRule::ChannelClosed, fix);
    let findings = judged(vec![closed("declare it"), closed("send parts")]);
    assert_eq!(findings.iter().filter(|finding| finding.change.is_some()).count(), 2);
}

#[test]
fn a_prefetch_is_not_raised_and_lowered() {
    let findings = judged(vec![
        found(FindingRule::ZeroWindow, "fewer messages at a time (prefetch)"),
        found(FindingRule::ApplicationLimited, "a larger prefetch, or more consumers"),
    ]);
    let changes = findings.iter().filter(|finding| finding.change.is_some());
    assert_eq!(changes.count(), 1);
    assert!(findings[1].sentence.contains("opposite of prefetch"), "{findings:?}");
}

#[test]
fn rules_about_packets_are_healthy_or_not_judged() {
    let mut case = healthy();
    let before = judge(&case);
    assert!(before.healthy.iter().any(|title| title == "packets (34 rules)"));
    case.packets = Err(Unread { remedy: "run as root".to_owned(), ..Unread::new(Source::Packets) });
    let after = judge(&case);
    assert!(!after.healthy.iter().any(|title| title.starts_with("packets")));
    let unjudged = after.not_judged.iter().find(|row| row.rule == "packets").unwrap();
    assert!(unjudged.reason.ends_with("run as root"), "{unjudged:?}");
}

/// A case with one finding about packets.
fn with(rule: FindingRule) -> Case {
    let report = PacketReport {
        findings: vec![found(rule, "do this")],
        not_judged: Some(Vec::new()),
        ..PacketReport::default()
    };
    Case { packets: Ok(report), ..healthy() }
}

/// A node that stands still for most of a period sends nothing either.
#[test]
fn delayed_acknowledgements_are_not_judged_without_cpu_time() {
    const NAME: &str = "packets-delayed-acknowledgement";
    let mut case = with(FindingRule::DelayedAcknowledgement);
    let planted = judge(&case);
    assert!(planted.findings.iter().any(|finding| finding.rule == NAME));
    assert!(planted.healthy.contains(&"packets (33 rules)".to_owned()), "{planted:?}");
    change(&mut case.host, |host| host.throttled_periods = Some(0.4));
    let throttled = judge(&case);
    assert!(throttled.findings.iter().all(|finding| finding.rule != NAME));
    let unjudged = throttled.not_judged.iter().find(|row| row.rule == NAME).unwrap();
    assert!(unjudged.reason.contains("in 40 % of the periods"), "{unjudged:?}");
    assert!(throttled.healthy.contains(&"packets (33 rules)".to_owned()), "{throttled:?}");
    // Without such waits, the rule does not count as sound.
    change(&mut case.packets, |report| report.findings.clear());
    assert!(judge(&case).healthy.contains(&"packets (33 rules)".to_owned()));
    // Other rules do not depend on the time of a process.
    let mut other = with(FindingRule::ZeroWindow);
    change(&mut other.host, |host| host.throttled_periods = Some(0.4));
    assert!(judge(&other).findings.iter().any(|finding| finding.rule == "packets-zero-window"));
}

#[test]
fn findings_of_a_capture_that_ended_early_say_their_span() {
    let mut case = with(FindingRule::ZeroWindow);
    let end = |seconds| Some(CaptureEnd { seconds, reason: "the ring was full".to_owned() });
    case.capture_end = end(4.25);
    let judgement = judge(&case);
    let finding = judgement.findings.iter().find(|one| one.rule == "packets-zero-window").unwrap();
    let figure = &finding.evidence[0].figure;
    assert!(figure.ends_with("in the first 4.2 s of 15.0 s: the ring was full"), "{figure}");
    let healthy = &judgement.healthy;
    assert!(healthy.contains(&"packets (33 rules, the first 4.2 s of 15.0 s)".to_owned()));
    for seconds in [0.5, f64::NAN] {
        case.capture_end = end(seconds);
        let judgement = judge(&case);
        assert!(judgement.findings.is_empty(), "{judgement:?}");
        assert!(judgement.healthy.iter().all(|title| !title.starts_with("packets")));
        let unjudged = judgement.not_judged.iter().find(|row| row.rule == "packets").unwrap();
        assert!(unjudged.reason.contains("it takes 1 s"), "{unjudged:?}");
        assert!(unjudged.reason.contains("the ring was full"), "{unjudged:?}");
    }
}
