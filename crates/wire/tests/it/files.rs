//! Capture files against Wireshark's tools, in both directions: we read their files, and they read ours.

use std::{
    fs::{self, File},
    path::Path,
};

use rabbitscope_wire::{
    capture::{PacketReader, PacketWriter},
    packet::{LinkType, Packet, Timestamp},
};

use crate::{
    talk::Random,
    tools::{missing, not_run, output},
};

/// Returns number, time, length and captured length of each packet, as tshark prints them.
fn of_tshark(file: &Path) -> Vec<String> {
    let fields =
        "-n -T fields -e frame.number -e frame.time_epoch -e frame.len -e frame.cap_len -r";
    output("tshark", fields, &[file]).lines().map(str::to_owned).collect()
}

fn own(file: &Path) -> Vec<String> {
    let mut reader = PacketReader::new(File::open(file).unwrap()).unwrap();
    let mut lines = Vec::new();
    while let Some(packet) = reader.next().unwrap() {
        let nanos = packet.time.unix_nanos();
        let (seconds, fraction) = (nanos / 1_000_000_000, nanos % 1_000_000_000);
        let (number, length, captured) = (packet.number, packet.length, packet.data.len());
        lines.push(format!("{number}\t{seconds}.{fraction:09}\t{length}\t{captured}"));
    }
    lines
}

/// Writes packets of every length up to about 1,500, of one interface or two, some with a comment.
fn write_some(file: &Path, interfaces: usize) {
    let mut random = Random(3);
    let mut writer = PacketWriter::new(File::create(file).unwrap(), "rabbitscope 0.1.0").unwrap();
    let described = [(LinkType::Ethernet, "lo"), (LinkType::Raw, "tun0")];
    let described: Vec<_> = described[..interfaces]
        .iter()
        .map(|(link, name)| (*link, writer.interface(*link, 262_144, name).unwrap()))
        .collect();
    let mut nanos = 1_700_000_000_000_000_001;
    for number in 1..=100 {
        nanos += u64::try_from(random.below(1_000_000_000)).unwrap();
        let length = 14 + random.below(1500);
        let captured = length - random.below(length / 2);
        let data = random.bytes(captured);
        let (link, interface) = described[random.below(interfaces)];
        let packet = Packet {
            number,
            time: Timestamp::from_unix_nanos(nanos),
            link,
            length: u32::try_from(length).unwrap(),
            data: &data,
        };
        let comment = format!("packet {number}");
        writer.packet(interface, &packet, number.is_multiple_of(10).then_some(&*comment)).unwrap();
    }
    for (_, interface) in described {
        writer.statistics(interface, Timestamp::from_unix_nanos(nanos), 120, 20).unwrap();
    }
    writer.finish().unwrap();
}

#[test]
fn what_we_write_wireshark_reads() {
    if let Some(reason) = missing(&["tshark", "capinfos"]) {
        return not_run(&reason);
    }
    let directory = tempfile::tempdir().unwrap();
    let file = directory.path().join("ours.pcapng");
    write_some(&file, 2);
    assert_eq!(of_tshark(&file), own(&file));
    let comments = output("tshark", "-n -T fields -e frame.comment -Y frame.comment -r", &[&file]);
    let expected: Vec<String> = (1..=10).map(|ten| format!("packet {ten}0")).collect();
    assert_eq!(comments.lines().collect::<Vec<_>>(), expected);
    let information = output("capinfos", "", &[&file]);
    for part in ["rabbitscope 0.1.0", "Name = lo", "Name = tun0", "nanoseconds (9)"] {
        assert!(information.contains(part), "{part} is not in {information}");
    }
    assert!(information.contains("Number of interfaces in file: 2"), "{information}");
}

#[test]
fn what_wireshark_writes_we_read() {
    if let Some(reason) = missing(&["tshark", "editcap"]) {
        return not_run(&reason);
    }
    let directory = tempfile::tempdir().unwrap();
    // The older formats have one interface for all packets.
    let ours = directory.path().join("ours.pcapng");
    write_some(&ours, 1);
    for arguments in ["-F pcap", "-F nsecpcap", "-F pcapng", "-F pcapng -s 60", "-F nsecpcap -t -7"]
    {
        let theirs = directory.path().join("theirs");
        output("editcap", arguments, &[&ours, &theirs]);
        let lines = own(&theirs);
        assert_eq!(lines.len(), 100);
        assert_eq!(lines, of_tshark(&theirs), "{arguments}");
        // A file that is cut short is read up to the cut.
        let bytes = fs::read(&theirs).unwrap();
        fs::write(&theirs, &bytes[..bytes.len() - 5]).unwrap();
        let mut reader = PacketReader::new(File::open(&theirs).unwrap()).unwrap();
        let mut packets = 0;
        let error = loop {
            match reader.next() {
                Ok(Some(_)) => packets += 1,
                Ok(None) => panic!("{arguments}: the end was not missed"),
                Err(error) => break error.to_string(),
            }
        };
        assert!(packets >= 99 && error.contains("the capture ends at byte"), "{packets} {error}");
    }
}
