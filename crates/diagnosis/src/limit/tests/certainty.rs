//! The certainty of an answer: sources that have seen too little count as unread.

use rabbitscope_wire::report::{
    CaptureReport, Finding, FindingRule, Severity, Source, SourceLevel,
};

use super::cases::{check, found, healthy, process};
use crate::{
    case::{Case, Churn, Turns},
    limit::{Certainty, LimitKind},
};

/// Checks that a change makes both a limit and its absence less certain.
#[track_caller]
fn check_doubt(change: impl Fn(&mut Case)) {
    let mut free = healthy();
    change(&mut free);
    check(&free, LimitKind::Nothing, "", Certainty::Likely);
    let mut busy = healthy();
    busy.cpu.as_mut().unwrap().processes = vec![process("<0.5.0>", "queue", 0.96)];
    check(&busy, LimitKind::Process, "orders", Certainty::Certain);
    change(&mut busy);
    check(&busy, LimitKind::Process, "orders", Certainty::Likely);
}

#[test]
fn packets_that_were_not_captured_are_doubts() {
    for level in [SourceLevel::Packets, SourceLevel::Sockets] {
        check_doubt(|case| {
            let source = Source { level, present: false, note: "CAP_NET_RAW missing".to_owned() };
            case.packets.as_mut().unwrap().sources = vec![source];
        });
    }
    // Sizes of writes decide nothing.
    let mut case = healthy();
    let writes = Source { level: SourceLevel::Writes, present: false, note: String::new() };
    case.packets.as_mut().unwrap().sources = vec![writes];
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn losses_are_doubts() {
    let lose = |dropped| {
        move |case: &mut Case| {
            let capture = CaptureReport { packets: 900, dropped, ..CaptureReport::default() };
            case.packets.as_mut().unwrap().capture = Some(capture);
            case.turns = Some(Turns { seconds: 15.0, published: 15_000, ..Turns::default() });
        }
    };
    check_doubt(lose(Some(300)));
    check_doubt(|case| case.cpu.as_mut().unwrap().lost = 4000);
    check_doubt(|case| case.waits.as_mut().unwrap().lost = 100);
    check_doubt(|case| case.flow.as_mut().unwrap().missed_looks = 400);
    let mut case = healthy();
    lose(Some(9))(&mut case);
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn short_looks_are_doubts() {
    check_doubt(|case| case.cpu.as_mut().unwrap().seconds = 2.0);
    check_doubt(|case| case.waits.as_mut().unwrap().seconds = 2.0);
    check_doubt(|case| case.host.as_mut().unwrap().seconds = 2.0);
    check_doubt(|case| case.flow.as_mut().unwrap().looks = 20);
    check_doubt(|case| case.vm.as_mut().unwrap().looks = 20);
    check_doubt(|case| case.vm.as_mut().unwrap().scheduler_use = None);
}

/// Clients that send when an answer comes are late beside a check that takes their CPU time.
#[test]
fn a_check_that_takes_much_is_not_certain_of_nothing() {
    let mut case = healthy();
    case.host.as_mut().unwrap().own_cores = 0.7;
    check(&case, LimitKind::Nothing, "", Certainty::Certain);
    case.host.as_mut().unwrap().own_cores = 0.9;
    check(&case, LimitKind::Nothing, "", Certainty::Uncertain);
}

#[test]
fn clients_that_connect_or_declare_all_the_time_leave_a_doubt() {
    let with = |churn| {
        let mut case = healthy();
        case.broker.as_mut().unwrap().churn = Some(churn);
        case
    };
    let connecting = Churn { connections_opened: 12.0, channels_opened: 12.0, ..Churn::default() };
    check(&with(connecting), LimitKind::Nothing, "", Certainty::Uncertain);
    let declaring = Churn { queues_declared: 400.0, queues_created: 400.0, ..Churn::default() };
    check(&with(declaring), LimitKind::Nothing, "", Certainty::Uncertain);
    let few = Churn { connections_opened: 2.0, channels_opened: 2.0, ..Churn::default() };
    check(&with(few), LimitKind::Nothing, "", Certainty::Certain);
}

#[test]
fn slow_logins_leave_a_doubt() {
    let mut case = healthy();
    case.packets.as_mut().unwrap().findings = vec![Finding {
        rule: FindingRule::SlowLogin,
        severity: Severity::Warning,
        sentence: String::new(),
        source: SourceLevel::Packets,
        evidence: String::new(),
        fix: String::new(),
        connections: Vec::new(),
        connections_in_all: 3,
        packets: Vec::new(),
    }];
    check(&case, LimitKind::Nothing, "", Certainty::Uncertain);
    assert!(found(&case).sentence.ends_with("a second or more for a step of 3 logins"));
}
