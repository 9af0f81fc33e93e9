//! The report on packets in plain text.

use std::fmt::Write;

use rabbitscope_text::{
    Align, Percentiles, counted, escapes, grouped, human_bytes, short_time, table,
};
use rabbitscope_wire::report::{
    CaptureReport, ConnectionReport, FrameCount, LatencyKind, LatencyReport, PacketReport,
    Severity, Side, SizeBin, SocketReport, SourceLevel,
};

/// Number of table rows that a person reads at once.
const ROWS: usize = 12;

/// Returns the findings first, then their evidence.
pub fn summary(report: &PacketReport) -> String {
    let mut text = format!("{}\n{}", escapes::value(&report.subject), sources(report));
    text += &totals(report);
    text += &findings(report);
    text += &latencies(&report.latencies);
    text += &frames(&report.frames);
    text += &sizes(&report.sizes);
    text += &connections(report);
    text + &sockets(&report.sockets)
}

fn sources(report: &PacketReport) -> String {
    let line = |source: &rabbitscope_wire::report::Source| {
        let level = source_name(source.level);
        let state = if source.present { "yes" } else { "no " };
        format!("{level:<8} {state}  {}\n", escapes::value(&source.note))
    };
    report.sources.iter().map(line).collect::<String>()
        + &report.capture.as_ref().map(losses).unwrap_or_default()
}

/// Counts the packets and bytes read, and everything left out.
fn losses(capture: &CaptureReport) -> String {
    let mut text =
        format!("\n{}, {}", counted(capture.packets, "packet"), human_bytes(capture.bytes));
    let left = &capture.left_out;
    let parts = [
        (capture.dropped.unwrap_or(0), "dropped by the kernel"),
        (capture.cut, "not captured to their end"),
        (left.not_tcp, "not TCP"),
        (left.other_ports, "of other ports"),
        (left.repeated, "captured before, on another interface or as a copy"),
        (left.fragments, "fragments"),
        (left.malformed, "malformed"),
        (left.truncated, "shorter than their headers"),
        (left.gap_bytes, "bytes missing in streams"),
        (left.forgotten_connections, "connections forgotten"),
    ];
    for (count, what) in parts.into_iter().filter(|(count, _)| *count > 0) {
        let _ = write!(text, "; {} {what}", grouped(count));
    }
    for (tunnel, count) in &capture.tunnels {
        let packets = counted(*count, "packet");
        let _ = write!(text, "; {packets} in {}", escapes::value(tunnel));
    }
    if let Some(damage) = &capture.damaged {
        let _ = write!(text, "\nnote: {}", escapes::value(damage));
    }
    text + "\n"
}

fn totals(report: &PacketReport) -> String {
    let totals = &report.totals;
    if totals.segments == 0 {
        return String::new();
    }
    let mut text = format!(
        "{}, {} with {} of payload in {}",
        counted(totals.connections, "connection"),
        counted(totals.data_segments, "segment"),
        human_bytes(totals.payload_bytes),
        short_time(totals.duration_nanos),
    );
    if totals.retransmitted_segments > 0 {
        let _ = write!(text, ", {} sent again", grouped(totals.retransmitted_segments));
    }
    if totals.published > 0 {
        let each = totals.publish_segments as f64 / totals.published as f64;
        let _ = write!(text, "\n{} published, {each:.2} segments each", grouped(totals.published));
    }
    if totals.delivered > 0 {
        let _ = write!(text, "\n{} delivered", grouped(totals.delivered));
    }
    if totals.unread_bytes > 0 {
        let _ = write!(text, "\n{} that no dissector could read", human_bytes(totals.unread_bytes));
    }
    text + "\n"
}

