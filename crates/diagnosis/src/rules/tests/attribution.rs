//! CPU time of shared processes by queue.

use super::{
    cases::{change, healthy},
    rows::{consumer, process, queue},
};
use crate::{
    case::{Case, QueueKind},
    rules::{Attribution, attribute},
};

fn of(case: &Case, process: &str) -> Attribution {
    let found = attribute(case).into_iter().find(|shared| shared.process.ends_with(process));
    found.unwrap_or_else(|| panic!("no {process}"))
}

#[track_caller]
fn check(found: &Attribution, expected: &[(&str, f64)], rest: f64) {
    assert_eq!(found.queues.len(), expected.len(), "{found:?}");
    for (share, (queue, cores)) in found.queues.iter().zip(expected) {
        assert!(share.queue == *queue && (share.cores - cores).abs() < 1e-9, "{found:?}");
    }
    assert!((found.rest - rest).abs() < 1e-9, "{found:?}");
}

#[test]
fn a_log_works_for_quorum_queues_by_published_messages() {
    let mut case = healthy();
    change(&mut case.queues, |queues| {
        let mut more = queue("more", QueueKind::Quorum);
        more.published_per_second = Some(2_000.0);
        queues.rows.push(more);
        queues.count = 4;
    });
    check(&of(&case, "wal"), &[("more", 0.18), ("orders", 0.09)], 0.0);
}

#[test]
fn queues_without_a_row_are_the_rest() {
    let mut case = healthy();
    change(&mut case.queues, |queues| queues.count = 1_000);
    change(&mut case.broker, |broker| broker.rates.published = Some(5_000.0));
    // The three rows have 3,000 of 5,000 messages.
    check(&of(&case, "wal"), &[("orders", 0.09)], 0.18);
}

#[test]
fn without_rates_all_is_the_rest() {
    let mut case = healthy();
    change(&mut case.queues, |queues| {
        queues.rows.iter_mut().for_each(|queue| queue.published_per_second = None);
    });
    check(&of(&case, "wal"), &[], 0.27);
}

#[test]
fn a_store_works_for_classic_queues() {
    let mut case = healthy();
    change(&mut case.queues, |queues| queues.rows[1].vhost = "shop".to_owned());
    check(&of(&case, "store"), &[("mails in shop", 0.1)], 0.0);
}

#[test]
fn a_channel_works_for_the_queues_that_it_consumes() {
    let mut case = healthy();
    change(&mut case.clients, |clients| {
        let mut both = consumer("both", "orders");
        both.consumed_queues.push("mails".to_owned());
        both.published_per_second = Some(3_000.0);
        clients.channels.push(both);
    });
    change(&mut case.cpu, |cpu| cpu.processes.push(process("channel", "both", 0.8)));
    // A quarter of its messages are deliveries.
    check(&of(&case, "both"), &[("orders", 0.1), ("mails", 0.1)], 0.6);
    // The publisher consumes nothing.
    check(&of(&case, "channel shop"), &[], 0.4);
}
