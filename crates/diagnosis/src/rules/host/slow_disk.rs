//! A disk that takes long to write or to flush.

use crate::{
    case::{Case, Disk, Host},
    finding::{Evidence, Severity},
    rules::{
        config::DISK,
        draft::{Advice, Aim, Draft},
        look::{self, Look},
        rule::{Judged, Minimum, Need, NotJudged, Rule},
    },
};

/// Milliseconds of a mean flush or write from which confirms are slow.
const SLOW_MS: f64 = 10.0;
/// Milliseconds from which a busy disk is a warning.
const LONG_MS: f64 = 50.0;
/// Share of the time in which the disk has requests, and in which tasks wait for it, from which it is the limit.
const BUSY: f64 = 0.9;
const WAITING: f64 = 0.3;
/// Fewest writes and flushes in the time.
const REQUESTS: f64 = 50.0;

pub(crate) const RULE: Rule = Rule {
    name: "slow-disk",
    title: "latency of the disk",
    meaning: "the disk with the node's data takes long to write or to flush, and confirms wait for it",
    needs: &[Need::Host],
    minimum: Minimum { seconds: 5, counts: "50 writes or flushes" },
    threshold: "10 ms: note; 50 ms while the disk is busy 90 % and tasks wait 30 % of the time: warning",
    change: "a faster disk",
    source: "etcd documentation, disks (10 ms for a sync); Linux documentation, diskstats",
    find,
};

fn find(case: &Case) -> Judged {
    let host = case.host.as_ref()?;
    let disk = host.data_disk.as_ref();
    let disk = disk.ok_or_else(|| NotJudged::new("the disk of the node's data is unknown"))?;
    let latency = latency(host, disk);
    let is_slow = latency >= SLOW_MS;
    if !is_slow {
        return Ok(Vec::new());
    }
    let is_full = disk.busy_share >= BUSY && host.io_pressure.is_some_and(|share| share >= WAITING);
    let is_limit = is_full && latency >= LONG_MS;
    let severity = if is_limit { Severity::Warning } else { Severity::Note };
    let sentence = format!("{} takes {} for a write or flush", disk.device, look::millis(latency));
    let advice = Advice::new(
        Aim::Settle,
        DISK,
        "put the node's data on a faster disk, or move other writers away from this one",
        "a disk; moving the data",
    );
    let subjects = vec![format!("{} ({})", disk.device, disk.mount)];
    Ok(vec![
        Draft::new(severity, subjects, sentence).all_evidence(figures(host, disk)).advice(advice),
    ])
}

/// Returns the mean duration of a flush or a write in milliseconds, the longer one. 0 after too few.
fn latency(host: &Host, disk: &Disk) -> f64 {
    let enough = |per_second: f64| per_second * host.seconds >= REQUESTS;
    let flush = disk.flush_ms.filter(|_| disk.flushes_per_second.is_some_and(enough));
    let write = disk.write_ms.filter(|_| enough(disk.writes_per_second));
    flush.into_iter().chain(write).fold(0.0, f64::max)
}

fn figures(host: &Host, disk: &Disk) -> Vec<Evidence> {
    let look = Look::host(host);
    let write = disk.write_ms.map(|millis| {
        look.says(format!(
            "{}, {} each",
            look::rate(disk.writes_per_second, "writes"),
            look::millis(millis)
        ))
    });
    let flush = disk.flush_ms.zip(disk.flushes_per_second).map(|(millis, flushes)| {
        look.says(format!("{}, {} each", look::rate(flushes, "flushes"), look::millis(millis)))
    });
    let pressure = host.io_pressure.map(|share| {
        let (busy, waiting) = (look::percent(disk.busy_share), look::percent(share));
        look.says(format!("busy {busy} of the time, tasks wait for disks {waiting}"))
    });
    [write, flush, pressure].into_iter().flatten().collect()
}
