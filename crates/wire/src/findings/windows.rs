//! Windows and buffers: who keeps the sender from sending.

use rabbitscope_text::short_time;

use super::hit::{Direction, Hit, directions, share};
use crate::report::{PacketReport, Severity, Side, SocketReport, SourceLevel};

/// A window of nothing that lasts so long costs throughput.
const LONG_ZERO_WINDOW_NANOS: u64 = 200_000_000;
/// Half of the 30 seconds after which RabbitMQ gives up a write (`tcp_listen_options.send_timeout`).
const CRITICAL_ZERO_WINDOW_NANOS: u64 = 15_000_000_000;
/// Of the time in which there was something to send, the receiver's window was full.
const RECEIVER_LIMITED_SHARE: f64 = 0.5;
/// The sender's buffer was full.
const SEND_BUFFER_LIMITED_SHARE: f64 = 0.1;
/// Segments that are sent again.
const LOSSY_SHARE: f64 = 0.001;
/// A sender that is busy less than this is not limited by anything worth a word.
const MIN_BUSY_SHARE: f64 = 0.1;
/// Segments below which a share of them says nothing.
const MIN_SEGMENTS: u64 = 1_000;

/// A receiver that announced a window of nothing.
pub(super) fn zero_window(report: &PacketReport) -> Vec<Hit> {
    let hit = |it: Direction<'_>| {
        let figures = it.figures;
        let longest = figures.longest_zero_window_nanos;
        (longest >= LONG_ZERO_WINDOW_NANOS).then(|| Hit {
            severity: if longest >= CRITICAL_ZERO_WINDOW_NANOS {
                Severity::Critical
            } else {
                Severity::Warning
            },
            weight: figures.zero_window_nanos as f64,
            connection: it.connection.label(),
            source: SourceLevel::Packets,
            // The sender of a direction announces the window for the other one.
            evidence: format!(
                "{} had no room for {} in all, {} at the longest",
                it.sender(),
                short_time(figures.zero_window_nanos),
                short_time(longest),
            ),
            packets: figures.zero_window_packets.clone(),
        })
    };
    directions(report).filter_map(hit).collect()
}

/// By the kernel's account of a socket where it was asked, else by the capture.
pub(super) fn receiver_limited(report: &PacketReport) -> Vec<Hit> {
    let asked = report.sockets.iter().filter_map(|socket| {
        let limited = of_busy(socket, socket.receiver_limited)?;
        (limited >= RECEIVER_LIMITED_SHARE)
            .then(|| socket_hit(socket, limited, "the other end's window"))
    });
    let seen = directions(report).filter(|it| !is_asked(report, it)).filter_map(|it| {
        let limits = it.figures.limits;
        let limited = if limits.busy > 0.0 { limits.receiver_window / limits.busy } else { 0.0 };
        (limits.busy >= MIN_BUSY_SHARE && limited >= RECEIVER_LIMITED_SHARE).then(|| Hit {
            severity: Severity::Warning,
            weight: limited,
            connection: it.connection.label(),
            source: SourceLevel::Packets,
            evidence: format!(
                "of the time in which {} had data under way, the window of {} was full in {:.0} %",
                it.sender(),
                it.receiver(),
                100.0 * limited,
            ),
            packets: Vec::new(),
        })
    });
    asked.chain(seen).collect()
}

/// By the kernel's account alone: a capture does not show buffers.
pub(super) fn send_buffer_limited(report: &PacketReport) -> Vec<Hit> {
    let hit = |socket: &SocketReport| {
        let limited = of_busy(socket, socket.send_buffer_limited)?;
        (limited >= SEND_BUFFER_LIMITED_SHARE)
            .then(|| socket_hit(socket, limited, "its own send buffer"))
    };
    report.sockets.iter().filter_map(hit).collect()
}

/// Busy, and segments are lost.
pub(super) fn network_limited(report: &PacketReport) -> Vec<Hit> {
    let is_whole = report.capture.as_ref().is_none_or(|capture| capture.dropped.unwrap_or(0) == 0);
    let hit = |it: Direction<'_>| {
        let figures = it.figures;
        let again = share(figures.retransmitted_segments, figures.data_segments);
        let is_busy =
            figures.limits.busy >= MIN_BUSY_SHARE && figures.data_segments >= MIN_SEGMENTS;
        (is_whole && is_busy && again >= LOSSY_SHARE).then(|| Hit {
            severity: Severity::Warning,
            weight: again,
            connection: it.connection.label(),
            source: SourceLevel::Packets,
            evidence: format!(
                "{} sent {} of {} segments again ({:.2} %)",
                it.sender(),
                figures.retransmitted_segments,
                figures.data_segments,
                100.0 * again,
            ),
            packets: Vec::new(),
        })
    };
    directions(report).filter_map(hit).collect()
}

/// Of the time in which the socket had something to send; nothing where it hardly had.
fn of_busy(socket: &SocketReport, limited: Option<f64>) -> Option<f64> {
    let busy = socket.busy.filter(|busy| *busy >= MIN_BUSY_SHARE)?;
    limited.map(|limited| limited / busy)
}

fn socket_hit(socket: &SocketReport, limited: f64, by: &str) -> Hit {
    let who = if socket.of_broker { "the broker" } else { "the client" };
    let (client, broker) = if socket.of_broker {
        (&socket.remote, &socket.local)
    } else {
        (&socket.local, &socket.remote)
    };
    Hit {
        severity: Severity::Warning,
        weight: limited,
        connection: format!("{client} -> {broker}"),
        source: SourceLevel::Sockets,
        evidence: format!(
            "of the time in which {who} had something to send, {by} stopped it in {:.0} %",
            100.0 * limited
        ),
        packets: Vec::new(),
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
