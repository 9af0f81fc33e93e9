//! The machine: other processes, the hypervisor or a control group take the node's CPU time.

use super::{Candidate, LimitKind, candidate::percent};
use crate::{
    case::{Case, Host, Neighbour, Source},
    flow::FlowRoot,
};

/// Share of the node's time (running or ready) that it waited for a CPU, from which the machine is the limit.
const WAITING_SHARE: f64 = 0.3;

/// Share of waiting from which the machine explains the rate, also where the schedulers sleep for a part of the time.
const STARVED: f64 = 0.6;

/// Use of the schedulers, which counts their waiting for a CPU, below which the node lacks work and not CPU time.
const AWAKE: f64 = 0.8;

/// Share of the looks in which a busy process must block others, so that its node has work although schedulers sleep.
const BLOCKS: f64 = 0.5;

/// Score of a machine that hinders a node whose schedulers sleep: it makes the absence of a limit uncertain.
const HINDERS: f64 = 0.85;

/// Waiting time in cores below which it costs nothing.
const LEAST_WAITING: f64 = 0.25;

/// Duration below which nothing is judged, in seconds.
const MIN_SECONDS: f64 = 3.0;

/// Share of the periods from which throttling is a cause.
const THROTTLED: f64 = 0.1;

/// Share of the machine that the hypervisor takes, from which it is a cause.
const STOLEN: f64 = 0.05;

/// Share of the machine that other processes take, from which they are a cause.
const TAKEN: f64 = 0.25;

/// CPU time of other processes, as a multiple of the node's, from which they have most of it.
const MOST: f64 = 2.0;

/// Idle share of the machine above which other processes do not hinder the node.
const IDLE: f64 = 0.15;

/// Share of the schedulers' work without a CPU and without waiting for one, from which something stops their threads.
const STOPPED: f64 = 0.25;

/// Time of that kind in cores below which it costs nothing.
const LEAST_STOPPED: f64 = 0.3;

/// Share of a full machine that the node itself uses.
const MOST_OF_ALL: f64 = 0.7;

/// Idle share of a full machine.
const FULL: f64 = 0.05;

/// Share of waiting from which a node lacks CPU time on a machine that it fills.
const LACKS: f64 = 0.4;

/// Score of stopped threads, which are named without certainty if nothing explains the rate by itself.
const PERHAPS: f64 = 0.95;

/// Score of a machine that the node fills. Publishers that wait come first: more of them can fill it as well.
const LAST: f64 = 0.9;

/// Judges the machine.
pub(super) fn candidates(case: &Case, roots: &[FlowRoot]) -> Vec<Candidate> {
    let Ok(host) = &case.host else { return Vec::new() };
    if host.seconds < MIN_SECONDS {
        return Vec::new();
    }
    let stopped = stopped(case, host);
    let Some(waiting) = waiting_share(case) else { return stopped.into_iter().collect() };
    let causes = [throttling(host), stealing(host), neighbours(host), affinity(case, host)]
        .into_iter()
        .flatten()
        .map(|cause| {
            let figure = format!("{} of the time in which it had work", percent(waiting));
            cause.with(Source::Host, format!("the node waited for a CPU in {figure}"))
        });
    let most = if lacks_cpu(case, host, waiting, roots) { f64::INFINITY } else { HINDERS };
    causes
        .map(|cause| {
            let share = if cause.share > 0.0 { waiting.max(throttled(host)) } else { 0.0 };
            Candidate { share, score: (share / WAITING_SHARE).min(most), ..cause }
        })
        .chain(full(host, waiting))
        .chain(stopped)
        .collect()
}

/// Returns the time in which the schedulers worked by their own account, and their threads neither had a CPU nor waited for
/// one, in cores. Those in locks of the VM and what the hypervisor took are left out.
pub(super) fn stopped_cores(case: &Case) -> Option<f64> {
    let (vm, host) = (case.vm.as_ref().ok()?, case.host.as_ref().ok()?);
    let used = vm.scheduler_use? * vm.schedulers_online as f64;
    let in_locks = case.waits.as_ref().map_or(0.0, |waits| waits.lock_cores);
    let known = host.node_cores + host.waiting_cores? + in_locks + host.steal_share * cpus(host);
    let stopped = used - known;
    (host.seconds >= MIN_SECONDS && stopped >= LEAST_STOPPED && stopped >= STOPPED * used)
        .then_some(stopped)
}

fn stopped(case: &Case, host: &Host) -> Option<Candidate> {
    let stopped = stopped_cores(case)?;
    let used = stopped + host.node_cores + host.waiting_cores.unwrap_or_default();
    let sentence = "something stops the node's threads while they work: a signal, the freezer of a control group, a \
                    debugger, or memory that comes from the disk"
        .to_owned();
    let figure = format!(
        "the schedulers work with {used:.2} cores by their own account; the node has a CPU for {:.2}, and waits for one for {:.2}",
        host.node_cores,
        host.waiting_cores.unwrap_or_default(),
    );
    let candidate =
        Candidate::new(LimitKind::Host, "stopped threads", stopped / used, 1.0, sentence);
    Some(candidate.with(Source::Host, figure).at_least(PERHAPS))
}

/// A machine whose CPUs are full, mostly of the node's own work.
fn full(host: &Host, waiting: f64) -> Option<Candidate> {
    let cpus = cpus(host);
    let is_full = host.idle_share <= FULL && host.node_cores >= MOST_OF_ALL * cpus;
    (is_full && waiting >= LACKS).then(|| {
        let sentence = "the machine has too few CPUs for the node".to_owned();
        let figure = format!(
            "the node uses {:.2} of {cpus} cores, and waits for a CPU in {} of its work; idle: {}",
            host.node_cores,
            percent(waiting),
            percent(host.idle_share),
        );
        let candidate = Candidate::new(LimitKind::Host, "CPUs", waiting, 1.0, sentence);
        candidate.with(Source::Host, figure).at_least(LAST).at_most(LAST)
    })
}

