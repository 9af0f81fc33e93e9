//! Rules about windows and buffers that stop a sender.

use rabbitscope_text::short_time;

use super::{
    advice::{self, Advice},
    hit::{Case, Direction, Hit, directions},
};
use crate::report::{
    ConnectionReport, EventKind, PacketReport, Severity, Side, SocketReport, SourceLevel,
};

/// Duration from which a zero window costs throughput.
const LONG_ZERO_WINDOW_NANOS: u64 = 200_000_000;
/// Duration from which a zero window means that the receiver does not read. A program that takes messages as fast as it
/// can closes its window often and briefly, which is no problem.
const LASTING_ZERO_WINDOW_NANOS: u64 = 1_000_000_000;
/// Half of the 30 seconds after which RabbitMQ aborts a write (`tcp_listen_options.send_timeout`).
const CRITICAL_ZERO_WINDOW_NANOS: u64 = 15_000_000_000;
/// Share of the busy time in which the receiver's window was full.
const RECEIVER_LIMITED_SHARE: f64 = 0.5;
/// Share of the busy time in which the sender's buffer was full.
const SEND_BUFFER_LIMITED_SHARE: f64 = 0.1;
/// Share of the time below which a sender is not busy enough for a finding.
const MIN_BUSY_SHARE: f64 = 0.1;

/// Judges receivers that announced a zero window.
pub(super) fn zero_window(report: &PacketReport) -> Vec<Case> {
    let case = |direction: Direction<'_>| {
        let figures = direction.figures;
        let longest = figures.longest_zero_window_nanos;
        let hit = (longest >= LONG_ZERO_WINDOW_NANOS).then(|| {
            // The sender of a direction announces the window for the other direction.
            let evidence = format!(
                "{} had no room for {} in total, {} at most",
                direction.sender(),
                short_time(figures.zero_window_nanos),
                short_time(longest),
            );
            let (severity, advice) = without_room(report, &direction);
            let hit = direction.hit(severity, figures.zero_window_nanos as f64, evidence, advice);
            hit.with_packets(&figures.zero_window_packets)
        });
        direction.case(figures.segments, hit)
    };
    directions(report).map(case).collect()
}

/// Returns the severity and the advice for a sender without room.
fn without_room(report: &PacketReport, direction: &Direction<'_>) -> (Severity, Advice) {
    let longest = direction.figures.longest_zero_window_nanos;
    match direction.from {
        Side::Client if longest >= CRITICAL_ZERO_WINDOW_NANOS => {
            (Severity::Critical, advice::CLIENT_WITHOUT_ROOM)
        }
        Side::Client => (lasting(longest), advice::CLIENT_WITHOUT_ROOM),
        Side::Broker if is_blocked(report, direction) => {
            (lasting(longest), advice::BLOCKED_WITHOUT_ROOM)
        }
        Side::Broker => (lasting(longest), advice::BROKER_WITHOUT_ROOM),
    }
}

fn is_blocked(report: &PacketReport, direction: &Direction<'_>) -> bool {
    let label = direction.connection.label();
    report.events_of(EventKind::Blocked).any(|event| event.connections.contains(&label))
}

/// Judges receivers as the limit. The kernel's figures of a socket count if they exist, else the capture's.
pub(super) fn receiver_limited(report: &PacketReport) -> Vec<Case> {
    let asked = report.sockets.iter().filter_map(|socket| {
        let limited = of_busy(socket, socket.receiver_limited)?;
        let hit = (limited >= RECEIVER_LIMITED_SHARE).then(|| {
            let advice =
                receiver_advice(if socket.of_broker { Side::Broker } else { Side::Client });
            let hit = socket_hit(socket, limited, "the other end's window", advice);
            Hit { severity: lasting(longest_of_receiver(report, socket)), ..hit }
        });
        Some(socket_case(socket, hit))
    });
    let seen =
        directions(report).filter(|direction| !is_asked(report, direction)).map(|direction| {
            let limits = direction.figures.limits;
            let limited =
                if limits.busy > 0.0 { limits.receiver_window / limits.busy } else { 0.0 };
            let is_limited = limits.busy >= MIN_BUSY_SHARE && limited >= RECEIVER_LIMITED_SHARE;
            let hit = is_limited.then(|| {
            let evidence = format!(
                "of the time in which {} had data under way, the window of {} was full in {:.0} %",
                direction.sender(),
                direction.receiver(),
                100.0 * limited,
            );
            let severity = lasting(longest(direction.connection, direction.from));
            direction.hit(severity, limited, evidence, receiver_advice(direction.from))
        });
            direction.case(direction.figures.data_segments, hit)
        });
    asked.chain(seen).collect()
}

