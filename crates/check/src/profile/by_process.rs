//! Samples of each Erlang process.

use std::{cmp::Reverse, collections::HashMap};

use rabbitscope_profiles::{Identity, Profile, Sample};

/// Number of processes with a row.
pub(super) const MAX_PROCESSES: usize = 50;

/// The samples of a process.
#[derive(Debug)]
pub(super) struct ProcessSamples<'a> {
    pub(super) pid: &'a str,
    pub(super) weight: u64,
    pub(super) count: u64,
    pub(super) samples: Vec<&'a Sample>,
}

impl ProcessSamples<'_> {
    /// Returns role, name and virtual host. Empty if the node was not asked.
    pub(super) fn identity(&self, profile: &Profile) -> Identity {
        profile.identities.get(self.pid).cloned().unwrap_or_default()
    }
}

/// Returns the processes with the most weight, the largest first.
pub(super) fn by_process<'a>(samples: impl Iterator<Item = &'a Sample>) -> Vec<ProcessSamples<'a>> {
    let mut found: HashMap<&str, ProcessSamples<'a>> = HashMap::new();
    for sample in samples {
        let Some(pid) = sample.labels.process.as_deref() else { continue };
        let process = found.entry(pid).or_insert_with(|| ProcessSamples {
            pid,
            weight: 0,
            count: 0,
            samples: Vec::new(),
        });
        process.weight += sample.weight;
        process.count += sample.count;
        process.samples.push(sample);
    }
    let mut processes: Vec<_> = found.into_values().collect();
    processes.sort_by_key(|process| (Reverse(process.weight), process.pid));
    processes.truncate(MAX_PROCESSES);
    processes
}
