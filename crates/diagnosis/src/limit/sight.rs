//! The sources that a judgement lacks, and that could show another limit.

use rabbitscope_wire::report::{PacketReport, SourceLevel};

use crate::case::{CaptureEnd, Case, Cpu, Flow, Host, Vm, Waits};

/// Seconds and looks below which a source has seen too little.
const MIN_SECONDS: f64 = 3.0;
const MIN_LOOKS: u64 = 40;

/// Lost share of the samples, waits or packets from which a source has not seen enough.
const LOST: f64 = 0.1;

/// Returns the sources that were not read, or that have seen too little.
pub(super) fn blind_spots(case: &Case) -> Vec<&'static str> {
    let vm = case.vm.as_ref().is_ok_and(sees_vm);
    let has_waits = case.waits.as_ref().is_ok_and(sees_waits);
    let host = case.host.as_ref().is_ok_and(|host| sees_host(host, has_waits));
    let parts = [
        ("the node's own figures", case.broker.is_ok() && vm),
        ("queues and clients", case.queues.is_ok() && case.clients.is_ok()),
        ("flow control", case.flow.as_ref().is_ok_and(sees_flow)),
        ("CPU samples", case.cpu.as_ref().is_ok_and(sees_cpu)),
        ("times off the CPU", has_waits),
        ("packets and sockets", sees_packets(case)),
        ("messages that packets do not show", !hides_messages(case)),
        ("the machine", host),
    ];
    parts.into_iter().filter(|(_, is_seen)| !is_seen).map(|(name, _)| name).collect()
}

/// Returns whether the captured packets lack most of what clients publish, replies apart: TLS hides messages, and clients
/// inside the node have no packets.
pub(super) fn hides_messages(case: &Case) -> bool {
    /// Messages per second below which nothing is said.
    const LEAST: f64 = 10.0;
    /// Seen part of the messages. Replies can be half of them.
    const SEEN: f64 = 0.4;
    // A recorded run knows its own messages.
    let is_captured =
        case.load.is_none() && case.packets.as_ref().is_ok_and(|report| report.capture.is_some());
    let published = case.broker.as_ref().ok().and_then(|broker| broker.rates.published);
    let seen = case.turns.as_ref().map_or(0.0, |turns| turns.rate(turns.published));
    is_captured && published.is_some_and(|rate| rate >= LEAST && seen < SEEN * rate)
}

const fn sees_vm(vm: &Vm) -> bool {
    vm.looks >= MIN_LOOKS && vm.scheduler_use.is_some()
}

/// A node that is too busy for most of the looks hides who waits.
const fn sees_flow(flow: &Flow) -> bool {
    flow.looks >= MIN_LOOKS && flow.missed_looks <= flow.looks
}

fn sees_cpu(cpu: &Cpu) -> bool {
    cpu.seconds >= MIN_SECONDS && is_whole(cpu.lost, cpu.samples)
}

fn sees_waits(waits: &Waits) -> bool {
    let seen = waits.processes.iter().fold(0_u64, |sum, row| sum.saturating_add(row.waits));
    waits.seconds >= MIN_SECONDS && is_whole(waits.lost, seen)
}

/// Waiting for a CPU is known from the kernel's account, or from times off the CPU.
fn sees_host(host: &Host, has_waits: bool) -> bool {
    host.seconds >= MIN_SECONDS && (host.waiting_cores.is_some() || has_waits)
}

fn sees_packets(case: &Case) -> bool {
    let is_long = case.capture_end.as_ref().is_none_or(CaptureEnd::is_long_enough);
    is_long && case.packets.as_ref().is_ok_and(is_complete)
}

/// A report without a capture has the kernel's figures of sockets alone.
fn is_complete(report: &PacketReport) -> bool {
    let is_absent = |level| report.sources.iter().any(|one| one.level == level && !one.present);
    let is_lossy = report
        .capture
        .as_ref()
        .is_some_and(|capture| !is_whole(capture.dropped.unwrap_or_default(), capture.packets));
    !is_lossy && !is_absent(SourceLevel::Packets) && !is_absent(SourceLevel::Sockets)
}

fn is_whole(lost: u64, seen: u64) -> bool {
    lost as f64 <= LOST * (lost as f64 + seen as f64)
}
