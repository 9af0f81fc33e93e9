//! All schedulers of the VM are busy.

use super::{Candidate, LimitKind, candidate::percent};
use crate::case::{Case, Source};

/// Use of the schedulers from which they are the limit.
const FULL: f64 = 0.93;

/// Share of the looks in which processes must wait for a scheduler. Without waiting, the use is work that fits.
const CROWDED: f64 = 0.3;

/// Looks below which nothing is judged.
const MIN_LOOKS: u64 = 40;

/// Judges the schedulers.
pub(super) fn candidates(case: &Case) -> Vec<Candidate> {
    let Ok(vm) = &case.vm else { return Vec::new() };
    let Some(used) = vm.scheduler_use.filter(|_| vm.looks >= MIN_LOOKS) else { return Vec::new() };
    let online = vm.schedulers_online;
    let sentence = format!("all {online} schedulers are busy");
    let figure = format!(
        "{} of the schedulers' time is used; {:.1} processes wait for one of {online} on average",
        percent(used),
        vm.run_queue,
    );
    let candidate =
        Candidate::new(LimitKind::Schedulers, "", used, FULL, sentence).with(Source::Node, figure);
    let is_crowded = vm.crowded_share >= CROWDED;
    vec![if is_crowded { candidate } else { candidate.at_most(0.9) }]
}
