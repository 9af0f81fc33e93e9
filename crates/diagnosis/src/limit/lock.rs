//! A lock of the VM: threads spin or sleep in it.

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, Source};

/// Share of the schedulers' working time that goes to locks, from which they are the limit.
const LOCKED: f64 = 0.3;

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
    let sentence = format!("threads of the VM wait for locks in {} of their time", percent(share));
    let figure = format!("{:.2} cores spin in locks, {asleep:.2} sleep in them", cpu.lock_cores);
    vec![
        Candidate::new(LimitKind::Lock, "", share, LOCKED, sentence)
            .with(Source::CpuProfile, figure),
    ]
}