/// Returns whether more CPU time would make the node faster: it waits most of the time, its control group stops it, its
/// schedulers are hardly asleep, or programs other than clients take the CPU from a process that holds up others.
fn lacks_cpu(case: &Case, host: &Host, waiting: f64, roots: &[FlowRoot]) -> bool {
    let scheduler_use = case.vm.as_ref().ok().and_then(|vm| vm.scheduler_use);
    let is_busy = |root: &FlowRoot| root.busy_share.is_some_and(|busy| busy >= AWAKE);
    let mut holding_up = roots.iter().filter(|root| root.share() >= BLOCKS && is_busy(root));
    waiting >= STARVED
        || throttled(host) >= THROTTLED
        || scheduler_use.is_none_or(|used| used >= AWAKE)
        || (cores_of(host, false) >= TAKEN * cpus(host) && holding_up.next().is_some())
}

/// Returns the share of the node's working time in which it was ready and had no CPU. `None` if it hardly waited.
pub(super) fn waiting_share(case: &Case) -> Option<f64> {
    let host = case.host.as_ref().ok()?;
    let runnable = || Some(case.waits.as_ref().ok()?.runnable_cores);
    let waiting = host.waiting_cores.or_else(runnable)?;
    // This program takes CPU time too, but only while it looks.
    let waiting = (waiting - host.own_cores).max(0.0);
    let all = waiting + host.node_cores;
    (waiting >= LEAST_WAITING).then(|| waiting / all)
}

fn throttled(host: &Host) -> f64 {
    host.throttled_periods.unwrap_or_default()
}

fn throttling(host: &Host) -> Option<Candidate> {
    let share = throttled(host);
    (share >= THROTTLED).then(|| {
        let quota =
            host.quota_cores.map_or_else(String::new, |cores| format!(" of {cores:.2} cores"));
        let sentence = format!("the control group's limit{quota} stops the node");
        Candidate::new(LimitKind::Host, "control group", share, 1.0, sentence).with(
            Source::Host,
            format!("throttled in {} of the control group's periods", percent(share)),
        )
    })
}

fn stealing(host: &Host) -> Option<Candidate> {
    let share = host.steal_share;
    (share >= STOLEN).then(|| {
        let sentence = "the hypervisor gives the machine's CPU time to others".to_owned();
        Candidate::new(LimitKind::Host, "hypervisor", share, 1.0, sentence)
            .with(Source::Host, format!("steal: {} of all CPUs", percent(share)))
    })
}

fn cpus(host: &Host) -> f64 {
    host.cpus.max(1) as f64
}

/// Returns the node's clients on its machine, or the other processes.
fn of(host: &Host, is_client: bool) -> impl Iterator<Item = &Neighbour> {
    host.neighbours.iter().filter(move |other| other.is_client == is_client)
}

fn cores_of(host: &Host, is_client: bool) -> f64 {
    of(host, is_client).map(|other| other.cores).sum()
}

/// Other processes hinder the node only if hardly any CPU is idle.
fn neighbours(host: &Host) -> Option<Candidate> {
    let cpus = cpus(host);
    // Short programs, such as compilers, are gone before the second reading: only the machine's sum has them.
    let busy = cpus * (1.0 - host.idle_share - host.steal_share);
    let (clients, unrelated) = (cores_of(host, true), cores_of(host, false));
    let taken = (clients + unrelated).max(busy - host.node_cores - host.own_cores).min(cpus);
    let first = of(host, clients > unrelated).next()?;
    let lacking = host.waiting_cores.unwrap_or_default() - host.own_cores;
    // More threads can wait than there are CPUs. Then those who have most of the CPU time hinder the node, and programs
    // that the load does not need if half of the lack is theirs.
    let hinders = taken >= lacking
        || taken >= MOST * host.node_cores
        || (unrelated >= TAKEN * cpus && unrelated >= lacking / 2.0);
    (hinders && taken >= TAKEN * cpus && host.idle_share <= IDLE).then(|| {
        let what = if first.is_client { "its clients on this machine" } else { "other processes" };
        let sentence =
            format!("{what} use the CPU time that the node needs, {} first", first.command);
        let figure = format!(
            "others use {taken:.2} of {cpus} cores, {} {:.2}; idle: {}",
            first.label(),
            first.cores,
            percent(host.idle_share),
        );
        Candidate::new(LimitKind::Host, &*first.command, taken / cpus, 1.0, sentence)
            .with(Source::Host, figure)
    })
}

/// A node that may use fewer CPUs than it has schedulers online, and than there are. A VM that is started on few CPUs has a
/// scheduler thread for each of the machine, and as many online as it may use.
fn affinity(case: &Case, host: &Host) -> Option<Candidate> {
    let allowed = host.allowed_cpus;
    let online = case.vm.as_ref().ok().map(|vm| vm.schedulers_online).filter(|online| *online > 0);
    let schedulers = online.or(host.schedulers);
    let wanted = schedulers.map_or(host.cpus, |schedulers| schedulers.min(host.cpus));
    (0 < allowed && allowed < wanted).then(|| {
        let sentence =
            format!("the node may run on {allowed} of {} CPUs only, and needs more", host.cpus);
        let figure = format!(
            "it uses {:.2} of {allowed} cores; idle: {}",
            host.node_cores,
            percent(host.idle_share)
        );
        Candidate::new(LimitKind::Host, "CPU affinity", 1.0, 1.0, sentence)
            .with(Source::Host, figure)
    })
}
