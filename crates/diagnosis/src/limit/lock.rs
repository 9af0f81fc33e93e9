//! A lock of the VM: threads spin or sleep in it.

use std::collections::BTreeMap;

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, Source};

/// Share of the schedulers' working time that goes to locks, from which they are the limit. A table whose lock keeps a
/// broker from three quarters of its rate has 0.23 to 0.39, healthy loads have less than 0.15.
const LOCKED: f64 = 0.2;

/// Time in locks, in cores, below which they hold up few.
const LEAST: f64 = 0.15;

/// Score of locks that hold up few.
const FEW: f64 = 0.75;

/// Share of the time in locks from which a caller is named as the subject.
const MOST: f64 = 0.3;

/// Samples below which nothing is judged.
const MIN_SAMPLES: u64 = 200;

/// Judges the locks.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(cpu) = &case.cpu else { return Vec::new() };
    let asleep = case.waits.as_ref().map_or(0.0, |waits| waits.lock_cores);
    let locked = cpu.lock_cores + asleep;
    let working = cpu.cores - cpu.busy_wait_cores + asleep;
    if cpu.samples < MIN_SAMPLES || working <= 0.3 {
        return Vec::new();
    }
    let share = locked / working;
    let taker = taker(case);
    let whose = taker.as_ref().map_or_else(String::new, |(name, cores)| {
        format!(", {} of it in {name}", percent(cores / locked))
    });
    let sentence =
        format!("threads of the VM wait for locks in {} of their time{whose}", percent(share));
    let figure = format!("{:.2} cores spin in locks, {asleep:.2} sleep in them", cpu.lock_cores);
    let subject = taker.filter(|(_, cores)| *cores >= MOST * locked).map(|(name, _)| name);
    let candidate =
        Candidate::new(LimitKind::Lock, subject.unwrap_or_default(), share, LOCKED, sentence)
            .with(Source::CpuProfile, figure);
    vec![if locked < LEAST { candidate.at_most(FEW) } else { candidate }]
}

/// Returns the caller that waits longest for locks, with its time in cores.
fn taker(case: &Case) -> Option<(String, f64)> {
    let spinning = case.cpu.as_ref().map_or(&[][..], |cpu| &cpu.lock_takers);
    let asleep = case.waits.as_ref().map_or(&[][..], |waits| &waits.lock_takers);
    let mut all: BTreeMap<&str, f64> = BTreeMap::new();
    for row in spinning.iter().chain(asleep) {
        *all.entry(&row.name).or_default() += row.cores;
    }
    let first = all.into_iter().max_by(|one, other| one.1.total_cmp(&other.1));
    first.map(|(name, cores)| (name.to_owned(), cores))
}