fn findings(report: &PacketReport) -> String {
    let is_read = report.totals.segments > 0 || !report.sockets.is_empty();
    let mut text = match (&report.findings[..], is_read) {
        ([], true) => "\nNo rule with enough data found anything.\n".to_owned(),
        ([], false) => {
            "\nNo rule could be applied: the capture has no TCP segment of the broker.\n".to_owned()
        }
        _ => "\nFindings\n".to_owned(),
    };
    for finding in &report.findings {
        let severity = match finding.severity {
            Severity::Critical => "critical",
            Severity::Warning => "warning",
            Severity::Note => "note",
        };
        let _ = writeln!(text, "  {severity}: {}", finding.sentence);
        let _ = writeln!(
            text,
            "    evidence: {} (source: {})",
            escapes::value(&finding.evidence),
            source_name(finding.source)
        );
        let _ = writeln!(text, "    fix: {}", finding.fix);
        let shown = finding.connections.iter().take(3).map(|name| escapes::value(name));
        let shown = shown.collect::<Vec<_>>().join(", ");
        let others = finding.connections_in_all.saturating_sub(3);
        let more = if others > 0 { format!(" and {others} more") } else { String::new() };
        let _ = writeln!(text, "    connections: {shown}{more}");
        if !finding.packets.is_empty() {
            let numbers: Vec<String> = finding.packets.iter().map(u64::to_string).collect();
            let _ = writeln!(text, "    packets: {}", numbers.join(", "));
        }
    }
    text + &not_judged(report)
}

/// Lists the rules without a judgement, by reason.
fn not_judged(report: &PacketReport) -> String {
    let not_judged = report.not_judged.as_deref().unwrap_or_default();
    let mut reasons: Vec<(&str, Vec<&str>)> = Vec::new();
    for one in not_judged {
        let name = one.rule.title();
        match reasons.iter_mut().find(|(reason, _)| *reason == one.reason) {
            Some((_, rules)) => rules.push(name),
            None => reasons.push((&one.reason, vec![name])),
        }
    }
    let line = |(reason, rules): (&str, Vec<&str>)| {
        format!("  {}: {}\n", rules.join(", "), escapes::value(reason))
    };
    let lines: String = reasons.into_iter().map(line).collect();
    if lines.is_empty() { lines } else { format!("\nNot judged\n{lines}") }
}

fn latencies(latencies: &[LatencyReport]) -> String {
    let measured = latencies.iter().filter(|latency| latency.percentiles.count > 0);
    let row = |latency: &LatencyReport| {
        let unmatched = &latency.unmatched;
        let lost = unmatched.open
            + unmatched.unknown_begin
            + unmatched.unknown_number
            + unmatched.left_out;
        let name = latency_name(latency.kind).to_owned();
        let [p50, p95, p99, p999, max, count] = latency.percentiles.cells();
        [name, p50, p95, p99, p999, max, count, grouped(lost)]
    };
    let [p50, p95, p99, p999, max, count] = Percentiles::TITLES.map(|title| (title, Align::Right));
    let (name, unmatched) = (("on the wire", Align::Left), ("unmatched", Align::Right));
    let columns = [name, p50, p95, p99, p999, max, count, unmatched];
    titled(&table(columns, &measured.map(row).collect::<Vec<_>>()))
}

/// Names the two ends of a latency.
pub(crate) fn latency_name(kind: LatencyKind) -> &'static str {
    match kind {
        LatencyKind::PublishToConfirm => "publish to confirm",
        LatencyKind::PublishToConfirmAtLeast => "publish to confirm, at least",
        LatencyKind::DeliverToAck => "delivery to acknowledgement",
        LatencyKind::RequestToReply => "request to reply",
        LatencyKind::ServiceTime => "delivered request to reply",
        LatencyKind::Method => "method to answer",
    }
}

/// Names one of the three levels.
pub const fn source_name(level: SourceLevel) -> &'static str {
    match level {
        SourceLevel::Sockets => "sockets",
        SourceLevel::Packets => "packets",
        SourceLevel::Writes => "writes",
    }
}

fn frames(frames: &[FrameCount]) -> String {
    let row = |count: &FrameCount| {
        let from = match count.from {
            Side::Client => "clients",
            Side::Broker => "broker",
        };
        let mean = count.bytes / count.frames.max(1);
        [
            format!("{} {}", count.protocol, count.kind),
            from.to_owned(),
            grouped(count.frames),
            human_bytes(count.bytes),
            human_bytes(mean),
        ]
    };
    let columns = [
        ("frame", Align::Left),
        ("from", Align::Left),
        ("frames", Align::Right),
        ("bytes", Align::Right),
        ("mean", Align::Right),
    ];
    let shown = frames.iter().take(ROWS).map(row).collect::<Vec<_>>();
    titled(&table(columns, &shown)) + &more(frames.len(), "kinds of frames")
}

