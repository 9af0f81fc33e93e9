//! Every part of any report stands on its page.

use rabbitscope_wire::{
    packet::Timestamp,
    report::{
        ConnectionReport, Ladder, LadderFrame, PacketReport, PictureSegment, SegmentKind, Side,
        TimeSequence, WindowPoint, WriteSizes,
    },
};

use serde_json::Value;

use super::report::{connection, full, sockets_alone};
use crate::{
    checks::{capitalised, sentence},
    packets::{document::document, write_packets},
};

/// Returns the data of the page. Asserts that nothing in the page can end its script.
fn data(report: &PacketReport) -> Value {
    let mut page = Vec::new();
    write_packets(&mut page, report).unwrap();
    let page = String::from_utf8(page).unwrap();
    assert_eq!(page.matches("</script>").count(), 2);
    serde_json::to_value(document(report)).unwrap()
}

/// Returns all texts of the data, in order.
fn texts(data: &Value) -> Vec<&str> {
    match data {
        Value::String(text) => vec![text],
        Value::Array(parts) => parts.iter().flat_map(texts).collect(),
        Value::Object(fields) => fields.values().flat_map(texts).collect(),
        _ => Vec::new(),
    }
}

fn has(data: &Value, text: &str) {
    assert!(texts(data).iter().any(|found| found.contains(text)), "{text}");
}

fn section<'a>(data: &'a Value, id: &str) -> &'a Value {
    let sections = data["sections"].as_array().unwrap();
    sections.iter().find(|section| section["id"] == id).unwrap_or(&Value::Null)
}

/// Returns the marks with this name in all charts of a section.
fn marks(section: &Value, is_mine: impl Fn(&Value) -> bool) -> Vec<&Value> {
    let blocks = section["blocks"].as_array().unwrap().iter();
    let charts = blocks.filter_map(|block| block["charts"].as_array()).flatten();
    let marks = charts.flat_map(|chart| chart["marks"].as_array().unwrap());
    marks.filter(|mark| is_mine(mark)).collect()
}

fn items(marks: &[&Value]) -> usize {
    marks.iter().map(|mark| mark["x"].as_array().unwrap().len()).sum()
}

#[test]
fn findings_come_first_and_nothing_is_missing() {
    let report = full();
    let data = data(&report);
    let found = &section(&data, "findings")["blocks"][0]["findings"];
    for (at, finding) in report.findings.iter().enumerate() {
        assert_eq!(found[at]["sentence"], sentence(&finding.sentence));
        for text in [&finding.evidence, &finding.fix] {
            has(&found[at], &sentence(text));
        }
        finding.connections.iter().for_each(|connection| has(&found[at], connection));
    }
    let connections = section(&data, "connections");
    report.connections.iter().for_each(|connection| has(connections, &connection.client));
    report.sockets.iter().for_each(|socket| has(section(&data, "sockets"), &socket.remote));
    report.frames.iter().for_each(|frame| has(section(&data, "frames"), &frame.kind));
    report.sources.iter().for_each(|source| has(section(&data, "sources"), &source.note));
    let sequences = section(&data, "sequences");
    report.time_sequences.iter().for_each(|sequence| has(sequences, &capitalised(&sequence.title)));
    for latency in ["publish → confirm", "deliver → ack", "request → reply", "method → answer"]
    {
        has(section(&data, "latencies"), latency);
    }
    has(&data, "The capture lost 1,234 packets.");
    let most = &section(&data, "sizes")["blocks"][0]["rows"][4][1]["value"];
    assert!((most.as_f64().unwrap() - 0.834).abs() < 0.0005, "{most}");
    assert_eq!(
        (&data["sections"][0]["id"], &data["sections"][1]["id"]),
        (&"findings".into(), &"sources".into())
    );
    let bytes = serde_json::to_vec(&data).unwrap().len();
    assert!(bytes < 4 << 20, "{bytes} bytes");
}

