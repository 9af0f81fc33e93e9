//! The order of a reading.

use std::{path::Path, time::Duration};

use rabbitscope_artifacts::rundir::{RecordedRun, read_broker};
use rabbitscope_diagnosis::{CaptureEnd, Case, Subject};
use rabbitscope_profiles::Event;
use rabbitscope_runs::record::{BrokerStates, RunRecord};

use crate::profile::{cpu, waits};

use super::{
    broker::broker, load::load, machine::host, measured::Measured, unrecorded::unrecorded,
};

/// Reads a run directory as a case.
pub fn read_run_directory(run_dir: &Path) -> anyhow::Result<Case> {
    let run = RecordedRun::read(run_dir)?;
    let states = read_broker(run_dir)?;
    Ok(case_of_run(&run, states.as_ref()))
}

/// Returns a recorded run as a case. `states` is `broker.json`. Parts that the run did not record say how to record
/// them.
pub fn case_of_run(run: &RecordedRun, states: Option<&BrokerStates>) -> Case {
    let measured = Measured::new(&run.record, &run.series);
    let mut case = unrecorded(subject(&measured), &run.record);
    case.broker = Ok(broker(&measured, states));
    case.load = Some(load(&measured));
    if let Some(host) = host(&measured) {
        case.host = Ok(host);
    }
    for profile in &run.profiles {
        match profile.event {
            Event::Cpu => case.cpu = Ok(cpu(profile)),
            Event::OffCpu => case.waits = Ok(waits(profile, None)),
            _ => {}
        }
    }
    if let Some(packets) = run.packets.as_ref().filter(|_| has_packets(&run.record)) {
        case.packets = Ok(packets.clone());
        case.capture_end = capture_end(&run.record);
    }
    case
}

/// Returns the end of a capture that did not last as long as the run.
fn capture_end(record: &RunRecord) -> Option<CaptureEnd> {
    let packets = record.packets.as_ref()?;
    let seconds = packets.captured_nanos.unwrap_or_default() as f64 / 1e9;
    packets.cut_short.clone().map(|reason| CaptureEnd { seconds, reason })
}

/// A report without captured packets has the kernel's figures only, and no figures of packets.
fn has_packets(record: &RunRecord) -> bool {
    record.packets.as_ref().is_none_or(|packets| packets.not_captured().is_none())
}

fn subject(run: &Measured<'_>) -> Subject {
    let facts = &run.record.broker;
    let names = facts.nodes.first().map(|node| &node.name).into_iter();
    let names = names.chain([&facts.cluster_name, &facts.address]);
    let node = names.filter(|name| !name.is_empty()).map(String::clone).next().unwrap_or_default();
    let duration = Duration::try_from_secs_f64(run.seconds()).unwrap_or_default();
    Subject { node, pid: facts.pid, duration }
}
