//! The origin of a process, recorded so that a later process can check whether it still runs.

use serde::{Deserialize, Serialize};

use crate::{
    kernel::{boot_id, host_name},
    namespaces::Namespace,
    process::{ProcessIdentity, Sight},
    text::read,
};

/// A process, distinguished from those of other boots, machines and containers.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ProcessOrigin {
    /// Name of the machine or container.
    pub host: String,
    /// Pid and start.
    pub process: ProcessIdentity,
    machine_id: String,
    boot_id: String,
    pid_namespace: u64,
    /// Time namespace in which the start was read. The kernel reports a start in the time of the reader's namespace.
    #[serde(default = "first_time_namespace")]
    time_namespace: u64,
}

/// Result of the check whether a process still runs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Liveness {
    /// The process runs.
    Running,
    /// The process has certainly ended.
    Ended,
    /// The process cannot be seen from here.
    OutOfSight {
        /// Place where it ran.
        place: String,
    },
}

/// Inode of the first pid namespace of every kernel (`PROC_PID_INIT_INO` in `linux/proc_ns.h`).
const FIRST_PID_NAMESPACE: u64 = 0xEFFF_FFFC;

/// Inode of the first time namespace of every kernel (`PROC_TIME_INIT_INO`, same file).
const FIRST_TIME_NAMESPACE: u64 = 0xEFFF_FFFA;

/// Returns the default time namespace: for records without the key, and for kernels without time namespaces.
fn first_time_namespace() -> u64 {
    FIRST_TIME_NAMESPACE
}

impl ProcessOrigin {
    /// Returns the origin of this process; `None` without `/proc`.
    pub fn here() -> Option<Self> {
        Some(Self {
            host: host_name(),
            process: ProcessIdentity::own()?,
            machine_id: read("/etc/machine-id").unwrap_or_default().trim().to_owned(),
            boot_id: boot_id()?,
            pid_namespace: Namespace::own("pid").ok()?.inode,
            time_namespace: Namespace::own("time")
                .map_or(FIRST_TIME_NAMESPACE, |namespace| namespace.inode),
        })
    }

    /// Returns true if both processes ran in the same boot of the same kernel, in any container.
    pub fn shares_kernel(&self, other: &Self) -> bool {
        self.boot_id == other.boot_id
    }

    /// Checks whether the process still runs, as far as `here` can see.
    pub fn liveness(&self, here: &Self) -> Liveness {
        let out_of_sight = |place: String| Liveness::OutOfSight { place };
        if self.host != here.host || self.machine_id != here.machine_id {
            return out_of_sight(format!("on {}", self.host));
        }
        if self.boot_id != here.boot_id {
            // Only a machine with an id, outside of containers, is known to be the same machine.
            let is_machine = !self.machine_id.is_empty()
                && [self, here].iter().all(|origin| origin.pid_namespace == FIRST_PID_NAMESPACE);
            return if is_machine {
                Liveness::Ended
            } else {
                out_of_sight(format!("on {}, in a container or before a restart", self.host))
            };
        }
        if self.pid_namespace != here.pid_namespace {
            return out_of_sight(format!("on {}, in another pid namespace", self.host));
        }
        match self.process.sight(self.time_namespace == here.time_namespace) {
            Sight::Ended => Liveness::Ended,
            Sight::Running => Liveness::Running,
            Sight::Hidden => out_of_sight(format!(
                "on {}, and this process is not shown when it started: in another time namespace, or hidden by /proc",
                self.host
            )),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(change: impl Fn(&mut ProcessOrigin), expected: &str) {
        let here = ProcessOrigin::here().unwrap();
        let mut origin = here.clone();
        change(&mut origin);
        let said = format!("{:?}", origin.liveness(&here));
        assert!(said.starts_with(expected), "{said}");
    }

    #[test]
    fn only_a_process_that_can_be_seen_from_here_has_ended() {
        let given_anew = |origin: &mut ProcessOrigin| origin.process = origin.process.other();
        check(|_| {}, "Running");
        check(given_anew, "Ended");
        let elsewhere = |origin: &mut ProcessOrigin| origin.host.push('x');
        check(elsewhere, "OutOfSight");
        check(|origin| origin.pid_namespace = 1, "OutOfSight");
        let both = |origin: &mut ProcessOrigin| {
            given_anew(origin);
            origin.pid_namespace = 1;
        };
        check(both, "OutOfSight");
        let in_other_time = |origin: &mut ProcessOrigin| {
            given_anew(origin);
            origin.time_namespace = 1;
        };
        check(in_other_time, "OutOfSight");
        let gone = |origin: &mut ProcessOrigin| {
            in_other_time(origin);
            origin.process = ProcessIdentity::that_never_was();
        };
        check(gone, "Ended");
    }

    #[test]
    fn entries_of_before_are_of_the_first_time_namespace() {
        let mut old = serde_json::to_value(ProcessOrigin::here().unwrap()).unwrap();
        old.as_object_mut().unwrap().remove("time-namespace").unwrap();
        let old: ProcessOrigin = serde_json::from_value(old).unwrap();
        assert_eq!(old.time_namespace, FIRST_TIME_NAMESPACE);
    }

    #[test]
    fn a_restart_ends_what_ran_on_the_machine_itself() {
        let mut here = ProcessOrigin::here().unwrap();
        here.machine_id = "an id".to_owned();
        here.pid_namespace = FIRST_PID_NAMESPACE;
        let before = ProcessOrigin { boot_id: "another".to_owned(), ..here.clone() };
        assert_eq!(before.liveness(&here), Liveness::Ended);
        let container = ProcessOrigin { pid_namespace: 7, ..before.clone() };
        assert!(matches!(container.liveness(&here), Liveness::OutOfSight { .. }));
        let nameless = ProcessOrigin { machine_id: String::new(), ..before };
        let here = ProcessOrigin { machine_id: String::new(), ..here };
        assert!(matches!(nameless.liveness(&here), Liveness::OutOfSight { .. }));
    }
}
