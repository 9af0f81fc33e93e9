//! Packets of a conversation are captured once each, and no others. Lost ones are counted.

use std::{
    fs,
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant, SystemTime},
};

use rabbitscope_probe::packets::{PacketError, PacketRing, RingOptions};

use super::conversation::{Conversation, drain};

/// `ARPHRD_LOOPBACK`.
const LOOPBACK: u16 = 772;

#[track_caller]
fn check(address: &str, interface: &str) {
    let mut conversation = Conversation::on(address);
    let before = conversation.segments(None);
    let mut ring = PacketRing::open(&conversation.options(interface), None).unwrap();
    let begin = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();
    let bytes = conversation.exchange(500, 1000);
    let segments = conversation.segments(None) - before;
    let end = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap();

    let seen = drain(&mut ring);
    assert_eq!(seen.len() as u64, segments);
    assert_eq!(seen.iter().map(|packet| packet.payload).sum::<u64>(), bytes);
    for packet in &seen {
        assert!(packet.ports.contains(&conversation.port) && packet.is_whole, "{packet:?}");
        assert_eq!(
            (ring.interface_name(packet.interface).as_deref(), packet.hardware),
            (Some("lo"), LOOPBACK)
        );
        let time = Duration::from_nanos(packet.unix_nanos);
        assert!(begin <= time && time <= end, "{packet:?}, from {begin:?} to {end:?}");
    }
    assert!(seen.is_sorted_by_key(|packet| packet.unix_nanos));
    let counts = ring.statistics().unwrap();
    assert_eq!((counts.packets, counts.drops), (segments, 0), "{counts:?}");
}

#[test]
fn every_packet_of_loopback_is_seen_once() {
    check("127.0.0.1", "lo");
    check("127.0.0.1", "any");
    check("::1", "lo");
    check("::1", "any");
}

#[test]
fn packets_of_other_ports_are_not_seen() {
    let (mut wanted, mut other) = (Conversation::on("127.0.0.1"), Conversation::on("127.0.0.1"));
    let mut ring = PacketRing::open(&wanted.options("any"), None).unwrap();
    other.exchange(200, 100);
    assert_eq!(drain(&mut ring).len(), 0);
    assert_eq!(ring.statistics().unwrap().packets, 0);
    wanted.exchange(1, 100);
    other.exchange(200, 100);
    let seen = drain(&mut ring);
    assert!(
        !seen.is_empty() && seen.iter().all(|packet| packet.ports.contains(&wanted.port)),
        "{seen:?}"
    );
}

#[test]
fn a_snap_length_cuts_bytes_and_not_lengths() {
    let mut conversation = Conversation::on("127.0.0.1");
    let options = RingOptions { snap_bytes: 128, ..conversation.options("lo") };
    let mut ring = PacketRing::open(&options, None).unwrap();
    let bytes = conversation.exchange(20, 5000);
    let seen = drain(&mut ring);
    assert_eq!(seen.iter().map(|packet| packet.payload).sum::<u64>(), bytes);
    assert!(seen.iter().any(|packet| !packet.is_whole));
}

#[test]
fn a_ring_that_is_too_small_counts_its_drops() {
    let mut conversation = Conversation::on("127.0.0.1");
    let before = conversation.segments(None);
    let tiny = RingOptions { blocks: 2, block_bytes: 1 << 16, ..conversation.options("lo") };
    let mut ring = PacketRing::open(&tiny, None).unwrap();
    conversation.exchange(2000, 1000);
    let segments = conversation.segments(None) - before;
    let seen = drain(&mut ring).len() as u64;
    let counts = ring.statistics().unwrap();
    assert!(seen > 0 && counts.drops > 0 && counts.freezes > 0, "{seen} seen, {counts:?}");
    assert_eq!(counts.packets, segments);
    assert_eq!(seen + counts.drops, counts.packets, "{counts:?}");
    // It continues once it has room.
    conversation.exchange(3, 100);
    assert!(!drain(&mut ring).is_empty());
}

#[test]
fn a_wait_ends_in_time() {
    let conversation = Conversation::on("127.0.0.1");
    let mut ring = PacketRing::open(&conversation.options("lo"), None).unwrap();
    let start = Instant::now();
    assert!(ring.next_block(Duration::from_millis(100)).unwrap().is_none());
    let took = start.elapsed();
    assert!(took >= Duration::from_millis(99) && took < Duration::from_secs(5), "{took:?}");
}

#[test]
fn an_interface_that_is_not_there() {
    let conversation = Conversation::on("127.0.0.1");
    let refused = PacketRing::open(&conversation.options("nothere0"), None).unwrap_err();
    assert!(matches!(refused, PacketError::NoInterface { .. }), "{refused}");
}

#[test]
fn a_capture_that_is_killed_leaves_no_socket() {
    let mut capturer = Capturer::start();
    let inode = capturer.packet_socket();
    capturer.0.kill().unwrap();
    capturer.0.wait().unwrap();
    assert!(!packet_sockets().contains(&inode));
}

/// Runs as a separate process, started by the test above.
#[test]
#[ignore = "helper of another test"]
fn capture_for_a_minute() {
    let conversation = Conversation::on("127.0.0.1");
    let _ring = PacketRing::open(&conversation.options("any"), None).unwrap();
    thread::sleep(Duration::from_secs(60));
}

struct Capturer(Child);

impl Capturer {
    fn start() -> Self {
        let started = Command::new(std::env::current_exe().unwrap())
            .args(["packets::capturing::capture_for_a_minute", "--exact", "--ignored"])
            .stdout(Stdio::null())
            .spawn();
        Self(started.unwrap())
    }

    /// Waits for the inode of its socket for packets.
    fn packet_socket(&self) -> u64 {
        let deadline = Instant::now() + Duration::from_secs(20);
        loop {
            let all = packet_sockets();
            if let Some(inode) =
                sockets_of(self.0.id()).into_iter().find(|inode| all.contains(inode))
            {
                return inode;
            }
            assert!(Instant::now() < deadline, "no socket for packets");
            thread::sleep(Duration::from_millis(20));
        }
    }
}

impl Drop for Capturer {
    fn drop(&mut self) {
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Inodes in the last field of each line of `/proc/net/packet`.
fn packet_sockets() -> Vec<u64> {
    let table = fs::read_to_string("/proc/net/packet").unwrap();
    let inodes = table.lines().filter_map(|line| line.split_whitespace().next_back()?.parse().ok());
    inodes.collect()
}

fn sockets_of(pid: u32) -> Vec<u64> {
    let Ok(entries) = fs::read_dir(format!("/proc/{pid}/fd")) else { return Vec::new() };
    let links = entries.filter_map(|entry| fs::read_link(entry.ok()?.path()).ok());
    let inode = |link: std::path::PathBuf| {
        link.to_str()?.strip_prefix("socket:[")?.strip_suffix(']')?.parse().ok()
    };
    links.filter_map(inode).collect()
}

/// Prints the cost of a capture of saturated loopback.
#[test]
#[ignore = "prints figures, judges nothing"]
fn cost_of_a_capture() {
    for is_captured in [false, true, false, true, false, true] {
        let mut conversation = Conversation::on("127.0.0.1");
        let options = conversation.options("lo");
        let mut ring = is_captured.then(|| PacketRing::open(&options, None).unwrap());
        let start = Instant::now();
        conversation.exchange(20_000, 100);
        let took = start.elapsed();
        let seen = ring.as_mut().map_or(0, |ring| drain(ring).len());
        println!(
            "captured: {is_captured}, {:.2} µs a round, {seen} packets",
            took.as_secs_f64() * 50.0
        );
    }
}