#[test]
fn every_segment_is_drawn_and_marked() {
    let report = full();
    let data = data(&report);
    let sequences = section(&data, "sequences");
    let segments = || report.time_sequences.iter().flat_map(|sequence| &sequence.segments);
    let of = |kind| segments().filter(|segment| segment.kind == kind).count();
    assert!(of(SegmentKind::Retransmitted) > 3 && of(SegmentKind::OutOfOrder) > 3);
    let drawn = |name: &str| items(&marks(sequences, |mark| mark["name"] == name));
    assert_eq!(items(&marks(sequences, |mark| mark["kind"] == "intervals")), segments().count());
    assert_eq!(drawn("retransmitted"), of(SegmentKind::Retransmitted));
    assert_eq!(drawn("out of order"), of(SegmentKind::OutOfOrder));
    let steps = |hue: &str| marks(sequences, |mark| mark["kind"] == "steps" && mark["hue"] == hue);
    assert_eq!(steps("good").len(), 4, "acknowledged");
    assert_eq!(steps("soft").len(), 2, "room: near, not known, far above");
    has(sequences, "the scale of its windows was not captured");
    has(sequences, "always had room beyond the top of the picture");
    assert!(drawn("zero window") >= 3);
}

#[test]
fn a_long_ladder_is_bounded_and_answers_have_their_latency() {
    let data = data(&full());
    let ladders = section(&data, "ladders");
    let rows = |block: &Value| block["rows"].as_array().map_or(0, Vec::len);
    assert_eq!(ladders["blocks"].as_array().unwrap().iter().map(rows).sum::<usize>(), 40 + 9);
    has(ladders, "20,324 frames more of this channel.");
    let values = |column: usize| -> Vec<f64> {
        let tables = ladders["blocks"].as_array().unwrap().iter();
        let rows = tables.filter_map(|block| block["rows"].as_array()).flatten();
        rows.filter_map(|row| row[column]["value"].as_f64()).collect()
    };
    assert!(values(4).iter().any(|after| (after / 1e6 - 44.7).abs() < 0.05));
    assert!(values(0).iter().any(|gap| (gap / 1e9 - 2.1).abs() < 0.005));
}

#[test]
fn nothing_found_says_what_was_checked() {
    let data = data(&PacketReport { findings: Vec::new(), ..full() });
    let findings = section(&data, "findings");
    has(findings, "Nothing found.");
    has(findings, "Judged and not found: losses of the capture, wrong protocols, ");
    assert!(!texts(findings).iter().any(|text| text.contains("Not judged")));
}

#[test]
fn without_packets_sockets_are_left() {
    let data = data(&sockets_alone());
    has(&data, "CAP_NET_RAW is missing");
    has(&data, "No packets were captured");
    has(&data, "Judged and not found: wrong protocols, ");
    has(&data, "losses of the capture: TCP segments <were> not seen");
    for id in ["latencies", "sequences", "ladders", "connections", "frames", "sizes"] {
        assert_eq!(section(&data, id), &Value::Null, "{id}");
    }
}

#[test]
fn an_empty_report_is_a_page_as_well() {
    let data = data(&PacketReport::default());
    has(&data, "Nothing could be judged:");
    assert_eq!(data["facts"][0], "Nothing was seen.");
    assert!(!texts(&data).contains(&"charts"));
}

#[test]
fn many_connections_are_rows_of_one_table() {
    let connections = (0..500).map(connection).collect();
    let data = data(&PacketReport { connections, connections_without_row: 2500, ..full() });
    let section = section(&data, "connections");
    assert_eq!(section["blocks"][0]["rows"].as_array().unwrap().len(), 1000);
    has(section, "2,500 connections more with fewer bytes");
}

#[test]
fn one_connection_without_anything_is_a_row() {
    let report =
        PacketReport { connections: vec![ConnectionReport::default()], ..PacketReport::default() };
    has(&data(&report), "unknown protocol");
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
    assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains('\u{1}'));
    let data = data(&report);
    assert!(texts(&data).iter().filter(|text| text.contains("<img src=x")).count() > 20);
}

#[test]
fn absurd_values_are_data() {
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
    let data = data(&report);
    let sequence = &section(&data, "sequences")["blocks"][1]["charts"][0];
    let ends = [&sequence["x"]["to"], &sequence["y"]["to"]].map(|end| end.as_f64().unwrap());
    assert!(ends[0] >= 0.0 && ends[1] > 0.0, "{ends:?}");
}
