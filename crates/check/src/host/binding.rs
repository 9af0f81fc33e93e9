//! Schedulers that are bound to a CPU each.

use std::collections::BTreeSet;

use rabbitscope_machine::host::ThreadPlace;
use rabbitscope_profiles::ThreadKind;

/// Returns the CPUs to which schedulers are bound. Empty for a process that may use only one CPU: then nothing is bound,
/// but everything is confined.
pub(super) fn bound_cpus(threads: &[ThreadPlace]) -> BTreeSet<u32> {
    if ThreadPlace::allowed(threads).len() <= 1 {
        return BTreeSet::new();
    }
    schedulers(threads).filter_map(|thread| thread.cpus.only()).collect()
}

/// Returns the number of normal schedulers; none if no thread has such a name.
pub(super) fn scheduler_count(threads: &[ThreadPlace]) -> Option<u64> {
    Some(schedulers(threads).count() as u64).filter(|count| *count > 0)
}

fn schedulers(threads: &[ThreadPlace]) -> impl Iterator<Item = &ThreadPlace> {
    let is_scheduler =
        |thread: &&ThreadPlace| ThreadKind::from_name(&thread.name).0 == ThreadKind::Scheduler;
    threads.iter().filter(is_scheduler)
}

/// Returns true if schedulers of another VM are bound to one of these CPUs.
pub(super) fn is_bound_alike(bound: &BTreeSet<u32>, other: &[ThreadPlace]) -> bool {
    !bound.is_disjoint(&bound_cpus(other))
}

#[cfg(test)]
mod tests {
    use rabbitscope_machine::host::CpuList;

    use super::*;

    fn threads(places: &[(&str, &str)]) -> Vec<ThreadPlace> {
        let place = |(name, cpus): &(&str, &str)| ThreadPlace {
            name: (*name).to_owned(),
            cpus: CpuList::parse(cpus).unwrap(),
        };
        places.iter().map(place).collect()
    }

    #[test]
    fn schedulers_of_two_nodes_on_the_same_cpus() {
        let bound = [
            ("beam.smp", "0-1"),
            ("1_scheduler", "0"),
            ("2_scheduler", "1"),
            ("1_dirty_io_sche", "0-1"),
        ];
        let (one, other) = (threads(&bound), threads(&bound));
        assert_eq!((ThreadPlace::allowed(&one).len(), scheduler_count(&one)), (2, Some(2)));
        assert_eq!(scheduler_count(&threads(&[("beam.smp", "0-1")])), None);
        assert_eq!(bound_cpus(&one), BTreeSet::from([0, 1]));
        assert!(is_bound_alike(&bound_cpus(&one), &other));
        let elsewhere =
            threads(&[("beam.smp", "0-3"), ("erts_sched_1", "2"), ("erts_sched_2", "3")]);
        assert!(!is_bound_alike(&bound_cpus(&one), &elsewhere));
    }

    #[test]
    fn free_and_confined_schedulers_are_not_bound() {
        let free = threads(&[("beam.smp", "0-1"), ("1_scheduler", "0-1"), ("2_scheduler", "0-1")]);
        assert_eq!(bound_cpus(&free), BTreeSet::new());
        let confined = threads(&[("beam.smp", "1"), ("1_scheduler", "1")]);
        assert_eq!(bound_cpus(&confined), BTreeSet::new());
        assert!(!is_bound_alike(&bound_cpus(&free), &confined));
    }
}