const fn lasting(longest_zero_window_nanos: u64) -> Severity {
    if longest_zero_window_nanos >= LASTING_ZERO_WINDOW_NANOS {
        Severity::Warning
    } else {
        Severity::Note
    }
}

/// Returns the longest zero window of the receiver of this side's data, in nanoseconds.
const fn longest(connection: &ConnectionReport, sender: Side) -> u64 {
    match sender {
        Side::Client => connection.from_broker.longest_zero_window_nanos,
        Side::Broker => connection.from_client.longest_zero_window_nanos,
    }
}

/// Returns the longest zero window according to the capture, if there is one. The kernel's figures of a socket lack it.
fn longest_of_receiver(report: &PacketReport, socket: &SocketReport) -> u64 {
    let (client, broker, sender) = if socket.of_broker {
        (&socket.remote, &socket.local, Side::Broker)
    } else {
        (&socket.local, &socket.remote, Side::Client)
    };
    let mut connections = report.connections.iter();
    let connection = connections.find(|known| known.client == *client && known.broker == *broker);
    connection.map_or(0, |known| longest(known, sender))
}

/// Returns the advice if the receiver of this side's data is the limit.
const fn receiver_advice(sender: Side) -> Advice {
    match sender {
        Side::Client => advice::BROKER_LIMITS,
        Side::Broker => advice::CLIENT_LIMITS,
    }
}

/// Judges send buffers, by the kernel's figures alone: a capture does not show buffers.
pub(super) fn send_buffer_limited(report: &PacketReport) -> Vec<Case> {
    let case = |socket: &SocketReport| {
        let limited = of_busy(socket, socket.send_buffer_limited)?;
        let advice = if socket.of_broker { advice::BROKER_BUFFER } else { advice::CLIENT_BUFFER };
        let hit = (limited >= SEND_BUFFER_LIMITED_SHARE)
            .then(|| socket_hit(socket, limited, "its own send buffer", advice));
        Some(socket_case(socket, hit))
    };
    report.sockets.iter().filter_map(case).collect()
}

/// Converts a limited share to a share of the time in which the socket had data to send, at most 1. None if it hardly
/// had any, or if no client opened the connection.
fn of_busy(socket: &SocketReport, limited: Option<f64>) -> Option<f64> {
    let busy = socket.busy.filter(|busy| *busy >= MIN_BUSY_SHARE && !socket.outgoing)?;
    limited.map(|limited| (limited / busy).min(1.0))
}

/// Creates a case. If the kernel does not count segments, only the time decides whether it is enough.
fn socket_case(socket: &SocketReport, hit: Option<Hit>) -> Case {
    let count = socket.data_segments_sent.unwrap_or(u64::MAX);
    Case { count, nanos: socket.observed_nanos, hit }
}

fn socket_hit(socket: &SocketReport, limited: f64, by: &str, advice: Advice) -> Hit {
    let who = if socket.of_broker { "the broker" } else { "the client" };
    let (client, broker) = if socket.of_broker {
        (&socket.remote, &socket.local)
    } else {
        (&socket.local, &socket.remote)
    };
    Hit {
        severity: Severity::Warning,
        weight: limited,
        connections: vec![format!("{client} -> {broker}")],
        connections_in_all: 1,
        source: SourceLevel::Sockets,
        evidence: format!(
            "of the time in which {who} had something to send, {by} stopped it in {:.0} %",
            100.0 * limited
        ),
        packets: Vec::new(),
        advice,
    }
}

/// Returns whether the kernel's figures of the sender's socket exist.
fn is_asked(report: &PacketReport, direction: &Direction<'_>) -> bool {
    let (local, remote) = match direction.from {
        Side::Client => (&direction.connection.client, &direction.connection.broker),
        Side::Broker => (&direction.connection.broker, &direction.connection.client),
    };
    report.sockets.iter().any(|socket| {
        socket.local == *local && socket.remote == *remote && socket.receiver_limited.is_some()
    })
}
