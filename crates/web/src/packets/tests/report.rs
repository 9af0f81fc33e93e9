//! Reports like those of captures of real faults.

use rabbitscope_text::Percentiles;
use rabbitscope_wire::{
    packet::Timestamp,
    report::{
        CaptureReport, ConnectionReport, DirectionReport, Finding, FindingRule, FrameCount,
        LatencyKind, LatencyReport, LeftOut, LimitShares, MessageFigures, NotJudged, PacketReport,
        RoundTrips, SIZE_BINS, Severity, Side, SizeBin, SocketReport, Source, SourceLevel, Totals,
        Unmatched, WriteSizes, ZeroWindowTime,
    },
};

use super::pictures;

pub(super) const MICROSECOND: u64 = 1000;
pub(super) const MILLISECOND: u64 = 1_000_000;
pub(super) const SECOND: u64 = 1_000_000_000;

const BEGIN: u64 = 1_764_000_000 * SECOND;

/// Returns a report with something to show in every part of the page.
pub(super) fn full() -> PacketReport {
    PacketReport {
        format_version: 1,
        subject: "ports 5672 and 5552 of rabbit@orders-3, for 12.4 s".to_owned(),
        sources: sources([true, true, true]),
        capture: Some(capture()),
        sizes: sizes(),
        totals: totals(),
        frames: frames(),
        latencies: latencies(1),
        connections: (0..24).map(connection).collect(),
        sockets: (0..24).map(socket).collect(),
        writes: Some(writes()),
        findings: findings(),
        not_judged: Some(Vec::new()),
        time_sequences: pictures::time_sequences(),
        ladders: pictures::ladders(),
        ..PacketReport::default()
    }
}

/// Returns the report of an ordinary user: no packets.
pub(super) fn sockets_alone() -> PacketReport {
    PacketReport {
        subject: "port 5672 of rabbit@orders-3".to_owned(),
        sources: sources([true, false, false]),
        sockets: (0..40).map(socket).collect(),
        not_judged: Some(vec![NotJudged {
            rule: FindingRule::CaptureLoss,
            reason: "TCP segments <were> not seen".to_owned(),
        }]),
        ..PacketReport::default()
    }
}

fn sources(present: [bool; 3]) -> Vec<Source> {
    let notes = [
        ["every 100 ms, 24 sockets", "no socket of this port"],
        [
            "ring of 64 MiB on eth0",
            "CAP_NET_RAW is missing: run as root, or give a file with --read",
        ],
        ["tracepoint sock_send_length", "CAP_BPF and CAP_PERFMON are missing"],
    ];
    let levels = [SourceLevel::Sockets, SourceLevel::Packets, SourceLevel::Writes];
    let sources = levels.into_iter().zip(present).zip(notes);
    sources
        .map(|((level, present), [used, missing])| Source {
            level,
            present,
            note: if present { used } else { missing }.to_owned(),
        })
        .collect()
}

fn capture() -> CaptureReport {
    CaptureReport {
        packets: 1_203_441,
        bytes: 912_345_678,
        dropped: Some(1234),
        cut: 0,
        left_out: LeftOut {
            not_tcp: 17,
            other_ports: 2041,
            gaps: 3,
            gap_bytes: 40_960,
            ..LeftOut::default()
        },
        ..CaptureReport::default()
    }
}

fn totals() -> Totals {
    Totals {
        duration_nanos: 12_412 * MILLISECOND,
        first: Timestamp::from_unix_nanos(BEGIN),
        connections: 24,
        segments: 1_201_380,
        data_segments: 742_001,
        payload_bytes: 801_234_567,
        retransmitted_segments: 2310,
        missing_segments: 2_300,
        frames: 1_812_330,
        published: 201_112,
        delivered: 198_400,
        publish_segments: 593_021,
        unread_bytes: 0,
        round_trips: RoundTrips {
            count: 50_000,
            min: 212 * MICROSECOND,
            mean: 1_420 * MICROSECOND,
            max: 44 * MILLISECOND,
        },
        client_zero_window: ZeroWindowTime {
            sum_nanos: 18 * SECOND,
            longest_nanos: 16_200 * MILLISECOND,
            connections: 3,
        },
        broker_zero_window: ZeroWindowTime::default(),
    }
}

/// Returns shares like those of `tshark -z plen,tree`.
fn sizes() -> Vec<SizeBin> {
    let counts = [0, 0, 61_000, 90_400, 1_003_312, 22_100, 11_012, 15_517, 100, 0];
    let bin = |at: usize| {
        let packets = counts[at];
        let from = SIZE_BINS[at];
        let to = SIZE_BINS.get(at + 1).map(|next| next - 1);
        let (min, max) = if packets == 0 { (0, 0) } else { (from + 6, to.unwrap_or(65_549)) };
        SizeBin { from, to, packets, bytes: packets * u64::from(from + from / 3), min, max }
    };
    (0..SIZE_BINS.len()).map(bin).collect()
}

