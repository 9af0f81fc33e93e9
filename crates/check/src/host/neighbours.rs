//! Other processes of the machine.

use std::{collections::HashMap, time::Duration};

use rabbitscope_diagnosis::Neighbour;
use rabbitscope_machine::host::ProcessTime;

/// Number of neighbours with a row.
const MAX_NEIGHBOURS: usize = 10;

/// CPU time in cores below which a neighbour is left out.
const MIN_CORES: f64 = 0.01;

/// Programs that are connected with a node but use none of its services: nodes of a cluster, and the port mapper.
const NO_CLIENTS: [&str; 2] = ["beam.smp", "epmd"];

/// CPU times of all processes between two readings.
#[derive(Debug)]
pub(super) struct Used(HashMap<u32, Row>);

#[derive(Debug)]
struct Row {
    command: String,
    cpu: Duration,
}

impl Used {
    /// Subtracts the times. A process that was not there before used all of its time in between.
    pub(super) fn between(before: &[ProcessTime], after: &[ProcessTime]) -> Self {
        let key = |process: &ProcessTime| (process.pid, process.start_ticks);
        let earlier: HashMap<_, &ProcessTime> =
            before.iter().map(|process| (key(process), process)).collect();
        // The time of children that have ended is left out: it would include their life before the first reading.
        let used = |process: &ProcessTime| {
            let known = earlier.get(&key(process)).map_or(Duration::ZERO, |known| known.cpu);
            let cpu = process.cpu.saturating_sub(known);
            (process.pid, Row { command: process.command.clone(), cpu })
        };
        Self(after.iter().map(used).collect())
    }

    /// Returns the CPU time of a process.
    pub(super) fn of(&self, pid: u32) -> Option<Duration> {
        self.0.get(&pid).map(|row| row.cpu)
    }

    /// Returns the processes with the most time in cores, without the `excluded`.
    pub(super) fn neighbours(self, excluded: &[u32], seconds: f64) -> Vec<Neighbour> {
        let others = self.0.into_iter().filter(|(pid, _)| !excluded.contains(pid));
        let row = |(pid, Row { command, cpu })| {
            let cores = cpu.as_secs_f64() / seconds;
            Neighbour { pid, command, cores, is_client: false }
        };
        let mut found: Vec<Neighbour> =
            others.map(row).filter(|neighbour| neighbour.cores >= MIN_CORES).collect();
        found.sort_by(|left, right| {
            right.cores.total_cmp(&left.cores).then_with(|| left.pid.cmp(&right.pid))
        });
        found.truncate(MAX_NEIGHBOURS);
        found
    }
}

/// Marks those neighbours that are connected with the node. Other Erlang VMs may belong to its cluster.
pub(super) fn mark_clients(neighbours: &mut [Neighbour], connected: &[u32]) {
    for neighbour in neighbours {
        neighbour.is_client =
            connected.contains(&neighbour.pid) && !NO_CLIENTS.contains(&neighbour.command.as_str());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, start_ticks: u64, command: &str, millis: u64) -> ProcessTime {
        ProcessTime {
            pid,
            start_ticks,
            command: command.to_owned(),
            cpu: Duration::from_millis(millis),
        }
    }

    fn used() -> Used {
        let before = [
            process(1, 5, "beam.smp", 900),
            process(2, 5, "stress", 100),
            process(3, 5, "old", 8_000),
        ];
        let after = [
            process(1, 5, "beam.smp", 2_900),
            process(2, 5, "stress", 1_100),
            process(3, 9, "reused", 500),
            process(4, 9, "small", 9),
            process(5, 9, "rabbitscope", 100),
        ];
        Used::between(&before, &after)
    }

    #[test]
    fn the_busiest_come_first() {
        let found = used().neighbours(&[1, 5], 1.0);
        let rows: Vec<_> =
            found.iter().map(|row| (row.pid, row.command.as_str(), row.cores)).collect();
        assert_eq!(rows, [(2, "stress", 1.0), (3, "reused", 0.5)]);
        assert_eq!(used().of(1), Some(Duration::from_secs(2)));
        assert_eq!(used().of(9), None);
    }

    #[test]
    fn clients_are_connected_with_the_node() {
        let mut found = used().neighbours(&[], 1.0);
        mark_clients(&mut found, &[1, 3]);
        let clients: Vec<&str> =
            found.iter().filter(|row| row.is_client).map(|row| row.command.as_str()).collect();
        assert_eq!(clients, ["reused"], "a VM may be a node of the cluster");
    }
}
