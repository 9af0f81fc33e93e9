//! Captures that are written without values: they contain no application data, and tshark reads the same frames in
//! them.

use std::{fs, path::Path};

use rabbitscope_wire::{
    analyzer::{Analyzer, AnalyzerOptions, Payload},
    capture::PacketWriter,
    decode::decode_inner,
    packet::{LinkType, Packet, Timestamp},
};

use crate::{
    dissectors::{BODY, Built, SECRET, from_the_beginning},
    talk::Random,
    tools::{missing, not_run, output},
};

const CLIENT: u16 = 40_000;
/// Enough bytes to detect the protocol at the beginning.
const SEGMENT_MIN: usize = 16;
const SEGMENT_MAX: usize = 300;

/// A capture file as captured, and as it may be written.
struct Files {
    raw: Vec<u8>,
    written: Vec<u8>,
}

/// Returns a direction in segments of random lengths.
fn captured(built: &Built, port: u16, payload: Payload, seed: u64) -> Files {
    let mut random = Random(seed);
    let options = AnalyzerOptions { written: Some(payload), ..AnalyzerOptions::new("test") };
    let mut analyzer = Analyzer::new(options);
    let writers = [(); 2].map(|()| PacketWriter::new(Vec::new(), "test").unwrap());
    let [mut raw, mut written] = writers;
    let interfaces =
        [&mut raw, &mut written].map(|writer| writer.interface(LinkType::Raw, 0, "test").unwrap());
    let (mut from, mut number) = (0, 0);
    while from < built.bytes.len() {
        let end = built.bytes.len().min(from + SEGMENT_MIN + random.below(SEGMENT_MAX));
        let data = segment(port, u32::try_from(1000 + from).unwrap(), &built.bytes[from..end]);
        number += 1;
        let packet = Packet {
            number,
            time: Timestamp::from_unix_nanos(number * 1_000_000),
            length: u32::try_from(data.len()).unwrap(),
            link: LinkType::Raw,
            data: &data,
        };
        raw.packet(interfaces[0], &packet, None).unwrap();
        let mut out = Vec::new();
        assert!(analyzer.decoded_to_write(&packet, &decode_inner(&packet), &mut out));
        assert_eq!(out.len(), data.len());
        written.packet(interfaces[1], &Packet { data: &out, ..packet }, None).unwrap();
        from = end;
    }
    Files { raw: raw.finish().unwrap(), written: written.finish().unwrap() }
}

/// Returns a packet of IPv4 and TCP without a link header.
fn segment(port: u16, sequence: u32, payload: &[u8]) -> Vec<u8> {
    let length = u16::try_from(40 + payload.len()).unwrap().to_be_bytes();
    let internet =
        [&[0x45, 0][..], &length, &[0, 0, 0, 0, 64, 6, 0, 0], &[10, 0, 0, 1, 10, 0, 0, 2]];
    let transport = [
        &CLIENT.to_be_bytes()[..],
        &port.to_be_bytes(),
        &sequence.to_be_bytes(),
        &[0, 0, 0, 1, 0x50, 0x10, 0xff, 0xff, 0, 0, 0, 0],
    ];
    [&internet.concat()[..], &transport.concat(), payload].concat()
}

fn holds(bytes: &[u8], word: &[u8]) -> bool {
    bytes.windows(word.len()).any(|window| window == word)
}

#[test]
fn no_value_of_an_application_is_written() {
    for seed in 0..8 {
        for built in from_the_beginning(seed) {
            let files = captured(&built, 5672, Payload::WithoutBodies, seed);
            // The content of TLS records is random.
            let has_secrets = !built.sensitive.is_empty();
            assert_eq!(holds(&files.raw, SECRET) || holds(&files.raw, BODY), has_secrets);
            let place = format!("{:?}, seed {seed}", built.protocol);
            assert!(!holds(&files.written, SECRET) && !holds(&files.written, BODY), "{place}");
        }
    }
}

#[test]
fn with_payload_values_are_written_and_credentials_are_not() {
    let built = from_the_beginning(1).next().unwrap();
    let files = captured(&built, 5672, Payload::WithBodies, 1);
    assert!(holds(&files.written, BODY) && holds(&files.written, SECRET));
    let start = usize::try_from(built.frames[1].0.end).unwrap();
    let built = Built { bytes: built.bytes[..start].to_owned(), ..built };
    let files = captured(&built, 5672, Payload::WithBodies, 1);
    assert!(!holds(&files.written, SECRET), "the client's properties");
}

#[test]
fn tshark_reads_the_same_frames() {
    if let Some(reason) = missing(&["tshark"]) {
        return not_run(&reason);
    }
    let place = tempfile::tempdir().unwrap();
    for seed in 0..1 {
        for built in from_the_beginning(seed) {
            let files = captured(&built, 5672, Payload::WithoutBodies, seed);
            let (raw, written) = (place.path().join("raw.pcapng"), place.path().join("w.pcapng"));
            fs::write(&raw, &files.raw).unwrap();
            fs::write(&written, &files.written).unwrap();
            assert_eq!(frames(&written, &built), frames(&raw, &built), "{:?}", built.protocol);
        }
    }
}

/// Returns a line for each packet, with the kinds of its frames and whether tshark considers it malformed.
fn frames(file: &Path, built: &Built) -> String {
    let dissector = match format!("{:?}", built.protocol).as_str() {
        "Mqtt" => "mqtt",
        "Tls" => "tls",
        _ => "amqp",
    };
    let fields = "-e frame.number -e amqp.type -e amqp.method.class -e amqp.method.method \
                  -e amqp.performative -e mqtt.msgtype -e mqtt.topic -e tls.record.length -e _ws.malformed";
    let arguments = format!("-n -d tcp.port==5672,{dissector} -T fields {fields} -r");
    output("tshark", &arguments, &[file])
}
