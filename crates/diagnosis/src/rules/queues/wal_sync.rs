//! The log of quorum queues, which waits for the disk.

use crate::{
    case::{Blocker, Case, ProcessCpu, ProcessWaits, Waits},
    finding::{Bound, Evidence, Severity},
    rules::{
        attribution, bound,
        config::DISK,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Share of the time in which the log waits for the disk.
const WAITING: f64 = 0.5;
/// Share of the time, work included, from which the log has none left.
const FULL: f64 = 0.9;
/// Share of the looks in which a channel waits for a quorum queue.
const BLOCKED: f64 = 0.3;
/// Mean seconds from publish to confirm that cost a publisher something, if the log is full.
const SLOW_CONFIRM: f64 = 0.1;
/// Fewest confirms in the time for that mean.
const CONFIRMS: f64 = 100.0;
/// Fewest waits.
const WAITS: u64 = 20;

pub(crate) const RULE: Rule = Rule {
    name: "wal-sync",
    title: "disk of quorum queues",
    meaning: "the log of all quorum queues waits for the disk to sync, and confirms wait for it",
    needs: &[Need::Waits],
    minimum: Minimum { seconds: 5, counts: "20 waits" },
    threshold: "half of the time in sync: note; warning if channels wait for a quorum queue in 30 % of the looks, or if the log has less than 10 % of its time left and confirms take 100 ms (a log that syncs all the time is healthy by itself: its batches grow with the load)",
    change: "a faster disk",
    source: "RabbitMQ blog, 2020-04-21, on quorum queues and disks",
    find,
};

fn find(case: &Case) -> Judged {
    let waits = case.waits.as_ref()?;
    // No confirm waits for the writer of segments.
    let logs = waits
        .processes
        .iter()
        .filter(|process| process.role == "ra_log" && !process.name.contains("segment"));
    let waiting = logs.filter_map(|log| Some((log, syncing(log, WAITS)?)));
    let waiting = waiting.filter(|(_, share)| *share >= WAITING);
    Ok(waiting.map(|(log, share)| draft(case, waits, log, share)).collect())
}

/// Returns the share of the time in which a process waited for the disk. `None` after too few waits.
pub(crate) fn syncing(process: &ProcessWaits, least: u64) -> Option<f64> {
    let of_disk = |function: &str| function.starts_with("prim_file:") || function.contains("sync");
    let waited = || process.waited_in.iter().filter(|place| of_disk(&place.function));
    let count: u64 = waited().map(|place| place.waits).fold(0, u64::saturating_add);
    (count >= least).then(|| waited().map(|place| place.share).sum::<f64>().min(1.0))
}

fn draft(case: &Case, waits: &Waits, log: &ProcessWaits, share: f64) -> Draft {
    let cpu = case.cpu.as_ref().ok();
    let own = cpu.and_then(|cpu| bound::process(cpu, &log.pid));
    let used = own.map_or(0.0, |own| own.cores);
    let blocked = waiting_channels(case);
    let is_slow = confirm_seconds(case).is_some_and(|seconds| seconds >= SLOW_CONFIRM);
    let is_limit = blocked.is_ok_and(|share| share >= BLOCKED) || (share + used >= FULL && is_slow);
    let severity = if is_limit { Severity::Warning } else { Severity::Note };
    let effect =
        if is_limit { "confirms and channels wait for it" } else { "each confirm waits for it" };
    let waiting = look::percent(share);
    let sentence =
        format!("the log of quorum queues waits for the disk {waiting} of the time; {effect}");
    let works_for =
        cpu.and_then(|cpu| Some(Look::cpu(cpu).says(attribution::words(case, cpu, &log.pid)?)));
    Draft::new(severity, vec![log.name.clone()], sentence)
        .evidence(Look::waits(waits).says(format!("{waiting} in sync, {} waits", log.waits)))
        .all_evidence(works_for)
        .all_evidence(disk(case))
        .advice(advice())
        .bound(is_limit.then(|| gain(case, own, share, used)).flatten())
}

/// Returns the largest share of the looks in which a channel waited for a quorum queue.
fn waiting_channels(case: &Case) -> Result<f64, NotJudged> {
    let flow = case.flow.as_ref()?;
    let for_queues = flow.processes.iter().filter(|process| process.blocked_share().is_some());
    let shares = for_queues.map(|process| {
        let of_queues =
            process.blocked_by.iter().filter(|(blocker, _)| matches!(blocker, Blocker::Queue(..)));
        let looks: u64 = of_queues.map(|(_, looks)| *looks).fold(0, u64::saturating_add);
        looks as f64 / process.looks.max(1) as f64
    });
    Ok(shares.fold(0.0, f64::max))
}

/// Returns the mean time from publish to confirm in seconds, by Little's law: unconfirmed messages over confirms per
/// second. `None` after too few confirms.
fn confirm_seconds(case: &Case) -> Option<f64> {
    let channels = &case.clients.as_ref().ok()?.channels;
    let confirming = || channels.iter().filter(|channel| channel.is_confirming);
    let confirms: f64 = confirming().filter_map(|channel| channel.confirmed_per_second).sum();
    let unconfirmed: f64 = confirming().map(|channel| channel.unconfirmed as f64).sum();
    let is_enough = confirms * case.subject.duration.as_secs_f64() >= CONFIRMS;
    is_enough.then(|| unconfirmed / confirms)
}

fn gain(case: &Case, own: Option<&ProcessCpu>, share: f64, used: f64) -> Option<Bound> {
    let next = case.cpu.as_ref().ok().zip(own).and_then(|(cpu, own)| bound::next_stage(cpu, own));
    let busy = share + used;
    bound::removal(share / busy, busy, next.as_ref())
}

/// Returns the figures of the disk.
pub(crate) fn disk(case: &Case) -> Option<Evidence> {
    let host = case.host.as_ref().ok()?;
    let disk = host.data_disk.as_ref()?;
    let flush = disk
        .flush_ms
        .map(|flush| format!(", a flush takes {}", look::millis(flush)))
        .unwrap_or_default();
    let busy = look::percent(disk.busy_share);
    Some(Look::host(host).says(format!("{} is busy {busy} of the time{flush}", disk.device)))
}

/// Returns the advice to use a faster disk.
pub(crate) fn advice() -> Advice {
    let sentence = "put the node's data on a disk that syncs faster (local SSD or NVMe with protection against power loss)";
    Advice::new(Aim::Settle, DISK, sentence, "a disk; moving the data")
}
