//! Rules about queues and their disk.

use super::{
    cases::change,
    checks::{check, check_healthy},
    rows::{by, in_flow, waiting},
};
use crate::{
    case::{Blocker, Case, ProcessWaits},
    finding::Severity,
};

fn waits(rows: Vec<ProcessWaits>) -> impl Fn(&mut Case) {
    move |case| change(&mut case.waits, |waits| waits.processes.clone_from(&rows))
}

#[test]
fn wal_sync() {
    let sync = |share| waits(vec![waiting("ra_log", "wal", "prim_file:sync_nif/2", share)]);
    let slow = |case: &mut Case| {
        sync(0.7)(case);
        change(&mut case.clients, |clients| clients.channels[1].unconfirmed = 200);
    };
    let found = check("wal-sync", Severity::Warning, "wal", slow);
    assert!(
        found.evidence.iter().any(|row| row.figure.contains("0.27 cores work for orders 0.27"))
    );
    // 0.7 of 0.97 goes away, unless the channel with 0.4 cores is the limit before.
    assert!((found.bound.unwrap().throughput - 1.5).abs() < 1e-9);
    // The log syncs all the time, and confirms are quick.
    let note = check("wal-sync", Severity::Note, "wal", sync(0.7));
    assert!(note.bound.is_none(), "{note:?}");
    // A healthy load syncs often, and nobody waits for more than that.
    check_healthy("wal-sync", sync(0.45));
    let blocked = |case: &mut Case| {
        sync(0.55)(case);
        let blocker = Blocker::Queue("/".to_owned(), "orders".to_owned());
        let channel = in_flow("channel", "shop", 10, Some(blocker));
        change(&mut case.flow, |flow| flow.processes = vec![channel]);
    };
    check("wal-sync", Severity::Warning, "wal", blocked);
    // No confirm waits for the writer of segments.
    let segments = waiting("ra_log", "ra_segment_writer", "prim_file:sync_nif/2", 0.95);
    check_healthy("wal-sync", waits(vec![segments]));
    let mut few = waiting("ra_log", "wal", "prim_file:sync_nif/2", 0.9);
    few.waited_in[0].waits = 3;
    check_healthy("wal-sync", waits(vec![few]));
}

#[test]
fn store_sync() {
    let write = |share| waits(vec![waiting("msg_store", "store", "prim_file:write_nif/2", share)]);
    check("store-sync", Severity::Warning, "store", |case| {
        write(0.85)(case);
        let queue = in_flow("queue", "mails", 10, Some(by("store")));
        change(&mut case.flow, |flow| flow.processes = vec![queue]);
    });
    check("store-sync", Severity::Note, "store", write(0.85));
    check_healthy("store-sync", write(0.3));
    check_healthy("store-sync", waits(vec![waiting("msg_store", "store", "ets:lookup/2", 0.9)]));
}

#[test]
fn unconsumed_queue() {
    let alone = |ready: u64, growth: f64| {
        move |case: &mut Case| {
            change(&mut case.queues, |queues| {
                let queue = &mut queues.rows[1];
                queue.ready = ready;
                queue.ready_growth = growth;
                queue.consumers = 0;
                queue.delivered_per_second = Some(0.0);
            });
        }
    };
    check("unconsumed-queue", Severity::Note, "mails", alone(20_000, 100.0));
    check_healthy("unconsumed-queue", alone(20_000, 0.0));
    check_healthy("unconsumed-queue", alone(5_000, 100.0));
}

#[test]
fn long_quorum_queue() {
    let long = |ready: u64, row: usize| {
        move |case: &mut Case| change(&mut case.queues, |queues| queues.rows[row].ready = ready)
    };
    check("long-quorum-queue", Severity::Note, "orders", long(6_000_000, 0));
    check_healthy("long-quorum-queue", long(4_000_000, 0));
    check_healthy("long-quorum-queue", long(6_000_000, 2));
}
