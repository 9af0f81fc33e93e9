//! A capture file from its first byte to the report and the packets that are written again: figures agree with each other, and
//! of a packet nothing is written but what it has, or zeros.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_wire::{
    analyzer::{Analyzer, AnalyzerOptions, Payload},
    capture::PacketReader,
    decode::decode_inner,
};
use rabbitscope_workload::{
    Measurements, Observer, Origin, Topology, Verdict, anonymous, compare, model, scenario,
};

fuzz_target!(|file: &[u8]| {
    let Ok(mut reader) = PacketReader::new(file) else { return };
    let options = AnalyzerOptions {
        written: Some(Payload::WithoutBodies),
        max_rows: 4,
        ..AnalyzerOptions::new("fuzz")
    };
    let (mut analyzer, mut written) = (Analyzer::with_listener(options, Observer::default()), Vec::new());
    let (mut packets, mut analyzed) = (0, 0);
    while let Ok(Some(packet)) = reader.next() {
        packets += 1;
        if analyzer.decoded_to_write(&packet, &decode_inner(&packet), &mut written) {
            analyzed += 1;
            assert_eq!(written.len(), packet.data.len());
            assert!(
                written.iter().zip(packet.data).all(|(ours, theirs)| [0, *theirs].contains(ours))
            );
        }
    }
    let (report, observer) = analyzer.finish_listening();
    let (mut flows, mut topology) = (observer.finish(), Topology::default());
    let named = model(&flows, topology.clone());
    assert!(!scenario(&named, &Origin::default(), 1).is_empty());
    let measured = Measurements::from_model(&named, &flows);
    let read = Measurements::from_json(&measured.to_json()).expect("it was just written");
    assert!(compare(&read, &read).verdict() != Verdict::Differs);
    anonymous(&mut flows, &mut topology);
    assert!(!scenario(&model(&flows, topology), &Origin::default(), 1).is_empty());
    let capture = report.capture.expect("packets were read");
    assert_eq!((capture.packets, report.totals.segments), (packets, analyzed));
    assert_eq!(report.sizes.iter().map(|bin| bin.packets).sum::<u64>(), analyzed);
    assert!(report.connections.len() <= 4);
    let rows = report.connections.len() as u64 + report.connections_without_row;
    assert_eq!(rows, report.totals.connections);
    assert!(
        report
            .findings
            .iter()
            .all(|finding| finding.packets.iter().all(|packet| *packet <= packets))
    );
});
