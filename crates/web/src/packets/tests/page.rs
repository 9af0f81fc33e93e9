//! Every part of any report stands on its page.

use rabbitscope_wire::{
    packet::Timestamp,
    report::{
        ConnectionReport, Ladder, LadderFrame, PacketReport, PictureSegment, SegmentKind, Side,
        TimeSequence, WindowPoint, WriteSizes,
    },
};

use super::{
    report::{connection, full, sockets_alone},
    shape::assert_well_formed,
};
use crate::{
    checks::capitalised,
    escape::Markup,
    packets::{words, write_packets},
};

fn page(report: &PacketReport) -> String {
    let mut page = Vec::new();
    write_packets(&mut page, report).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_well_formed(&page);
    for absurd in ["NaN", ">inf", "\"inf", ",inf", "script"] {
        assert!(!page.contains(absurd), "{absurd}");
    }
    page
}

/// Saves a page for inspection, in the folder that the variable names.
fn keep(name: &str, page: &str) {
    if let Some(folder) = std::env::var_os("RABBITSCOPE_PAGES") {
        std::fs::write(std::path::Path::new(&folder).join(name), page).unwrap();
    }
}

#[test]
fn findings_come_first_and_nothing_is_missing() {
    let report = full();
    let page = page(&report);
    keep("packets.html", &page);
    let has = |text: &str| assert!(page.contains(&Markup(text).to_string()), "{text}");
    for finding in &report.findings {
        for text in [&finding.sentence, &finding.evidence, &finding.fix] {
            has(&words::sentence(text));
        }
        finding.connections.iter().for_each(|connection| has(connection));
    }
    report.connections.iter().for_each(|connection| has(&connection.client));
    report.sockets.iter().for_each(|socket| has(&socket.remote));
    report.frames.iter().for_each(|frame| has(&frame.kind));
    report.sources.iter().for_each(|source| has(&source.note));
    report.time_sequences.iter().for_each(|sequence| has(&capitalised(&sequence.title)));
    for latency in ["publish → confirm", "deliver → ack", "request → reply", "method → answer"]
    {
        has(latency);
    }
    has("The capture lost 1,234 packets.");
    has("83.4 %");
    let first_finding = page.find(&words::sentence(&report.findings[0].sentence)).unwrap();
    assert!(first_finding < page.find("id=\"sources\"").unwrap());
    assert!(page.len() < 4 << 20, "{} bytes", page.len());
}

#[test]
fn every_segment_is_drawn_and_marked() {
    let report = full();
    let page = page(&report);
    let segments = || report.time_sequences.iter().flat_map(|sequence| &sequence.segments);
    assert_eq!(page.matches("<title>packet ").count(), segments().count());
    let of = |kind| segments().filter(|segment| segment.kind == kind).count();
    assert!(of(SegmentKind::Retransmitted) > 3 && of(SegmentKind::OutOfOrder) > 3);
    assert_eq!(page.matches(">R</text>").count(), of(SegmentKind::Retransmitted));
    assert_eq!(page.matches(">O</text>").count(), of(SegmentKind::OutOfOrder));
    assert_eq!(page.matches("<path class=\"acknowledged\"").count(), 4);
    assert_eq!(page.matches("<path class=\"room\"").count(), 2, "near, not known, far above");
    assert!(page.contains("the scale of its windows was not captured"));
    assert!(page.contains("room for more than the whole height of the picture"));
    assert!(page.matches("<rect class=\"zero\"").count() >= 3);
}

#[test]
fn a_long_ladder_is_bounded_and_answers_have_their_latency() {
    let page = page(&full());
    assert_eq!(page.matches("<path class=\"arrow\"").count(), 40 + 9);
    assert!(page.contains("20,324 frames more of this channel."));
    assert!(page.contains(">after 44.7 ms</text>") && page.contains(">+ 2.10 s</text>"));
}

#[test]
fn nothing_found_says_what_was_checked() {
    let page = page(&PacketReport { findings: Vec::new(), ..full() });
    keep("packets-clean.html", &page);
    assert!(
        page.contains("Nothing found.")
            && page.contains("Judged and not found: losses of the capture, wrong protocols, ")
    );
    assert!(!page.contains("Not judged"));
}

#[test]
fn without_packets_sockets_are_left() {
    let page = page(&sockets_alone());
    keep("packets-sockets.html", &page);
    assert!(page.contains("CAP_NET_RAW is missing") && page.contains("No packets were captured"));
    assert!(page.contains("Judged and not found: wrong protocols, "));
    assert!(page.contains("<li>losses of the capture: TCP segments &lt;were&gt; not seen</li>"));
    for section in ["latencies", "sequences", "ladders", "connections", "frames", "sizes"] {
        assert!(!page.contains(&format!("id=\"{section}\"")), "{section}");
    }
}

