//! One Erlang process uses a whole core: it can do no more, however many cores there are.

use std::fmt::Write as _;

use super::{Candidate, LimitKind, candidate::percent};
use crate::{
    case::{Case, ErlangProcess, ProcessCpu, Source},
    flow::FlowRoot,
};

/// CPU time of a process, in cores, from which it is the limit.
const FULL: f64 = 0.88;

/// CPU time of a process at the root of flow control, in cores, from which it is the limit. It also loses time between
/// its slices.
const FULL_ROOT: f64 = 0.7;

/// Samples of a process below which nothing is judged.
const MIN_SAMPLES: u64 = 100;

/// Share of the looks in which a process must be busy if its CPU time is unknown.
const BUSY: f64 = 0.97;

/// Share of the time in which others must be blocked for a root to count.
const BLOCKS: f64 = 0.3;

/// Share of the time in which others must wait for a root that is busy without a core of its own.
const BLOCKS_ALWAYS: f64 = 0.9;

/// Share of the looks in which such a root must be busy.
const BUSY_ROOT: f64 = 0.8;

/// Score of such a root. Whatever else explains the rate comes first.
const ROOT: f64 = 0.9;

/// Judges the busiest processes.
pub(super) fn candidates(case: &Case, roots: &[FlowRoot]) -> Vec<Candidate> {
    match &case.cpu {
        Ok(cpu) => {
            let enough = cpu.processes.iter().filter(|process| process.samples >= MIN_SAMPLES);
            enough.take(3).map(|process| from_samples(case, process, roots)).collect()
        }
        Err(_) => from_looks(case, roots),
    }
}

fn from_samples(case: &Case, process: &ProcessCpu, roots: &[FlowRoot]) -> Candidate {
    let subject = name_of(&process.role, &process.name, &process.pid);
    let root = root_of(&process.pid, roots);
    let threshold = if root.is_some() { FULL_ROOT } else { FULL };
    let without_cpu = without_cpu(case, &process.pid);
    // Others may take the CPU for moments. A process that is mostly without a CPU is not at its own limit.
    let used = process.cores + without_cpu.min(process.cores / 2.0);
    let sentence = match root {
        Some(root) => {
            format!("{subject} uses {:.2} of one core, and {}", process.cores, waiting(root))
        }
        None => format!("{subject} uses {:.2} of the one core that it can use", process.cores),
    };
    let mut figure = format!("{:.2} cores from {} samples", process.cores, process.samples);
    if without_cpu >= 0.02 {
        let _ = write!(figure, "; ready without a CPU in {} of the time", percent(without_cpu));
    }
    let mut candidate = Candidate::new(LimitKind::Process, subject, used, threshold, sentence)
        .with(Source::CpuProfile, figure);
    if let Some(busy) = root.and_then(always_busy) {
        candidate = candidate
            .at_least(ROOT)
            .with(Source::Node, format!("busy in {} of the looks", percent(busy)));
    }
    let whole = process.cores.max(f64::MIN_POSITIVE);
    // The loop of a process has all of its time, which says nothing.
    if let Some(function) = process.functions.iter().find(|one| one.cores < 0.9 * whole) {
        let figure = format!("{} of it in {}", percent(function.cores / whole), function.name);
        candidate = candidate.with(Source::CpuProfile, figure);
    }
    if let Some(row) = inside(case, &process.pid) {
        candidate = candidate.with(Source::Node, mailbox(row));
    }
    candidate
}

/// Returns the share of the time in which a process was on a scheduler that had no CPU, 0 to 1.
fn without_cpu(case: &Case, pid: &str) -> f64 {
    let waits = case.waits.as_ref().map_or(&[][..], |waits| &waits.processes);
    waits.iter().find(|row| row.pid == pid).map_or(0.0, |row| row.runnable_share)
}

/// Judges by looks at the processes' states. A busy process may only wait for a scheduler, so this is never certain.
fn from_looks(case: &Case, roots: &[FlowRoot]) -> Vec<Candidate> {
    let Ok(processes) = &case.processes else { return Vec::new() };
    let busy = processes.rows.iter().filter_map(|row| Some((row, row.busy_share()?)));
    let mut busy: Vec<(&ErlangProcess, f64)> = busy.collect();
    busy.sort_by(|one, other| other.1.total_cmp(&one.1));
    let candidate = |(row, share): (&ErlangProcess, f64)| {
        let subject = name_of(&row.role, &row.name, &row.pid);
        let is_root = root_of(&row.pid, roots).is_some();
        let sentence =
            format!("{subject} runs or is ready to run in {} of the looks", percent(share));
        let most = if is_root { 1.0 } else { 0.95 };
        Candidate::new(LimitKind::Process, subject, share, BUSY, sentence)
            .at_most(most)
            .with(Source::Node, format!("busy in {} of {} looks", row.busy, row.looks))
            .with(Source::Node, mailbox(row))
    };
    busy.into_iter().take(3).map(candidate).collect()
}

fn mailbox(row: &ErlangProcess) -> String {
    format!("{:.0} messages in its mailbox on average", row.mailbox)
}

/// Returns the looks at a process.
pub(super) fn inside<'a>(case: &'a Case, pid: &str) -> Option<&'a ErlangProcess> {
    let rows = &case.processes.as_ref().ok()?.rows;
    rows.iter().find(|row| row.pid == pid && row.looks > 0)
}

/// Returns the root of flow control that this process is, if it blocks others for long enough.
fn root_of<'a>(pid: &str, roots: &'a [FlowRoot]) -> Option<&'a FlowRoot> {
    roots.iter().find(|root| root.pid() == Some(pid) && root.share() >= BLOCKS)
}

/// Returns the busy share of a root for which others wait nearly all the time. Between its slices it waits for a scheduler,
/// so that it does not have a core.
fn always_busy(root: &FlowRoot) -> Option<f64> {
    root.busy_share.filter(|busy| *busy >= BUSY_ROOT && root.share() >= BLOCKS_ALWAYS)
}

fn waiting(root: &FlowRoot) -> String {
    let heads = root.chains.len();
    let share = percent(root.share());
    if heads == 1 {
        format!("a chain of processes waits for it up to {share} of the time")
    } else {
        format!("{heads} chains of processes wait for it up to {share} of the time")
    }
}

/// Returns a name with the role: `the queue orders`.
pub(super) fn name_of(role: &str, name: &str, pid: &str) -> String {
    let role = match role {
        "ra_log" | "" => "process",
        "quorum_leader" => "leader of the quorum queue",
        "msg_store" => "message store",
        "stream_writer" => "writer of the stream",
        "reader" => "reader of the connection",
        "writer" => "writer of the connection",
        other => other,
    };
    if name.is_empty() { format!("the {role} {pid}") } else { format!("the {role} {name}") }
}
