//! Upper bounds of gains, by Amdahl's law.

use super::{look, names};
use crate::{
    case::{Case, ChannelCase, Cpu, ProcessCpu},
    finding::Bound,
};

/// Roles on the way of a message. Each is a stage.
pub(crate) const STAGES: [&str; 9] = [
    "reader",
    "channel",
    "session",
    "queue",
    "quorum_leader",
    "stream_writer",
    "ra_log",
    "msg_store",
    "writer",
];
/// Share of a stage's CPU time from which one process is the whole stage.
const WHOLE_STAGE: f64 = 0.9;
/// CPU time in cores below which a stage is no limit worth naming.
const LEAST_STAGE: f64 = 0.05;

/// A stage that takes over as the limit.
pub(crate) struct Stage {
    name: String,
    busy: f64,
}

/// Returns the busiest stage that is one process, of a role other than that of `own`.
///
/// A stage of several equal processes is no bound: some of them may have room.
pub(crate) fn next_stage(cpu: &Cpu, own: &ProcessCpu) -> Option<Stage> {
    let roles = STAGES.iter().filter(|role| **role != own.role);
    let stages = roles.filter_map(|role| {
        let of_role = || cpu.processes.iter().filter(|process| process.role == **role);
        let sum: f64 = of_role().map(|process| process.cores).sum();
        let busiest = of_role().max_by(|one, other| one.cores.total_cmp(&other.cores))?;
        let is_whole = sum >= LEAST_STAGE && busiest.cores >= WHOLE_STAGE * sum;
        is_whole.then(|| Stage { name: names::process(busiest), busy: busiest.cores.min(1.0) })
    });
    stages.max_by(|one, other| one.busy.total_cmp(&other.busy))
}

/// Returns the bound if a share of the work of a stage goes away, which is busy `busy` of its time.
///
/// The gain is at most `1 / (1 - share * min(1, busy / next)) - 1`, and the next stage allows at most `1 / next - 1`.
pub(crate) fn removal(share: f64, busy: f64, next: Option<&Stage>) -> Option<Bound> {
    let next_busy = next.map_or(0.0, |stage| stage.busy);
    let weight = if next_busy > 0.0 { (busy / next_busy).min(1.0) } else { 1.0 };
    let amdahl = 1.0 / (1.0 - share * weight) - 1.0;
    let words = format!("{} of the stage's time goes away", look::percent(share));
    let cap = next.and_then(|stage| split(Some(stage)));
    match cap {
        Some(cap) if cap.throughput < amdahl => Some(cap),
        _ => (0.0..1.0).contains(&share).then_some(()).and_then(|()| new(amdahl, words)),
    }
}

/// Returns the bound if a saturated process is divided: the next stage takes over, or the CPUs are used up. `None` if both
/// are unknown.
pub(crate) fn division(case: &Case, pid: &str) -> Option<Bound> {
    let cpu = case.cpu.as_ref().ok()?;
    let own = process(cpu, pid)?;
    let bounds = [split(next_stage(cpu, own).as_ref()), room(case, cpu)];
    bounds.into_iter().flatten().min_by(|one, other| one.throughput.total_cmp(&other.throughput))
}

/// Returns the bound that the next stage sets. `None` if it is unknown.
fn split(next: Option<&Stage>) -> Option<Bound> {
    let next = next.filter(|stage| stage.busy > 0.0)?;
    let words =
        format!("{} is busy {} of its time and is next", next.name, look::percent(next.busy));
    new(1.0 / next.busy - 1.0, words)
}

/// Returns the bound that the CPUs set. A message takes as much CPU time in a divided stage as in a whole one.
fn room(case: &Case, cpu: &Cpu) -> Option<Bound> {
    let usable = case.host.as_ref().ok()?.usable_cores();
    let used = cpu.cores - cpu.busy_wait_cores;
    let words = format!("the node works {} of {usable} that it may use", look::cores(used));
    (used > 0.0).then_some(()).and_then(|()| new((usable / used - 1.0).max(0.0), words))
}

/// Roles that serve queues, whoever sends.
const QUEUES: [&str; 4] = ["queue", "quorum_leader", "stream_writer", "msg_store"];
/// Roles that serve clients.
const CLIENTS: [&str; 2] = ["channel", "session"];
/// Share of the node's CPU time from which the processes that carry messages are known well enough.
const LEAST_KEPT: f64 = 0.02;

