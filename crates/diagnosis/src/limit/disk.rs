//! A disk: a process waits for it most of the time, and is hardly ever idle.

use rabbitscope_text::counted;

use super::{
    Candidate, LimitKind,
    candidate::percent,
    process::{inside, name_of},
};
use crate::case::{Case, ErlangProcess, ProcessWaits, QueueCase, QueueKind, Source, WaitedIn};

/// Share of the time in which a process must wait for a disk.
const WAITING: f64 = 0.5;

/// Share of the looks in which such a process must be busy. One that is idle between its waits could take more work.
const BUSY: f64 = 0.85;

/// Share of the time that suffices if the looks do not tell.
const ALWAYS: f64 = 0.8;

/// Score of a process that waits for a disk but is idle at times.
const IDLE_AT_TIMES: f64 = 0.8;

/// Waits below which a disk is named without certainty, if they take most of the time.
const MIN_WAITS: u64 = 20;

/// Waits below which only those of processes that serve messages are judged, if they take nearly all of the time.
const FEW_WAITS: u64 = 4;

/// Roles of processes that serve messages. Others, such as those of a log, may wait while messages pass.
const SERVING: [&str; 5] = ["queue", "quorum_leader", "stream_writer", "msg_store", "ra_log"];

/// Score that names a disk by few waits, if nothing else explains the rate.
const PERHAPS: f64 = 0.9;

/// Share of the time in which a process that serves messages must be seen waiting, before a backlog is put down to pressure.
const SEEN: f64 = 0.2;

/// Ready messages below which a queue has no backlog.
const MIN_READY: u64 = 100;

/// Duration below which nothing is judged, in seconds.
const MIN_SECONDS: f64 = 3.0;

/// Functions that wait for a disk.
const MODULES: [&str; 4] = ["prim_file:", "file:", "file_handle_cache:", "ra_file"];

/// Judges the processes that wait for a disk.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let mut found: Vec<Candidate> = match &case.waits {
        Ok(waits) if waits.seconds >= MIN_SECONDS => {
            waits.processes.iter().filter_map(|process| candidate(case, process)).collect()
        }
        _ => Vec::new(),
    };
    found.extend(pressed(case));
    found.sort_by(|one, other| other.score.total_cmp(&one.score));
    found.truncate(3);
    found
}

/// A queue that does not answer, or whose messages wait, while tasks wait for a disk. A recording misses a wait that began
/// before it. A queue with messages has answered, so that others may have caused the pressure unless its waits are seen.
fn pressed(case: &Case) -> Option<Candidate> {
    let host = case.host.as_ref().ok().filter(|host| host.seconds >= MIN_SECONDS)?;
    let pressure = host.io_pressure.filter(|pressure| *pressure >= WAITING)?;
    let queues = case.queues.as_ref().ok()?;
    let is_behind = |queue: &&QueueCase| {
        queue.kind != QueueKind::Stream
            && queue.consumers > 0
            && queue.ready >= MIN_READY
            && queue.has_lasting_backlog()
    };
    let waits = case.waits.as_ref().map_or(&[][..], |waits| &waits.processes);
    let is_seen = waits
        .iter()
        .any(|one| serves(one) && on_disk(one).map(|wait| wait.share).sum::<f64>() >= SEEN);
    let behind = queues.rows.iter().find(is_behind).filter(|_| is_seen);
    let (queue, what) = match (queues.silent.first(), behind) {
        (Some(silent), _) => (silent, "does not answer"),
        (None, Some(behind)) => (&behind.name, "has messages that wait"),
        (None, None) => return None,
    };
    let waiting = percent(pressure);
    let subject = format!("the queue {queue}");
    let sentence =
        format!("{subject} {what}, while tasks wait for a disk in {waiting} of the time");
    let candidate = Candidate::new(LimitKind::Disk, subject, pressure, WAITING, sentence);
    let figure = format!("pressure on disks: {waiting} of the time");
    Some(candidate.with(Source::Host, figure).at_most(PERHAPS))
}

fn serves(process: &ProcessWaits) -> bool {
    SERVING.contains(&process.role.as_str())
}

/// Returns the waits of a process in functions of files.
fn on_disk(process: &ProcessWaits) -> impl Iterator<Item = &WaitedIn> {
    let is_file = |function: &str| MODULES.iter().any(|module| function.starts_with(module));
    process.waited_in.iter().filter(move |wait| is_file(&wait.function))
}

fn candidate(case: &Case, process: &ProcessWaits) -> Option<Candidate> {
    let share: f64 = on_disk(process).map(|wait| wait.share).sum();
    let count = on_disk(process).map(|wait| wait.waits).fold(0, u64::saturating_add);
    let first = on_disk(process).max_by(|one, other| one.share.total_cmp(&other.share))?;
    let least = match count {
        0..FEW_WAITS if serves(process) => ALWAYS,
        0..FEW_WAITS => return None,
        FEW_WAITS..MIN_WAITS => WAITING,
        MIN_WAITS.. => 0.0,
    };
    if share < least {
        return None;
    }
    let subject = name_of(&process.role, &process.name, &process.pid);
    let action = if first.function.contains("sync") { "fsync" } else { "the disk" };
    let sentence = format!("{subject} waits for {action} in {} of the time", percent(share));
    let seconds = case.waits.as_ref().map_or(1.0, |waits| waits.seconds);
    let mean_ms = share * seconds * 1e3 / count as f64;
    let waits = counted(count, "wait");
    let figure = format!("{waits} in {}, {mean_ms:.1} ms each", first.function);
    let mut candidate = Candidate::new(LimitKind::Disk, subject, share, WAITING, sentence)
        .with(Source::OffCpuProfile, figure);
    let busy = inside(case, &process.pid).and_then(ErlangProcess::busy_share);
    if let Some(busy) = busy {
        candidate = candidate.with(Source::Node, format!("busy in {} of the looks", percent(busy)));
    }
    if count < MIN_WAITS {
        candidate = candidate.at_most(PERHAPS);
    }
    if busy.map_or(share < ALWAYS, |busy| busy < BUSY) {
        candidate = candidate.at_most(IDLE_AT_TIMES);
    }
    if let Some(disk) = case.host.as_ref().ok().and_then(|host| host.data_disk.as_ref()) {
        let writes =
            disk.write_ms.map_or_else(String::new, |ms| format!(", a write takes {ms:.1} ms"));
        let flushes = disk.flush_ms.map_or_else(String::new, |ms| format!(", a flush {ms:.1} ms"));
        let busy = percent(disk.busy_share);
        let figure = format!("{} is busy in {busy} of the time{writes}{flushes}", disk.device);
        candidate = candidate.with(Source::Host, figure);
    }
    Some(candidate)
}
