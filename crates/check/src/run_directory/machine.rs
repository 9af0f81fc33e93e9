//! The machine of a run: its CPUs, the broker and the load generator on them.

use rabbitscope_diagnosis::{Host, Neighbour};

use super::measured::Measured;

/// Returns what is known of the machine. Absent if the broker ran on another one, or its CPU time is unknown.
///
/// The run knows no other processes, so the idle share is the most that it can have been.
pub(super) fn host(run: &Measured<'_>) -> Option<Host> {
    let record = run.record;
    let all_nodes = run.mean(|row| row.broker_cpu_cores)?;
    record.broker.pid?;
    let cpus = u64::from(record.machine.cpus.max(1));
    let client = run.mean(|row| row.client_cpu_cores).unwrap_or_default();
    Some(Host {
        seconds: run.seconds(),
        cpus,
        allowed_cpus: cpus,
        node_cores: node_cores(run, all_nodes),
        idle_share: (1.0 - (all_nodes + client) / cpus as f64).clamp(0.0, 1.0),
        neighbours: neighbours(run, all_nodes, client),
        ..Host::default()
    })
}

/// Returns the CPU time of the profiled node, the first of several.
fn node_cores(run: &Measured<'_>, all_nodes: f64) -> f64 {
    let nodes = &run.record.broker.nodes;
    match nodes.first().and_then(|node| node.cpu_nanos) {
        Some(nanos) if nodes.len() > 1 && run.record.duration_nanos > 0 => {
            nanos as f64 / run.record.duration_nanos as f64
        }
        _ => all_nodes,
    }
}

/// Returns the load generator and the other nodes of the broker.
fn neighbours(run: &Measured<'_>, all_nodes: f64, client: f64) -> Vec<Neighbour> {
    let of = |command: &str, cores: f64, is_client: bool| Neighbour {
        command: command.to_owned(),
        cores,
        is_client,
        ..Neighbour::default()
    };
    let others = (all_nodes - node_cores(run, all_nodes)).max(0.0);
    let mut found = vec![of("rabbitscope", client, true)];
    if run.record.broker.nodes.len() > 1 {
        found.push(of("beam.smp", others, false));
    }
    found.retain(|neighbour| neighbour.cores > 0.0);
    found.sort_by(|one, other| other.cores.total_cmp(&one.cores));
    found
}