/// Returns the bound of work beside messages, if all of it goes away: of the CPU time remains that of the processes that
/// carry messages. These are channels with messages, without those in `not`, and, with `with_queues`, processes of queues.
/// `None` if they hardly show.
pub(crate) fn messages_only(case: &Case, not: &[&ChannelCase], with_queues: bool) -> Option<Bound> {
    let cpu = case.cpu.as_ref().ok()?;
    let clients = case.clients.as_ref().map_or(&[][..], |clients| &clients.channels);
    let carries = |process: &ProcessCpu| {
        let channel = clients.iter().find(|channel| channel.pid == process.pid);
        let is_kept = |channel: &ChannelCase| {
            channel.has_messages() && not.iter().all(|other| other.pid != channel.pid)
        };
        let role = process.role.as_str();
        with_queues && QUEUES.contains(&role)
            || CLIENTS.contains(&role) && channel.is_some_and(is_kept)
    };
    let kept = cpu.processes.iter().filter(|process| carries(process));
    let kept: f64 = kept.map(|process| process.cores).sum();
    let used = cpu.cores - cpu.busy_wait_cores;
    let reason =
        format!("processes that carry messages use {} of {}", look::cores(kept), look::cores(used));
    (kept > 0.0 && kept >= LEAST_KEPT * used).then(|| new(used / kept - 1.0, reason)).flatten()
}

/// Returns the bound if `more` equal units do the work of `units`.
pub(crate) fn multiplication(units: u64, more: u64, reason: String) -> Option<Bound> {
    (units > 0).then_some(()).and_then(|()| new(more as f64 / units as f64 - 1.0, reason))
}

/// Returns the bound if time in which a stage does not run goes away; `lost` is its share of all time.
pub(crate) fn recovery(lost: f64, reason: &str) -> Option<Bound> {
    if !(0.0..1.0).contains(&lost) {
        return None;
    }
    new(1.0 / (1.0 - lost) - 1.0, format!("{} of the time is lost: {reason}", look::percent(lost)))
}

/// Creates a bound. `None` if it is not a number.
fn new(throughput: f64, reason: String) -> Option<Bound> {
    (throughput.is_finite() && throughput >= 0.0).then_some(Bound { throughput, reason })
}

/// Returns the row of a process by its pid.
pub(crate) fn process<'a>(cpu: &'a Cpu, pid: &str) -> Option<&'a ProcessCpu> {
    cpu.processes.iter().find(|process| process.pid == pid)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn stage(busy: f64) -> Stage {
        Stage { name: "queue q".to_owned(), busy }
    }

    #[track_caller]
    fn check(bound: Option<Bound>, expected: Option<f64>) {
        match (bound, expected) {
            (None, None) => {}
            (Some(bound), Some(gain)) => {
                assert!((bound.throughput - gain).abs() < 1e-9, "{bound:?}");
            }
            (bound, expected) => panic!("{bound:?} is not {expected:?}"),
        }
    }

    #[test]
    fn a_removed_share_gains_by_amdahl_until_the_next_stage() {
        check(removal(0.095, 0.96, None), Some(1.0 / 0.905 - 1.0));
        check(removal(0.5, 1.0, Some(&stage(0.8))), Some(0.25));
        check(removal(0.5, 0.4, Some(&stage(0.8))), Some(0.25));
        check(removal(0.1, 0.4, Some(&stage(0.8))), Some(1.0 / 0.95 - 1.0));
        check(removal(1.0, 1.0, None), None);
        check(removal(f64::NAN, 1.0, None), None);
    }

    #[test]
    fn a_divided_stage_gains_until_the_next_one() {
        check(split(Some(&stage(0.5))), Some(1.0));
        check(split(Some(&stage(0.0))), None);
        check(split(None), None);
    }

    #[test]
    fn more_units_gain_by_their_number() {
        check(multiplication(1, 4, String::new()), Some(3.0));
        check(multiplication(0, 4, String::new()), None);
        check(multiplication(4, 2, String::new()), None);
    }

    #[test]
    fn recovered_time_is_a_bound() {
        check(recovery(0.2, "it was throttled"), Some(0.25));
        check(recovery(1.0, "it was throttled"), None);
        check(recovery(-0.1, "it was throttled"), None);
    }
}
