//! Roots with the processes that wait for them directly, without the chains that end there.

use super::blocked::is_blocked;
use crate::case::{Blocker, Flow, FlowProcess};

/// A process or queue that blocks others and is not blocked itself.
#[derive(Debug)]
pub(crate) struct DirectRoot<'a> {
    pub(crate) blocker: &'a Blocker,
    /// The root's own row. `None` for queues that are not one process.
    pub(crate) process: Option<&'a FlowProcess>,
    /// The blocked processes, each with the share of the looks in which it waits for this root, the most blocked first.
    pub(crate) blocked: Vec<(&'a FlowProcess, f64)>,
}

impl DirectRoot<'_> {
    /// Returns the share of the looks in which the most blocked process waits.
    pub(crate) fn worst(&self) -> f64 {
        self.blocked.first().map_or(0.0, |(_, share)| *share)
    }
}

/// Returns the roots for which a process waits in at least `least` of the looks, the worst first. A blocker with too few
/// looks may be blocked itself, and is left out.
pub(crate) fn direct_roots(flow: &Flow, least: f64) -> Vec<DirectRoot<'_>> {
    let mut roots: Vec<DirectRoot<'_>> = Vec::new();
    for process in flow.processes.iter().filter(|process| is_blocked(process) == Some(true)) {
        for (blocker, looks) in &process.blocked_by {
            let share = *looks as f64 / process.looks.max(1) as f64;
            let own = row(flow, blocker);
            if share < least || own.is_some_and(|own| is_blocked(own) != Some(false)) {
                continue;
            }
            match roots.iter_mut().find(|root| root.blocker == blocker) {
                Some(root) => root.blocked.push((process, share)),
                None => {
                    roots.push(DirectRoot {
                        blocker,
                        process: own,
                        blocked: vec![(process, share)],
                    });
                }
            }
        }
    }
    for root in &mut roots {
        root.blocked.sort_by(|one, other| other.1.total_cmp(&one.1));
    }
    roots.sort_by(|one, other| other.worst().total_cmp(&one.worst()));
    roots
}

fn row<'a>(flow: &'a Flow, blocker: &Blocker) -> Option<&'a FlowProcess> {
    let Blocker::Process(pid) = blocker else { return None };
    flow.processes.iter().find(|process| process.pid == *pid)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::flow::roots;

    fn process(pid: &str, blocked: u64, by: &[(&str, u64)]) -> FlowProcess {
        let by = by.iter().map(|&(pid, looks)| (Blocker::Process(pid.to_owned()), looks));
        FlowProcess {
            pid: pid.to_owned(),
            looks: 100,
            blocked,
            blocked_by: by.collect(),
            ..FlowProcess::default()
        }
    }

    fn flow(processes: &[FlowProcess]) -> Flow {
        Flow { processes: processes.to_vec(), ..Flow::default() }
    }

    fn pids(flow: &Flow) -> Vec<&str> {
        let roots = direct_roots(flow, 0.3);
        roots.iter().filter_map(|root| root.process).map(|own| own.pid.as_str()).collect()
    }

    /// A queue that its store blocks now and then is no root for either of both searches.
    #[test]
    fn both_searches_agree_on_a_blocker_that_waits_itself() {
        let of_queue = |blocked| {
            flow(&[
                process("channel", 80, &[("queue", 80)]),
                process("queue", blocked, &[("store", blocked)]),
                process("store", 0, &[]),
            ])
        };
        let chains = |flow: &Flow| {
            let found = roots(&flow.processes);
            found.iter().filter_map(|root| root.pid().map(str::to_owned)).collect::<Vec<_>>()
        };
        let (free, busy, blocked) = (of_queue(5), of_queue(20), of_queue(60));
        assert_eq!((pids(&free), chains(&free)), (vec!["queue"], vec!["queue".to_owned()]));
        // The store is the root, but the queue waits for it too rarely for a finding.
        assert_eq!((pids(&busy), chains(&busy)), (vec![], vec!["store".to_owned()]));
        assert_eq!((pids(&blocked), chains(&blocked)), (vec!["store"], vec!["store".to_owned()]));
    }

    #[test]
    fn all_blockers_of_a_process_are_roots() {
        let all = flow(&[
            process("channel", 90, &[("one", 50), ("two", 45), ("three", 4)]),
            process("one", 0, &[]),
            process("two", 0, &[]),
            process("three", 0, &[]),
        ]);
        assert_eq!(pids(&all), ["one", "two"]);
    }

    #[test]
    fn few_looks_say_nothing() {
        let few = FlowProcess { looks: 19, ..process("queue", 0, &[]) };
        assert!(pids(&flow(&[process("channel", 90, &[("queue", 90)]), few])).is_empty());
    }
}
