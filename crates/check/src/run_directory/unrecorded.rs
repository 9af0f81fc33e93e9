//! Parts that a run did not record, each with the way to have it the next time.

use rabbitscope_diagnosis::{Case, Source, Subject, Unread};
use rabbitscope_runs::record::RunRecord;

/// Returns a case of a run that has nothing of the broker yet.
pub(super) fn unrecorded(subject: Subject, record: &RunRecord) -> Case {
    let node = inside();
    Case {
        broker: Err(node.clone()),
        vm: Err(node.clone()),
        processes: Err(node.clone()),
        queues: Err(node.clone()),
        clients: Err(node.clone()),
        flow: Err(node),
        cpu: Err(profile(Source::CpuProfile)),
        waits: Err(profile(Source::OffCpuProfile)),
        packets: Err(packets(record)),
        host: Err(machine()),
        ..Case::unread(subject)
    }
}

fn unread(source: Source, reason: &str, remedy: &str) -> Unread {
    Unread { source, reason: reason.to_owned(), remedy: remedy.to_owned() }
}

fn inside() -> Unread {
    unread(
        Source::Node,
        "a run does not record processes, schedulers, queues and flow control",
        "run `rabbitscope check` on the node during the load",
    )
}

fn profile(source: Source) -> Unread {
    match source {
        Source::OffCpuProfile => unread(
            source,
            "the run recorded no times off the CPU",
            "record both with [profile] and event = \"cpu,off-cpu\"",
        ),
        _ => unread(
            source,
            "the run recorded no CPU samples",
            "record them with [profile] and an event that includes cpu",
        ),
    }
}

/// A run that asked for packets knows the obstacle.
fn packets(record: &RunRecord) -> Unread {
    let obstacle = record.packets.as_ref().and_then(|packets| packets.not_captured());
    match obstacle {
        Some(reason) => unread(Source::Packets, reason, ""),
        None => {
            unread(Source::Packets, "the run captured no packets", "record them with [packets]")
        }
    }
}

fn machine() -> Unread {
    unread(
        Source::Host,
        "the broker ran on another machine",
        "run `rabbitscope check` there during the load",
    )
}