fn sizes(sizes: &[SizeBin]) -> String {
    let all: u64 = sizes.iter().map(|bin| bin.packets).sum();
    let row = |bin: &SizeBin| {
        [
            bin.to.map_or_else(
                || format!("{} or more", bin.from),
                |to| format!("{} to {to}", bin.from),
            ),
            grouped(bin.packets),
            format!("{:.2} %", 100.0 * bin.packets as f64 / all.max(1) as f64),
            human_bytes(bin.bytes),
        ]
    };
    let columns = [
        ("packet bytes", Align::Left),
        ("packets", Align::Right),
        ("share", Align::Right),
        ("bytes", Align::Right),
    ];
    titled(&table(
        columns,
        &sizes.iter().filter(|bin| bin.packets > 0).map(row).collect::<Vec<_>>(),
    ))
}

fn connections(report: &PacketReport) -> String {
    let row = |connection: &ConnectionReport| {
        let (up, down) = (&connection.from_client, &connection.from_broker);
        [
            connection.client.clone(),
            connection.protocol.clone(),
            human_bytes(up.payload_bytes),
            human_bytes(down.payload_bytes),
            grouped(up.median_payload),
            grouped(down.median_payload),
            grouped(up.retransmitted_segments + down.retransmitted_segments),
            short_time(up.zero_window_nanos + down.zero_window_nanos),
            format!("{:.0}/{:.0} %", 100.0 * up.limits.busy, 100.0 * down.limits.busy),
        ]
    };
    let columns = [
        ("client", Align::Left),
        ("protocol", Align::Left),
        ("sent", Align::Right),
        ("received", Align::Right),
        ("median up", Align::Right),
        ("down", Align::Right),
        ("again", Align::Right),
        ("no room", Align::Right),
        ("busy", Align::Right),
    ];
    let shown = report.connections.iter().take(ROWS).map(row).collect::<Vec<_>>();
    let all = report.connections.len() as u64 + report.connections_without_row;
    titled(&table(columns, &shown))
        + &more(usize::try_from(all).unwrap_or(usize::MAX), "connections")
}

fn sockets(sockets: &[SocketReport]) -> String {
    let percent =
        |share: Option<f64>| share.map_or("-".to_owned(), |part| format!("{:.1} %", 100.0 * part));
    let bytes = |count: Option<u64>| count.map_or("-".to_owned(), human_bytes);
    let row = |socket: &SocketReport| {
        [
            socket.local.clone(),
            socket.remote.clone(),
            percent(socket.busy),
            percent(socket.receiver_limited),
            percent(socket.send_buffer_limited),
            bytes(socket.sent_bytes),
            socket.retransmitted.map_or("-".to_owned(), grouped),
            bytes(socket.max_unsent_bytes),
            bytes(socket.max_unread_bytes),
        ]
    };
    let columns = [
        ("socket", Align::Left),
        ("other end", Align::Left),
        ("busy", Align::Right),
        ("receiver", Align::Right),
        ("send buffer", Align::Right),
        ("sent", Align::Right),
        ("again", Align::Right),
        ("unsent", Align::Right),
        ("unread", Align::Right),
    ];
    let shown = sockets.iter().take(ROWS).map(row).collect::<Vec<_>>();
    titled(&table(columns, &shown)) + &more(sockets.len(), "sockets")
}

/// Surrounds a table with blank lines; empty if the table has only its titles.
fn titled(table: &str) -> String {
    if table.contains('\n') { format!("\n{table}\n") } else { String::new() }
}

fn more(all: usize, what: &str) -> String {
    let others = all.saturating_sub(ROWS);
    if others == 0 {
        String::new()
    } else {
        format!("and {} more {what}\n", grouped(others as u64))
    }
}
