//! All schedulers of the VM are busy.

use super::{Candidate, LimitKind, candidate::percent, host};
use crate::case::{Case, Source, Vm};

/// Use of the schedulers from which they are the limit.
const FULL: f64 = 0.93;

/// Use from which they are the limit if they are always crowded: [`DEEP`] processes wait for each. Other programs take
/// the rest.
const FULL_AND_DEEP: f64 = 0.8;
const DEEP: f64 = 4.0;
const ALWAYS: f64 = 0.8;

/// Share of the looks in which processes must wait for a scheduler. Without waiting, the use is work that fits.
const CROWDED: f64 = 0.3;

/// Looks below which nothing is judged.
const MIN_LOOKS: u64 = 40;

/// Samples below which nothing is judged.
const MIN_SAMPLES: u64 = 200;

/// Judges the schedulers: by the VM's own account, or without it by their threads.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    match &case.vm {
        Ok(vm) => from_account(vm, host::stopped_cores(case).unwrap_or_default()),
        Err(_) => from_threads(case).into_iter().collect(),
    }
}

/// Judges the account without the time in which something stopped the threads, in cores.
fn from_account(vm: &Vm, stopped: f64) -> Vec<Candidate> {
    let Some(used) = vm.scheduler_use.filter(|_| vm.looks >= MIN_LOOKS) else { return Vec::new() };
    let online = vm.schedulers_online;
    let sentence = busy(online);
    let figure = format!(
        "{} of the schedulers' time is used; {:.1} processes wait for one of {online} on average",
        percent(used),
        vm.run_queue,
    );
    let is_deep = vm.run_queue >= DEEP * online as f64 && vm.crowded_share >= ALWAYS;
    let full = if is_deep { FULL_AND_DEEP } else { FULL };
    let own = used - stopped / online.max(1) as f64;
    let candidate =
        Candidate::new(LimitKind::Schedulers, "", own, full, sentence).with(Source::Node, figure);
    let is_crowded = vm.crowded_share >= CROWDED;
    vec![if is_crowded { candidate } else { candidate.at_most(0.9) }]
}

/// Judges the threads of the schedulers. A saturated node can be too busy to answer. Its threads then run all the time, or
/// are ready and have no CPU; busy waiting is no work. Nobody knows whether processes wait for them.
fn from_threads(case: &Case) -> Option<Candidate> {
    let (cpu, host) = (case.cpu.as_ref().ok()?, case.host.as_ref().ok()?);
    let count = host.schedulers.filter(|count| *count > 0 && cpu.samples >= MIN_SAMPLES)?;
    let threads = cpu.threads.iter().find(|row| row.kind == "scheduler")?;
    let working = (threads.cores - cpu.busy_wait_cores).max(0.0);
    let ready = case.waits.as_ref().map_or(0.0, |waits| waits.runnable_cores);
    // Others may take the CPU for moments. Threads that are mostly without a CPU are not at their own limit.
    let share = (working + ready.min(working / 2.0)) / count as f64;
    let sentence = busy(count);
    let figure = format!(
        "{count} scheduler threads work with {working:.2} cores, and are ready without a CPU for {ready:.2}",
    );
    let candidate = Candidate::new(LimitKind::Schedulers, "", share, FULL, sentence);
    Some(candidate.with(Source::CpuProfile, figure))
}

fn busy(schedulers: u64) -> String {
    match schedulers {
        1 => "the only scheduler is busy".to_owned(),
        count => format!("all {count} schedulers are busy"),
    }
}
