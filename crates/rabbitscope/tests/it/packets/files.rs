//! Wrong input, and damaged files.

use std::fs;

use rabbitscope_testing::{Workbench, is_root};

#[test]
fn what_cannot_be_is_refused() {
    let bench = Workbench::new("wrong-packets");
    bench.file("text.pcap", "no capture at all");
    fs::create_dir(bench.path("directory.pcap")).unwrap();
    for (arguments, code, parts) in [
        ("--pcap nowhere.pcap", 2, &["nowhere.pcap"][..]),
        ("--pcap text.pcap", 1, &["text.pcap", "pcap"]),
        ("--pcap directory.pcap", 2, &["directory.pcap"]),
        ("--pcap text.pcap --interface lo", 2, &["--interface"]),
        ("--pcap text.pcap -o x.csv", 2, &[".pcapng"]),
        ("--port 5672 --payload", 2, &["--payload", ".pcapng"]),
        ("--port 5672 -o a.pcapng -o b.pcapng", 2, &["one .pcapng"]),
        ("--port 5672 -o nowhere/p.html", 1, &["nowhere/p.html"]),
        ("--port 0", 2, &["0 is not a valid TCP port"]),
        ("--port 5672 --interface nowhere0 --duration 1s", 2, &["nowhere0", "ip link"]),
        ("--node nobody@nowhere --duration 1s", 5, &["nobody"]),
    ] {
        if arguments.contains("nowhere0") && !is_root() {
            continue;
        }
        bench.rabbitscope(&format!("packets {arguments}")).code(code).says(parts);
    }
    assert!(!bench.path("a.pcapng").exists());
}

/// A file of the older format with one packet, cut in the second.
#[test]
fn a_file_that_ends_in_a_packet_gives_what_was_before() {
    let bench = Workbench::new("cut-packets");
    let header = [
        &0xa1b2_c3d4_u32.to_le_bytes()[..],
        &[2, 0, 4, 0],
        &[0; 8],
        &65_535_u32.to_le_bytes(),
        &101_u32.to_le_bytes(),
    ]
    .concat();
    // A SYN from 192.0.2.1:40000 to 192.0.2.2:5672, by IPv4 without a link's header.
    let mut packet = vec![0x45, 0, 0, 40, 0, 0, 0, 0, 64, 6, 0, 0, 192, 0, 2, 1, 192, 0, 2, 2];
    packet.extend(40_000_u16.to_be_bytes());
    packet.extend(5_672_u16.to_be_bytes());
    packet.extend([0, 0, 0, 1, 0, 0, 0, 0, 0x50, 2, 4, 0, 0, 0, 0, 0]);
    let length = u32::try_from(packet.len()).unwrap().to_le_bytes();
    // The same packet at the same time would count as one that was captured twice.
    let record =
        |second: u32| [&second.to_le_bytes()[..], &[0; 4], &length, &length, &packet].concat();
    let whole = [&header[..], &record(1), &record(2)].concat();
    fs::write(bench.path("whole.pcap"), &whole).unwrap();
    fs::write(bench.path("cut.pcap"), &whole[..whole.len() - 7]).unwrap();
    let report = bench.rabbitscope("packets --pcap whole.pcap --json").code(0).json();
    assert_eq!(
        (&report["totals"]["segments"], &report["totals"]["connections"]),
        (&2.into(), &1.into())
    );
    let ended = bench.rabbitscope("packets --pcap cut.pcap").code(1);
    assert!(ended.stdout.contains("1 packets") && ended.stdout.contains("cut.pcap"), "{ended:?}");
}
