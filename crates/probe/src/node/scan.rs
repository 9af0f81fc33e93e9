//! Finds Erlang VMs that start and end. A scan reads the arguments of young processes only: a process becomes a VM
//! by executing one soon after its start. Others are checked again from time to time.

use std::collections::{HashMap, HashSet};

use rabbitscope_machine::process::pids;

use super::find::calls_itself_beam;
use crate::{
    error::ProbeError,
    permission::{NODE, raise},
};

/// Number of scans during which a process is young.
const YOUNG_SCANS: u32 = 6;

/// Scans between two checks of an old process.
const OLD_INTERVAL: u32 = 60;

/// State between scans.
#[derive(Debug, Default)]
pub struct NodeScan {
    processes: HashMap<u32, Seen>,
    scans: u32,
}

#[derive(Clone, Copy, Debug)]
struct Seen {
    first_scan: u32,
    is_vm: bool,
}

impl NodeScan {
    /// The processes with the program name of a VM, by pid. The name proves nothing yet.
    pub fn scan(&mut self) -> Result<Vec<u32>, ProbeError> {
        let _raised = raise(NODE);
        let pids = pids().map_err(ProbeError::io("listing /proc"))?;
        Ok(self.take(&pids.into_iter().collect(), &calls_itself_beam))
    }

    fn take(&mut self, pids: &HashSet<u32>, is_vm: &dyn Fn(u32) -> bool) -> Vec<u32> {
        let now = self.scans;
        self.scans = now.wrapping_add(1);
        self.processes.retain(|pid, _| pids.contains(pid));
        for &pid in pids {
            let seen = self.processes.entry(pid).or_insert(Seen { first_scan: now, is_vm: false });
            let age = now.wrapping_sub(seen.first_scan);
            if age < YOUNG_SCANS || age.is_multiple_of(OLD_INTERVAL) {
                seen.is_vm = is_vm(pid);
            }
        }
        let vms = self.processes.iter().filter(|(_, seen)| seen.is_vm);
        let mut vms: Vec<u32> = vms.map(|(&pid, _)| pid).collect();
        vms.sort_unstable();
        vms
    }
}

#[cfg(test)]
mod tests {
    use std::{cell::Cell, collections::HashSet};

    use super::{NodeScan, OLD_INTERVAL, YOUNG_SCANS};

    #[test]
    fn a_shell_that_becomes_a_vm_is_found_and_an_old_process_costs_nothing() {
        let (becomes_vm, looks) = (Cell::new(false), Cell::new(0));
        let is_vm = |pid: u32| {
            looks.set(looks.get() + 1);
            pid == 7 && becomes_vm.get()
        };
        let mut scan = NodeScan::default();
        let pids = HashSet::from([1, 7]);
        assert!(scan.take(&pids, &is_vm).is_empty());
        becomes_vm.set(true);
        assert_eq!(scan.take(&pids, &is_vm), [7]);
        for _ in 2..OLD_INTERVAL {
            assert_eq!(scan.take(&pids, &is_vm), [7]);
        }
        assert_eq!(looks.get(), 2 * YOUNG_SCANS);
        becomes_vm.set(false);
        assert!(scan.take(&pids, &is_vm).is_empty(), "it has executed another program");
        assert!(scan.take(&HashSet::from([1]), &is_vm).is_empty());
        becomes_vm.set(true);
        assert_eq!(scan.take(&HashSet::from([1, 7]), &is_vm), [7], "the pid was given again");
    }
}
