//! The table of the busiest Erlang processes.

use std::collections::HashMap;

use rabbitscope_diagnosis::{Case, ErlangProcess, ProcessCpu};
use rabbitscope_text::Unit;

use crate::document::{Block, Cell, Column};
use crate::live::rows::{MOST_ROWS, Rows, cores, name, rate};

const LABEL: &str = "The busiest Erlang processes of the node";

fn rows() -> Rows {
    Rows {
        id: "processes",
        noun: "process",
        columns: vec![
            Column::text("role"),
            Column::text("process").meaning("Its queue, connection, channel or registered name"),
            Column::number("CPU").meaning("CPU time by samples; 1 core is the most of one process"),
            Column::number("busy").meaning(
                "Share of the looks in which it ran, waited for a scheduler or collected garbage",
            ),
            Column::number("reductions"),
            Column::number("mailbox").meaning("Messages in its mailbox, on average"),
            Column::number("memory"),
        ],
    }
}

/// Returns the table without processes.
pub(super) fn empty() -> [Block; 2] {
    rows().empty(LABEL)
}

/// Returns the table. Without access to the node, it has the processes that samples show, by pid.
pub(super) fn filled(case: &Case) -> [Block; 2] {
    let sampled = case.cpu.as_ref().map_or(&[][..], |cpu| &cpu.processes);
    let Ok(processes) = &case.processes else {
        let cells = sampled.iter().take(MOST_ROWS).map(cells_of_samples).collect();
        return rows().filled(LABEL, cells, sampled.len() as u64);
    };
    let used: HashMap<&str, f64> =
        sampled.iter().map(|process| (&*process.pid, process.cores)).collect();
    // Samples that were named tell processes without a sample from an unread profile.
    let cores_of = |process: &ErlangProcess| {
        case.cpu.is_ok().then(|| used.get(&*process.pid).copied().unwrap_or(0.0))
    };
    let mut sorted: Vec<(&ErlangProcess, Option<f64>)> =
        processes.rows.iter().map(|process| (process, cores_of(process))).collect();
    let order = |cores: Option<f64>| cores.unwrap_or(0.0);
    sorted.sort_by(|one, other| order(other.1).total_cmp(&order(one.1)));
    let cells = sorted.into_iter().map(|(process, cores)| cells(process, cores)).collect();
    rows().filled(LABEL, cells, processes.count.max(processes.rows.len() as u64))
}

fn cells(process: &ErlangProcess, used: Option<f64>) -> Vec<Cell> {
    vec![
        name(&process.role),
        process_name(&process.name, &process.vhost, &process.pid),
        cores(used),
        Cell::known(process.busy_share(), Unit::Share),
        rate(Some(process.reductions_per_second)),
        Cell::figure(process.mailbox, Unit::Things),
        Cell::figure(process.memory_bytes as f64, Unit::Bytes),
    ]
}

fn cells_of_samples(process: &ProcessCpu) -> Vec<Cell> {
    let unknown = || Cell::text("–");
    vec![
        name(&process.role),
        process_name(&process.name, &process.vhost, &process.pid),
        cores(Some(process.cores)),
        unknown(),
        unknown(),
        unknown(),
        unknown(),
    ]
}

/// Returns the name with the pid below it. The pid alone if there is no name.
fn process_name(own: &str, vhost: &str, pid: &str) -> Cell {
    match (own, vhost) {
        ("", _) => name(pid),
        (own, "" | "/") => name(own).small(pid),
        (own, vhost) => name(&format!("{own} in {vhost}")).small(pid),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_diagnosis::{Cpu, Processes, Subject};

    use super::*;

    fn names(case: &Case) -> Vec<String> {
        let [table, _] = filled(case);
        let table = serde_json::to_value(table).unwrap();
        let rows = table["rows"].as_array().unwrap().iter();
        rows.map(|row| format!("{} {}", row[1]["text"], row[2]["value"])).collect()
    }

    #[test]
    fn cores_come_from_samples_and_the_rest_from_the_node() {
        let sampled =
            |pid: &str, cores| ProcessCpu { pid: pid.to_owned(), cores, ..ProcessCpu::default() };
        let process = |pid: &str, name: &str| ErlangProcess {
            pid: pid.to_owned(),
            name: name.to_owned(),
            ..ErlangProcess::default()
        };
        let mut case = Case::unread(Subject::default());
        assert!(names(&case).is_empty());
        let processes = vec![sampled("<0.7.0>", 0.5)];
        case.cpu = Ok(Cpu { processes, ..Cpu::default() });
        assert_eq!(names(&case), ["\"<0.7.0>\" 0.5"]);
        let rows = vec![process("<0.8.0>", "idle"), process("<0.7.0>", "orders")];
        case.processes = Ok(Processes { count: 300, rows, ..Processes::default() });
        assert_eq!(names(&case), ["\"orders\" 0.5", "\"idle\" 0.0"]);
        case.cpu = Case::unread(Subject::default()).cpu;
        assert_eq!(names(&case), ["\"idle\" null", "\"orders\" null"]);
    }
}
