//! CPU time of a node's threads by kind.

use std::{
    collections::{BTreeMap, HashMap},
    time::Duration,
};

use rabbitscope_profiles::ThreadKind;

/// The latest reported time of threads other than schedulers, by the node's pid.
#[derive(Debug, Default)]
pub(crate) struct ThreadCpu {
    others: HashMap<u32, Duration>,
}

impl ThreadCpu {
    /// Keeps only recorded nodes, because the kernel may reuse a pid.
    pub(crate) fn retain(&mut self, is_recorded: impl Fn(u32) -> bool) {
        self.others.retain(|&pid, _| is_recorded(pid));
    }

    /// Returns CPU time by kind, for a process that has used `whole`. Ended threads count as `other`. The time of
    /// `other` is the remainder of the process. Process and threads are read at different moments and rounded
    /// differently, so the remainder may decrease. A decreasing counter would look like a restart, so the maximum so
    /// far is returned.
    pub(super) fn by_kind(
        &mut self,
        pid: u32,
        whole: Duration,
        threads: Vec<(String, Duration)>,
    ) -> BTreeMap<&'static str, Duration> {
        let mut kinds: BTreeMap<&'static str, Duration> = BTreeMap::new();
        for (name, cpu) in threads {
            let (kind, _) = ThreadKind::from_name(&name);
            if kind != ThreadKind::Other {
                *kinds.entry(kind.name()).or_default() += cpu;
            }
        }
        let known: Duration = kinds.values().sum();
        let others = self.others.entry(pid).or_default();
        *others = whole.saturating_sub(known).max(*others);
        kinds.insert(ThreadKind::Other.name(), *others);
        kinds
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn kinds_of_threads_add_up_to_the_process() {
        let second = Duration::from_secs(1);
        let names = ["1_scheduler", "2_scheduler", "1_dirty_cpu_sch", "async_1", "beam.smp"];
        let threads = names.map(|name| (name.to_owned(), second)).to_vec();
        let kinds = ThreadCpu::default().by_kind(7, 7 * second, threads);
        assert_eq!((kinds["scheduler"], kinds["other"]), (2 * second, 3 * second));
        assert_eq!(kinds.values().sum::<Duration>(), 7 * second);
    }

    #[test]
    fn no_kind_goes_back_while_schedulers_work_between_two_readings() {
        let (mut cpu, second) = (ThreadCpu::default(), Duration::from_secs(1));
        let mut other = |pid: u32, whole: u32, schedulers: u32| {
            let threads = vec![("1_scheduler".to_owned(), schedulers * second)];
            cpu.by_kind(pid, whole * second, threads)["other"]
        };
        assert_eq!(other(7, 10, 6), 4 * second);
        assert_eq!(other(7, 20, 17), 4 * second, "3 would be a reset");
        assert_eq!(other(7, 30, 25), 5 * second);
        assert_eq!(other(8, 3, 2), second);
        cpu.retain(|pid| pid == 8);
        assert_eq!(cpu.others.len(), 1);
    }
}
