//! Rules about processes that are the limit.

use super::{
    cases::change,
    checks::{check, check_healthy, check_unjudged, found, text},
    rows::{by, function, in_flow, process},
};
use crate::{
    case::{Blocker, Case, FlowProcess},
    finding::Severity,
};

fn flow(processes: Vec<FlowProcess>) -> impl Fn(&mut Case) {
    move |case| change(&mut case.flow, |flow| flow.processes.clone_from(&processes))
}

#[test]
fn channel_bound() {
    let chain = |busy| {
        let reader = in_flow("reader", "reader", 10, Some(by("shop")));
        flow(vec![reader, in_flow("channel", "shop", busy, None)])
    };
    let found = check("channel-bound", Severity::Warning, "channel shop", chain(290));
    // The next stage is the queue, with 0.3 cores. The node works 1.9 of 4 cores, which bounds more.
    assert!((found.bound.unwrap().throughput - (4.0 / 1.9 - 1.0)).abs() < 1e-9);
    let found = check("channel-bound", Severity::Warning, "channel shop", |case| {
        chain(290)(case);
        change(&mut case.host, |host| (host.cpus, host.allowed_cpus) = (40, 40));
    });
    assert!((found.bound.unwrap().throughput - (1.0 / 0.3 - 1.0)).abs() < 1e-9);
    check("channel-bound", Severity::Note, "channel shop", chain(180));
    check_healthy("channel-bound", chain(30));
    // The channel waits itself: the queue behind it is the root.
    let reader = in_flow("reader", "reader", 10, Some(by("shop")));
    let channel = in_flow("channel", "shop", 290, Some(by("orders")));
    let both = flow(vec![reader, channel, in_flow("queue", "orders", 290, None)]);
    check_healthy("channel-bound", &both);
    check("queue-bound", Severity::Warning, "orders", &both);
}

#[test]
fn queue_bound() {
    let chain = |busy| {
        let channel = in_flow("channel", "shop", 10, Some(by("orders")));
        flow(vec![channel, in_flow("queue", "orders", busy, None)])
    };
    check("queue-bound", Severity::Warning, "orders", chain(290));
    check("queue-bound", Severity::Note, "orders", chain(180));
    check_healthy("queue-bound", chain(30));
    // Ten looks are too few for a share.
    check_healthy("queue-bound", |case| {
        chain(290)(case);
        change(&mut case.flow, |flow| flow.processes.iter_mut().for_each(|row| row.looks = 10));
    });
}

#[test]
fn store_bound() {
    let chain = |blocked: u64| {
        let mut queue = in_flow("queue", "mails", 10, Some(by("store")));
        queue.blocked_by[0].1 = blocked;
        flow(vec![queue, in_flow("msg_store", "store", 100, None)])
    };
    let found = check("store-bound", Severity::Warning, "mails", chain(240));
    assert!(found.evidence.iter().any(|row| row.figure.contains("work for mails")), "{found:?}");
    assert_eq!(text(&found), "[{rabbit, [{msg_store_credit_disc_bound, {16000, 3200}}]}].");
    check_healthy("store-bound", chain(60));
}

#[test]
fn quorum_soft_limit() {
    let chain = |version: &'static str, waiting: f64| {
        move |case: &mut Case| {
            let blocker = Blocker::Queue("/".to_owned(), "orders".to_owned());
            flow(vec![in_flow("channel", "shop", 10, Some(blocker))])(case);
            change(&mut case.broker, |broker| broker.version = version.to_owned());
            change(&mut case.waits, |waits| waits.processes[0].blocked_share = waiting);
        }
    };
    let found = check("quorum-soft-limit", Severity::Warning, "orders", chain("3.10.8", 0.1));
    assert_eq!(text(&found), "[{rabbit, [{quorum_commands_soft_limit, 256}]}].");
    let found = check("quorum-soft-limit", Severity::Warning, "orders", chain("4.3.0", 0.1));
    assert_eq!(text(&found), "quorum_queue.commands_soft_limit = 256");
    check_healthy("quorum-soft-limit", chain("3.10.8", 0.8));
}

#[test]
fn saturated_process() {
    let busy = |role: &'static str, cores: f64, samples: u64| {
        move |case: &mut Case| {
            let mut row = process(role, "own", cores);
            row.samples = samples;
            change(&mut case.cpu, |cpu| cpu.processes.push(row));
        }
    };
    check("saturated-process", Severity::Warning, "reader own", busy("reader", 0.95, 1_000));
    // The client of a channel has a name of its own.
    check("saturated-process", Severity::Warning, "channel shop (10.0.0.6", |case| {
        change(&mut case.cpu, |cpu| cpu.processes[0].cores = 0.95);
    });
    check("saturated-process", Severity::Warning, "other own", busy("other", 0.95, 1_000));
    check_healthy("saturated-process", busy("reader", 0.8, 1_000));
    check_healthy("saturated-process", busy("reader", 0.95, 20));
    check_unjudged("saturated-process", "sample", |case| {
        change(&mut case.cpu, |cpu| cpu.processes.clear());
    });
}

#[test]
fn routing() {
    let route = |version: &'static str, cores: f64, spent: f64| {
        move |case: &mut Case| {
            let mut row = process("channel", "router", cores);
            row.functions.push(function("db_match_compile", spent));
            change(&mut case.cpu, |cpu| cpu.processes.push(row));
            change(&mut case.broker, |broker| broker.version = version.to_owned());
        }
    };
    let first = check("routing", Severity::Warning, "router", route("3.10.8", 0.96, 0.0912));
    // A channel at 96 % of a core that spends 9.5 % of it in routing gains at most 10.5 %.
    assert!((first.bound.unwrap().throughput - (1.0 / 0.905 - 1.0)).abs() < 1e-9);
    check("routing", Severity::Note, "router", route("3.10.8", 0.5, 0.1));
    let change = |version| {
        let mut case = super::cases::healthy();
        route(version, 0.96, 0.1)(&mut case);
        found("routing", &case)[0].change.clone().unwrap().sentence
    };
    assert!(change("3.10.8").contains("3.11"));
    assert!(change("3.13.1").contains("4.2 or later"));
    assert!(change("4.2.0").starts_with("enable Khepri"));
    check_healthy("routing", route("3.10.8", 0.96, 0.03));
    check_unjudged("routing", "version", route("", 0.96, 0.1));
}