fn writes() -> WriteSizes {
    WriteSizes {
        writes: vec![(16, 90_000), (32, 210_400), (64, 12_000), (1024, 41_234), (4096, 900)],
        reads: vec![(64, 2000), (128, 31_000), (1024, 140_000), (16_384, 8000)],
    }
}

fn frames() -> Vec<FrameCount> {
    let kinds = [
        ("AMQP 0-9-1", "body", Side::Client, 201_112, 210_000_000),
        ("AMQP 0-9-1", "header", Side::Client, 201_112, 4_424_464),
        ("AMQP 0-9-1", "basic.publish", Side::Client, 201_112, 10_000_000),
        ("AMQP 0-9-1", "basic.deliver", Side::Broker, 198_400, 18_000_000),
        ("AMQP 0-9-1", "basic.ack", Side::Client, 198_000, 4_158_000),
        ("AMQP 0-9-1", "basic.ack", Side::Broker, 12_100, 254_100),
        ("AMQP 0-9-1", "queue.declare", Side::Client, 3, 180),
        ("RabbitMQ stream", "Publish", Side::Client, 900, 1_200_000),
        ("AMQP 0-9-1", "heartbeat", Side::Broker, 4, 32),
    ];
    let frame = |(protocol, kind, from, frames, bytes): (&str, &str, Side, u64, u64)| FrameCount {
        protocol: protocol.to_owned(),
        kind: kind.to_owned(),
        from,
        frames,
        bytes,
    };
    kinds.map(frame).into()
}

fn latencies(factor: u64) -> Vec<LatencyReport> {
    let of = |kind, count: u64, median: u64, tail: u64| LatencyReport {
        kind,
        mean: 1.3 * (factor * median) as f64,
        min: factor * median / 6,
        percentiles: Percentiles {
            count,
            p50: factor * median,
            p95: factor * (median + tail / 4),
            p99: factor * (median + tail / 2),
            p999: factor * (median + tail),
            p9999: factor * (median + tail),
            max: factor * (median + 2 * tail),
        },
        unmatched: Unmatched { open: 12, unknown_begin: 3, ..Unmatched::default() },
    };
    vec![
        of(LatencyKind::PublishToConfirm, 201_100, 620 * MICROSECOND, 21 * MILLISECOND),
        of(LatencyKind::DeliverToAck, 198_000, 44 * MILLISECOND, 16 * SECOND),
        of(LatencyKind::RequestToReply, 40_000, 2 * MILLISECOND, 9 * MILLISECOND),
        of(LatencyKind::Method, 61, 310 * MICROSECOND, 2 * MILLISECOND),
    ]
}

/// Returns a connection; the first few have their own troubles.
pub(super) fn connection(at: u64) -> ConnectionReport {
    let is_slow_reader = at < 3;
    let zero = if is_slow_reader { 6 * SECOND - at * SECOND } else { 0 };
    let client = DirectionReport {
        zero_windows: zero / SECOND,
        zero_window_nanos: zero,
        longest_zero_window_nanos: zero / 2,
        delayed_ack_stalls: if at == 4 { 271 } else { 0 },
        retransmitted_segments: if at % 5 == 3 { 120 } else { 0 },
        retransmitted_bytes: if at % 5 == 3 { 173_760 } else { 0 },
        ..direction(at, LimitShares { busy: 0.2, receiver_window: 0.004, idle: 0.8 })
    };
    let limited = if is_slow_reader { 0.71 } else { 0.0 };
    ConnectionReport {
        client: format!("10.20.{}.{}:{}", at / 200, 17 + at % 200, 40_000 + at),
        broker: "10.20.0.5:5672".to_owned(),
        protocol: if at == 7 { String::new() } else { "AMQP 0-9-1".to_owned() },
        from_the_start: at.is_multiple_of(2),
        first: Timestamp::from_unix_nanos(BEGIN),
        last: Timestamp::from_unix_nanos(BEGIN + 12 * SECOND),
        ended: if at == 2 { "reset by the broker".to_owned() } else { String::new() },
        from_client: client,
        from_broker: DirectionReport {
            max_window: (at.is_multiple_of(2)).then_some(65_535),
            ..direction(
                at + 3,
                LimitShares { busy: 0.3 + limited * 0.9, receiver_window: limited, idle: 0.06 },
            )
        },
        messages: MessageFigures::default(),
        frames: Vec::new(),
        latencies: latencies(1 + at % 3)
            .into_iter()
            .take(if at.is_multiple_of(2) { 1 } else { 2 })
            .collect(),
        channels: 1 + at % 4,
        kernel_round_trip_nanos: None,
    }
}

