//! Classic queues and message stores that wait for the disk.

use super::wal_sync::{advice, disk, syncing};
use crate::{
    case::{Blocker, Case, ProcessWaits, Waits},
    finding::Severity,
    rules::{
        attribution, bound,
        draft::Draft,
        look::{self, Look},
        names,
        rule::{Judged, Minimum, Need, Rule},
    },
};

/// Share of the time in which a process waits for the disk.
const WAITING: f64 = 0.5;
/// Share of the time, work included, from which the process has none left.
const FULL: f64 = 0.9;
/// Share of the looks in which another process waits for this one.
const BLOCKED: f64 = 0.3;
/// Fewest waits.
const WAITS: u64 = 20;

pub(crate) const RULE: Rule = Rule {
    name: "store-sync",
    title: "disk of classic queues and streams",
    meaning: "a message store or a queue waits for the disk",
    needs: &[Need::Waits],
    minimum: Minimum { seconds: 5, counts: "20 waits" },
    threshold: "half of the time: note; warning if the process has less than 10 % of its time left and others wait for it in 30 % of the looks",
    change: "a faster disk",
    source: "RabbitMQ blog, 2014-04-14, on flow control; the threshold is that of the log",
    find,
};

fn find(case: &Case) -> Judged {
    let waits = case.waits.as_ref()?;
    let roles = ["msg_store", "queue", "stream_writer"];
    let stores = waits.processes.iter().filter(|process| roles.contains(&process.role.as_str()));
    let waiting = stores.filter_map(|store| Some((store, syncing(store, WAITS)?)));
    let waiting = waiting.filter(|(_, share)| *share >= WAITING);
    Ok(waiting.map(|(store, share)| draft(case, waits, store, share)).collect())
}

fn draft(case: &Case, waits: &Waits, store: &ProcessWaits, share: f64) -> Draft {
    let cpu = case.cpu.as_ref().ok();
    let own = cpu.and_then(|cpu| bound::process(cpu, &store.pid));
    let used = own.map_or(0.0, |own| own.cores);
    let blocked = blocked_by(case, &store.pid);
    let is_limit = share + used >= FULL && blocked >= BLOCKED;
    let severity = if is_limit { Severity::Warning } else { Severity::Note };
    let waiting = look::percent(share);
    let name = own.map_or_else(|| format!("{} {}", store.role, store.name), names::process);
    let works_for =
        cpu.and_then(|cpu| Some(Look::cpu(cpu).says(attribution::words(case, cpu, &store.pid)?)));
    let next = cpu.zip(own).and_then(|(cpu, own)| bound::next_stage(cpu, own));
    let bound = bound::removal(share / (share + used), share + used, next.as_ref());
    Draft::new(
        severity,
        vec![name.clone()],
        format!("{name} waits for the disk {waiting} of the time"),
    )
    .evidence(
        Look::waits(waits).says(format!("{waiting} in file operations, {} waits", store.waits)),
    )
    .all_evidence(works_for)
    .all_evidence(disk(case))
    .advice(advice())
    .bound(bound.filter(|_| is_limit))
}

/// Returns the largest share of the looks in which another process waited for this one.
fn blocked_by(case: &Case, pid: &str) -> f64 {
    let Ok(flow) = &case.flow else { return 0.0 };
    let watched = flow.processes.iter().filter(|process| process.blocked_share().is_some());
    let shares = watched.flat_map(|process| {
        let by_pid = process
            .blocked_by
            .iter()
            .filter(|(blocker, _)| matches!(blocker, Blocker::Process(blocker) if blocker == pid));
        by_pid.map(|(_, looks)| *looks as f64 / process.looks.max(1) as f64)
    });
    shares.fold(0.0, f64::max)
}
