//! Windows and buffers: who keeps the sender from sending.

use rabbitscope_text::short_time;

use super::{
    advice::{self, Advice},
    hit::{Case, Direction, Hit, directions},
};
use crate::report::{
    ConnectionReport, EventKind, PacketReport, Severity, Side, SocketReport, SourceLevel,
};

/// A window of nothing that lasts so long costs throughput.
const LONG_ZERO_WINDOW_NANOS: u64 = 200_000_000;
/// A program that takes messages as fast as it can closes its window again and again, and nothing is wrong with that. One that
/// closes it for so long at once does not read.
const LASTING_ZERO_WINDOW_NANOS: u64 = 1_000_000_000;
/// Half of the 30 seconds after which RabbitMQ gives up a write (`tcp_listen_options.send_timeout`).
const CRITICAL_ZERO_WINDOW_NANOS: u64 = 15_000_000_000;
/// Of the time in which there was something to send, the receiver's window was full.
const RECEIVER_LIMITED_SHARE: f64 = 0.5;
/// The sender's buffer was full.
const SEND_BUFFER_LIMITED_SHARE: f64 = 0.1;
/// A sender that is busy less than this is not limited by anything worth a word.
const MIN_BUSY_SHARE: f64 = 0.1;

/// A receiver that announced a window of nothing.
pub(super) fn zero_window(report: &PacketReport) -> Vec<Case> {
    let case = |it: Direction<'_>| {
        let figures = it.figures;
        let longest = figures.longest_zero_window_nanos;
        let hit = (longest >= LONG_ZERO_WINDOW_NANOS).then(|| {
            // The sender of a direction announces the window for the other one.
            let evidence = format!(
                "{} had no room for {} in all, {} at the longest",
                it.sender(),
                short_time(figures.zero_window_nanos),
                short_time(longest),
            );
            let (severity, advice) = without_room(report, &it);
            let hit = it.hit(severity, figures.zero_window_nanos as f64, evidence, advice);
            hit.with_packets(&figures.zero_window_packets)
        });
        it.case(figures.segments, hit)
    };
    directions(report).map(case).collect()
}

/// What it means that this sender had no room.
fn without_room(report: &PacketReport, it: &Direction<'_>) -> (Severity, Advice) {
    let longest = it.figures.longest_zero_window_nanos;
    match it.from {
        Side::Client if longest >= CRITICAL_ZERO_WINDOW_NANOS => {
            (Severity::Critical, advice::CLIENT_WITHOUT_ROOM)
        }
        Side::Client => (lasting(longest), advice::CLIENT_WITHOUT_ROOM),
        Side::Broker if is_blocked(report, it) => (lasting(longest), advice::BLOCKED_WITHOUT_ROOM),
        Side::Broker => (lasting(longest), advice::BROKER_WITHOUT_ROOM),
    }
}

fn is_blocked(report: &PacketReport, it: &Direction<'_>) -> bool {
    let label = it.connection.label();
    report.events_of(EventKind::Blocked).any(|event| event.connections.contains(&label))
}

/// By the kernel's account of a socket where it was asked, else by the capture.
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
    let seen = directions(report).filter(|it| !is_asked(report, it)).map(|it| {
        let limits = it.figures.limits;
        let limited = if limits.busy > 0.0 { limits.receiver_window / limits.busy } else { 0.0 };
        let is_limited = limits.busy >= MIN_BUSY_SHARE && limited >= RECEIVER_LIMITED_SHARE;
        let hit = is_limited.then(|| {
            let evidence = format!(
                "of the time in which {} had data under way, the window of {} was full in {:.0} %",
                it.sender(),
                it.receiver(),
                100.0 * limited,
            );
            let severity = lasting(longest(it.connection, it.from));
            it.hit(severity, limited, evidence, receiver_advice(it.from))
        });
        it.case(it.figures.data_segments, hit)
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

/// For how long the receiver of what a side sends had no room at once.
const fn longest(connection: &ConnectionReport, sender: Side) -> u64 {
    match sender {
        Side::Client => connection.from_broker.longest_zero_window_nanos,
        Side::Broker => connection.from_client.longest_zero_window_nanos,
    }
}

/// The kernel's account of a socket does not say; the capture does where there is one.
fn longest_of_receiver(report: &PacketReport, socket: &SocketReport) -> u64 {
    let (client, broker, sender) = if socket.of_broker {
        (&socket.remote, &socket.local, Side::Broker)
    } else {
        (&socket.local, &socket.remote, Side::Client)
    };
    let mut connections = report.connections.iter();
    let connection = connections.find(|it| it.client == *client && it.broker == *broker);
    connection.map_or(0, |it| longest(it, sender))
}

/// What helps where the receiver of what this side sends is the limit.
const fn receiver_advice(sender: Side) -> Advice {
    match sender {
        Side::Client => advice::BROKER_LIMITS,
        Side::Broker => advice::CLIENT_LIMITS,
    }
}

/// By the kernel's account alone: a capture does not show buffers.
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

/// Of the time in which the socket had something to send, at most all of it; nothing where it hardly had.
fn of_busy(socket: &SocketReport, limited: Option<f64>) -> Option<f64> {
    let busy = socket.busy.filter(|busy| *busy >= MIN_BUSY_SHARE)?;
    limited.map(|limited| (limited / busy).min(1.0))
}

/// A kernel that does not count segments leaves the time alone.
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

/// Whether the kernel was asked about the sender's socket.
fn is_asked(report: &PacketReport, direction: &Direction<'_>) -> bool {
    let (local, remote) = match direction.from {
        Side::Client => (&direction.connection.client, &direction.connection.broker),
        Side::Broker => (&direction.connection.broker, &direction.connection.client),
    };
    report.sockets.iter().any(|socket| {
        socket.local == *local && socket.remote == *remote && socket.receiver_limited.is_some()
    })
}