fn direction(at: u64, limits: LimitShares) -> DirectionReport {
    DirectionReport {
        segments: 61_000 / (at + 1),
        data_segments: 40_000 / (at + 1),
        pure_acks: 21_000 / (at + 1),
        payload_bytes: 96_000_000 / (at + 1),
        unique_bytes: 95_000_000 / (at + 1),
        median_payload: 1_038,
        max_segment_size: Some(1460),
        window_scale_known: true,
        max_in_flight: 43_000,
        max_window: Some(3_144_704),
        round_trips: RoundTrips {
            count: 900,
            min: 200 * MICROSECOND,
            mean: MILLISECOND,
            max: 44 * MILLISECOND,
        },
        limits,
        ..DirectionReport::default()
    }
}

pub(super) fn socket(at: u64) -> SocketReport {
    SocketReport {
        local: "10.20.0.5:5672".to_owned(),
        remote: format!("10.20.0.{}:{}", 17 + at, 40_000 + at),
        of_broker: true,
        outgoing: false,
        observed_nanos: 12_400 * MILLISECOND,
        busy: (at != 5).then_some(0.9 / (at + 1) as f64),
        receiver_limited: (at != 5).then_some(0.7 / (at * at + 1) as f64),
        send_buffer_limited: (at != 5).then_some(0.05 / (at + 1) as f64),
        sent_bytes: Some(64_000_000 / (at + 1)),
        data_segments_sent: Some(44_000 / (at + 1)),
        received_bytes: Some(44_000_000),
        data_segments_received: Some(31_000),
        retransmitted: Some(if at == 3 { 44 } else { 0 }),
        min_round_trip_nanos: Some(210 * MICROSECOND),
        max_unsent_bytes: Some(if at < 3 { 2_400_000 } else { 0 }),
        max_unread_bytes: Some(0),
    }
}

/// Rule, severity, sentence, evidence and fix: one for each rule but two.
const TEXTS: [(FindingRule, Severity, &str, &str, &str); 8] = [
    (
        FindingRule::ZeroWindow,
        Severity::Critical,
        "three consumers had no room for what the broker sends, for 16.2 s at a time",
        "the window was 0 for 18.0 s in all; 30 s make the broker's write fail and close the connection",
        "lower the prefetch of these consumers, or make them read faster",
    ),
    (
        FindingRule::DelayedAcknowledgement,
        Severity::Warning,
        "a publisher waits for delayed acknowledgements, 271 times",
        "a small segment is followed by an acknowledgement after 40 ms and by the next segment within 1 ms: 23 publishes a second",
        "set TCP_NODELAY in the client, or write method, header and body at once",
    ),
    (
        FindingRule::FrameByFrame,
        Severity::Warning,
        "publishers send method, header and body in segments of their own",
        "2.95 segments a publish, 47,800 segments/s.",
        "write the whole publish, then flush once",
    ),
    (
        FindingRule::CaptureLoss,
        Severity::Warning,
        "the capture lost 1,234 of 1,204,675 packets",
        "the ring of 64 MiB was full 3 times",
        "give --ring 256MiB, or capture fewer ports",
    ),
    (
        FindingRule::ReceiverLimited,
        Severity::Warning,
        "the readers are slower than the broker on 3 connections",
        "the receiver's window was full in 71 % of the time",
        "Look at the consumers.",
    ),
    (
        FindingRule::AckPerMessage,
        Severity::Note,
        "consumers acknowledge every message by itself",
        "98.4 % of 198,000 acknowledgements are for one message, one a segment.",
        "acknowledge several with multiple = true",
    ),
    (
        FindingRule::SmallPackets,
        Severity::Note,
        "Packets are small.",
        "the median payload is 140 bytes at 96,000 packets/s",
        "Batch publishes.",
    ),
    (
        FindingRule::ApplicationLimited,
        Severity::Note,
        "21 connections had nothing to send in most of the time.",
        "Busy in 20 % of the time.",
        "publish with more messages unconfirmed",
    ),
];

pub(super) fn findings() -> Vec<Finding> {
    let connection =
        |number| format!("10.20.0.{}:{} -> 10.20.0.5:5672", 17 + number, 40_000 + number);
    let finding = |((rule, severity, sentence, evidence, fix), at): (_, u64)| Finding {
        rule,
        severity,
        source: SourceLevel::Packets,
        sentence: str::to_owned(sentence),
        evidence: str::to_owned(evidence),
        fix: str::to_owned(fix),
        connections: (0..10.min(3 + at)).map(connection).collect(),
        connections_in_all: 3 + 4 * at,
        packets: (1..=10).map(|number| number * 1217 + at).collect(),
    };
    TEXTS.into_iter().zip(0..).map(finding).collect()
}