#[test]
fn an_empty_report_is_a_page_as_well() {
    let page = page(&PacketReport::default());
    keep("packets-empty.html", &page);
    assert!(page.contains("Nothing could be judged:") && page.contains("Nothing was seen."));
    assert!(!page.contains("<svg"));
}

#[test]
fn many_connections_are_rows_of_one_table() {
    let connections = (0..500).map(connection).collect();
    let page = page(&PacketReport { connections, connections_without_row: 2500, ..full() });
    keep("packets-many.html", &page);
    assert_eq!(page.matches("scope=\"rowgroup\"").count(), 500);
    assert!(page.contains("2,500 connections more with fewer bytes"));
}

#[test]
fn one_connection_without_anything_is_a_row() {
    let report =
        PacketReport { connections: vec![ConnectionReport::default()], ..PacketReport::default() };
    assert!(page(&report).contains("unknown protocol"));
}

const HOSTILE: &str = "</style><script>alert(1)</script><img src=x onerror=\"a\">'&\u{1}";

#[test]
fn texts_from_outside_are_escaped() {
    let mut report = full();
    let hostile = || HOSTILE.to_owned();
    report.subject = hostile();
    report.sources[0].note = hostile();
    report.capture.as_mut().unwrap().damaged = Some(hostile());
    report.frames[0].kind = hostile();
    report.frames[0].protocol = hostile();
    let finding = &mut report.findings[0];
    for text in [&mut finding.sentence, &mut finding.evidence, &mut finding.fix] {
        *text = hostile();
    }
    finding.connections = vec![hostile()];
    let connection = &mut report.connections[0];
    for text in [
        &mut connection.client,
        &mut connection.broker,
        &mut connection.protocol,
        &mut connection.ended,
    ] {
        *text = hostile();
    }
    report.sockets[0].local = hostile();
    report.sockets[0].remote = hostile();
    let sequence = &mut report.time_sequences[0];
    sequence.title = hostile();
    sequence.connection = hostile();
    sequence.segments.iter_mut().for_each(|segment| segment.frame = hostile());
    report.ladders[0].connection = hostile();
    report.ladders[0].frames.iter_mut().for_each(|frame| frame.label = hostile());
    let mut page = Vec::new();
    write_packets(&mut page, &report).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_well_formed(&page);
    assert!(!page.contains("<script") && !page.contains("<img") && !page.contains('\u{1}'));
    assert_eq!(page.matches("</style>").count(), 1);
    assert!(page.matches("&lt;img src=x onerror=&quot;a&quot;&gt;").count() > 20);
}

#[test]
fn absurd_values_are_drawn_within_the_picture() {
    let segment = |nanos, offset, length| PictureSegment {
        nanos,
        offset,
        length,
        kind: SegmentKind::New,
        packet: u64::MAX,
        frame: String::new(),
        frames: u32::MAX,
    };
    let most = u64::MAX;
    let sequence = TimeSequence {
        connection: String::new(),
        from: Side::Client,
        title: String::new(),
        from_nanos: most,
        to_nanos: 0,
        segments: vec![segment(0, most, most), segment(most, 0, 0)],
        windows: vec![
            WindowPoint { nanos: most, acknowledged: most, room: Some(0) },
            WindowPoint { nanos: 0, acknowledged: 0, room: Some(most) },
        ],
        left_out: most,
    };
    let rung = |nanos| LadderFrame {
        nanos,
        from: Side::Broker,
        label: String::new(),
        bytes: most,
        packet: most,
        answers_after_nanos: Some(most),
    };
    let ladder = Ladder {
        connection: String::new(),
        channel: u32::MAX,
        frames: vec![rung(most), rung(0), rung(most)],
        left_out: most,
    };
    let mut report = full();
    report.time_sequences =
        vec![TimeSequence { segments: Vec::new(), ..sequence.clone() }, sequence];
    report.ladders = vec![ladder];
    report.writes = Some(WriteSizes { writes: vec![(1, most), (2, most)], reads: vec![] });
    let connection = &mut report.connections[0];
    connection.first = Timestamp::from_unix_nanos(most);
    connection.from_client.limits.busy = f64::NAN;
    connection.from_client.limits.idle = f64::INFINITY;
    connection.from_client.retransmitted_segments = most;
    report.sockets[0].busy = Some(-1.0);
    report.sizes[0].packets = most;
    report.latencies[0].mean = f64::NAN;
    report.latencies[0].percentiles.max = most;
    page(&report);
}
