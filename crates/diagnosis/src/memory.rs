//! Memory of a node by kind, against the alarm's watermark.

use std::fmt;

use rabbitscope_text::human_bytes;
use serde::{Deserialize, Serialize};

use crate::{case::Case, rules::names};

/// Share of the memory of processes from which one of them is named, and of all memory from which that of no kind is.
const LARGE: f64 = 0.1;

/// The memory of a node.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Memory {
    /// Memory that counts for the alarm, in bytes. Absent if it is unknown, like the next one.
    pub used: Option<u64>,
    /// The alarm's watermark in bytes.
    pub limit: Option<u64>,
    /// Memory of the VM by kind in bytes, the largest first.
    pub kinds: Vec<(String, u64)>,
    /// The largest of the observed processes with its bytes, if it has a tenth of the memory of processes.
    pub largest_process: Option<(String, u64)>,
}

impl Memory {
    /// Reads the memory. `None` if the node was not asked.
    pub(crate) fn from_case(case: &Case) -> Option<Self> {
        let broker = case.broker.as_ref().ok()?;
        let mut kinds: Vec<(String, u64)> = broker.memory_bytes.clone().into_iter().collect();
        kinds.sort_by(|one, other| other.1.cmp(&one.1).then_with(|| one.0.cmp(&other.0)));
        let (used, limit) = broker.memory.map(|memory| (memory.used, memory.limit)).unzip();
        let of_processes = broker.memory_bytes.get("processes").copied().unwrap_or_default();
        let rows = case.processes.as_ref().map_or(&[][..], |processes| &processes.rows);
        let largest = rows.iter().max_by_key(|process| process.memory_bytes);
        let largest = largest.filter(|one| one.memory_bytes as f64 >= LARGE * of_processes as f64);
        let is_known = !kinds.is_empty() || used.is_some();
        is_known.then(|| Self {
            used,
            limit,
            kinds,
            largest_process: largest.map(|one| {
                let name = if one.name.is_empty() { &one.pid } else { &one.name };
                let name = names::in_vhost(name, &one.vhost);
                (format!("{} {name}", one.role).trim_start().to_owned(), one.memory_bytes)
            }),
        })
    }
}

impl fmt::Display for Memory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let sum = || self.kinds.iter().fold(0, |sum: u64, kind| sum.saturating_add(kind.1));
        f.write_str(&human_bytes(self.used.unwrap_or_else(sum)))?;
        if let Some(limit) = self.limit.filter(|limit| *limit > 0) {
            write!(f, " of {}", human_bytes(limit))?;
        }
        let mut separator = ": ";
        for (kind, bytes) in &self.kinds {
            let kind = rabbitscope_text::escapes::value(kind);
            write!(f, "{separator}{kind} {}", human_bytes(*bytes))?;
            if let Some((name, bytes)) =
                self.largest_process.as_ref().filter(|_| kind == "processes")
            {
                let name = rabbitscope_text::escapes::value(name);
                write!(f, " ({} of it in {name})", human_bytes(*bytes))?;
            }
            separator = ", ";
        }
        let (sum, used) = (sum(), self.used.unwrap_or_default());
        if self.used.is_some_and(|used| sum > used) {
            f.write_str(" (allocated by the VM; not all of it is in memory)")?;
        } else if used.saturating_sub(sum) as f64 >= LARGE * used as f64 && used > 0 {
            let rest = human_bytes(used - sum);
            write!(f, ", of no kind {rest} (the VM itself, and free blocks of its allocators)")?;
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::case::{Broker, ErlangProcess, Processes, Subject, Use};

    #[test]
    fn kinds_and_a_large_process() {
        let mut case = Case::unread(Subject::default());
        assert_eq!(Memory::from_case(&case), None);
        let kinds = [("ets", 3_000_000), ("processes", 50_000_000), ("binary", 1024)];
        case.broker = Ok(Broker {
            memory: Some(Use { used: 200_000_000, limit: 400_000_000 }),
            memory_bytes: kinds.map(|(kind, bytes)| (kind.to_owned(), bytes)).into(),
            ..Broker::default()
        });
        let process = |bytes| ErlangProcess {
            role: "queue".to_owned(),
            name: "orders".to_owned(),
            memory_bytes: bytes,
            ..ErlangProcess::default()
        };
        case.processes = Ok(Processes { rows: vec![process(30_000_000)], ..Processes::default() });
        let memory = Memory::from_case(&case).unwrap();
        let expected = "191 MiB of 381 MiB: processes 48 MiB (29 MiB of it in queue orders), ets 2.9 MiB, binary 1.0 KiB, \
                        of no kind 140 MiB (the VM itself, and free blocks of its allocators)";
        assert_eq!(memory.to_string(), expected);
        let small = Memory { used: Some(1_000_000), ..memory };
        assert!(small.to_string().ends_with("(allocated by the VM; not all of it is in memory)"));
        case.processes = Ok(Processes { rows: vec![process(4_000_000)], ..Processes::default() });
        assert_eq!(Memory::from_case(&case).unwrap().largest_process, None);
    }
}
