//! Two readings of the machine, at the beginning and at the end.

use rabbitscope_diagnosis::{Host, Part, Source};
use rabbitscope_machine::host::{HostReader, HostReading};
use rabbitscope_probe::{NodeHost, ProbeError};

use super::{
    binding::{bound_cpus, is_bound_alike},
    difference::{Sides, difference},
    neighbours::mark_clients,
};
use crate::{pending::Unready, refusal::refused, span::Span};

/// Name of an Erlang VM's program.
const VM: &str = "beam.smp";

/// Number of other VMs whose threads are looked at.
const MAX_VMS: usize = 16;

/// Reads the machine at the beginning and at the end of the span.
pub(crate) fn read(pid: u32, span: &Span, unready: Unready) -> Part<Host> {
    read_twice(pid, span, unready).map_err(|error| refused(Source::Host, &error))
}

fn read_twice(pid: u32, span: &Span, unready: Unready) -> Result<Host, ProbeError> {
    let node = NodeHost::open(pid)?;
    drop(unready);
    span.wait_for_begin();
    let before = node.read()?;
    span.wait_for_end();
    let (after, state) = (node.read()?, node.state()?);
    let own = HostReader::own_pid();
    let sides =
        Sides { before: &before, after: &after, state: &state, disk: node.disk(), node: pid, own };
    let mut host = difference(&sides);
    let pids: Vec<u32> = host.neighbours.iter().map(|neighbour| neighbour.pid).collect();
    mark_clients(&mut host.neighbours, &node.connected(&pids));
    let bound = bound_cpus(&state.threads);
    let others = vms(&after, pid);
    host.bound_alike =
        others.filter(|&other| is_bound_alike(&bound, &NodeHost::threads_of(other))).collect();
    Ok(host)
}

fn vms(reading: &HostReading, node: u32) -> impl Iterator<Item = u32> {
    let others = reading.processes.iter().filter(move |other| other.pid != node);
    others.filter(|other| other.command == VM).map(|other| other.pid).take(MAX_VMS)
}
