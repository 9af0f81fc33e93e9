//! Callers of locks of the VM.

use std::{cmp::Reverse, collections::HashMap};

use rabbitscope_diagnosis::FunctionCpu;
use rabbitscope_profiles::{Profile, Sample};

/// Number of callers with a row.
const MAX_TAKERS: usize = 10;

/// Returns the callers in the samples that take locks, the largest part first. `cores` converts weights.
pub(super) fn lock_takers(
    profile: &Profile,
    takes_lock: impl Fn(&Sample) -> bool,
    cores: impl Fn(u64) -> f64,
) -> Vec<FunctionCpu> {
    let mut weights: HashMap<String, u64> = HashMap::new();
    for sample in profile.samples.iter().filter(|sample| takes_lock(sample)) {
        if let Some(taker) = taker(profile, sample) {
            *weights.entry(taker).or_default() += sample.weight;
        }
    }
    let mut rows: Vec<(String, u64)> = weights.into_iter().collect();
    rows.sort_unstable_by(|one, other| (Reverse(one.1), &one.0).cmp(&(Reverse(other.1), &other.0)));
    rows.truncate(MAX_TAKERS);
    rows.into_iter().map(|(name, weight)| FunctionCpu { name, cores: cores(weight) }).collect()
}

/// Returns the innermost Erlang function. A function of ETS is named together with its caller, because that one tells the
/// table: `ets:lookup/2 in rabbit_exchange:lookup/1`.
fn taker(profile: &Profile, sample: &Sample) -> Option<String> {
    let frames = sample.stack.iter().rev().map(|entry| profile.frames.get(entry.frame));
    let mut erlang = frames.filter(|frame| frame.kind.is_erlang_function());
    let first = erlang.next()?.name.as_str();
    let caller = first
        .starts_with("ets:")
        .then(|| erlang.map(|frame| frame.name.as_str()).find(|name| !name.starts_with("ets:")));
    Some(match caller.flatten() {
        Some(caller) => format!("{first} in {caller}"),
        None => first.to_owned(),
    })
}

#[cfg(test)]
mod tests {
    use rabbitscope_profiles::read_folded;

    use super::*;

    const STACKS: &str = "\
scheduler;rabbit_channel:handle_method/3;rabbit_exchange:lookup/1;ets:lookup/2;ethr_rwmutex_rlock 60
scheduler;rabbit_channel:handle_method/3;rabbit_exchange:lookup/1;ets:lookup/2;db_get_hash 100
scheduler;writer:write/2;ets:insert/2;ethr_rwmutex_rwlock 30
scheduler;erts_port_task_execute;ethr_mutex_lock 500
scheduler;gen_server:loop/7;ethr_mutex_lock 5";

    #[test]
    fn a_caller_of_ets_is_named() {
        let profile = read_folded(STACKS.as_bytes()).unwrap();
        let takes_lock = |sample: &Sample| {
            let mut frames = sample.stack.iter().map(|entry| profile.frames.get(entry.frame));
            frames.any(|frame| frame.name.starts_with("ethr_"))
        };
        let rows = lock_takers(&profile, takes_lock, |weight| weight as f64);
        let rows: Vec<(&str, f64)> =
            rows.iter().map(|row| (row.name.as_str(), row.cores)).collect();
        let expected = [
            ("ets:lookup/2 in rabbit_exchange:lookup/1", 60.0),
            ("ets:insert/2 in writer:write/2", 30.0),
            ("gen_server:loop/7", 5.0),
        ];
        assert_eq!(rows, expected);
    }
}
