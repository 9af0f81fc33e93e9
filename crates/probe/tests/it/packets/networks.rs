//! A separate network, as of a container.

use std::{
    fs,
    net::{TcpListener, TcpStream},
    process::{Child, Command, Stdio},
    thread,
    time::{Duration, Instant},
};

use rabbitscope_probe::packets::{
    CaptureInterface, Direction, NetworkNamespace, PacketRing, PortSet, RingOptions,
    explain_packets,
};

use super::conversation::{Conversation, drain};

/// A network, and a process in it. Both end with the value.
struct Network {
    network: rabbitscope_testing::Network,
    process: Child,
}

impl Network {
    fn new() -> Self {
        let network = rabbitscope_testing::Network::new().unwrap();
        // `ip` executes the program, which so is a child of this process.
        let process = Command::new("ip")
            .args(["netns", "exec", &network.name, "sleep", "60"])
            .stdin(Stdio::null())
            .spawn()
            .unwrap();
        Self { network, process }
    }

    /// A conversation within it.
    fn conversation(&self) -> Conversation {
        self.network.within(|| Conversation::on("127.0.0.1"))
    }

    /// The namespace of its process, once the process has entered it.
    fn namespace(&self) -> NetworkNamespace {
        let deadline = Instant::now() + Duration::from_secs(10);
        loop {
            let namespace = NetworkNamespace::from_pid(self.process.id()).unwrap();
            if !namespace.is_own() {
                return namespace;
            }
            assert!(Instant::now() < deadline, "the process did not enter its network");
            thread::sleep(Duration::from_millis(10));
        }
    }
}

impl Drop for Network {
    fn drop(&mut self) {
        let _ = self.process.kill();
        let _ = self.process.wait();
    }
}

#[test]
fn a_conversation_in_another_network_is_captured() {
    let network = Network::new();
    let mut conversation = network.conversation();
    let namespace = network.namespace();
    let own = fs::read_link("/proc/thread-self/ns/net").unwrap();

    let before = conversation.segments(Some(&namespace));
    let mut here = PacketRing::open(&conversation.options("any"), None).unwrap();
    let mut there = PacketRing::open(&conversation.options("any"), Some(&namespace)).unwrap();
    let bytes = conversation.exchange(100, 1000);
    let segments = conversation.segments(Some(&namespace)) - before;

    let seen = drain(&mut there);
    assert_eq!(seen.len() as u64, segments);
    assert_eq!(seen.iter().map(|packet| packet.payload).sum::<u64>(), bytes);
    assert_eq!(there.interface_name(seen[0].interface).as_deref(), Some("lo"));
    assert_eq!(drain(&mut here).len(), 0);
    assert_eq!(conversation.sockets(None).len(), 0);
    assert_eq!(fs::read_link("/proc/thread-self/ns/net").unwrap(), own);
    assert!(explain_packets(Some(&namespace)).iter().take(2).all(|level| level.is_met));
}

/// `ARPHRD_ETHER`.
const ETHERNET: u16 = 1;

/// Joins two networks by Ethernet.
fn join(one: &Network, other: &Network) {
    let peer = format!("peer name eth0 netns {}", other.network.name);
    one.network.configure("ip", &format!("link add eth0 type veth {peer}")).unwrap();
    for (network, address) in [(one, "198.51.100.1/24"), (other, "198.51.100.2/24")] {
        let configure = |words: &str| network.network.configure("ip", words).unwrap();
        configure(&format!("address add {address} dev eth0"));
        configure("link set eth0 up");
    }
}

#[test]
fn packets_of_ethernet_have_a_direction() {
    let (one, other) = (Network::new(), Network::new());
    join(&one, &other);
    let listener = one.network.within(|| TcpListener::bind("198.51.100.1:0").unwrap());
    let local = listener.local_addr().unwrap();
    let client = other.network.within(|| TcpStream::connect(local).unwrap());
    let mut conversation = Conversation::accepted(&listener, client);
    let namespaces = [one.namespace(), other.namespace()];
    let segments = |conversation: &Conversation| {
        thread::sleep(Duration::from_millis(300));
        namespaces.each_ref().map(|namespace| {
            let sockets = conversation.sockets(Some(namespace));
            assert_eq!(sockets.len(), 1, "{sockets:?}");
            u64::from(sockets[0].info.segments_out.unwrap())
        })
    };
    let before = segments(&conversation);
    let mut ring = PacketRing::open(&conversation.options("eth0"), Some(&namespaces[0])).unwrap();
    let bytes = conversation.exchange(100, 1000);
    let after = segments(&conversation);

    let seen = drain(&mut ring);
    let count =
        |direction| seen.iter().filter(|packet| packet.direction == direction).count() as u64;
    assert_eq!(count(Direction::Outgoing), after[0] - before[0]);
    assert_eq!(count(Direction::Incoming), after[1] - before[1]);
    assert_eq!(seen.iter().map(|packet| packet.payload).sum::<u64>(), bytes);
    for packet in &seen {
        let is_server = packet.ports[0] == conversation.port;
        assert_eq!(is_server, packet.direction == Direction::Outgoing, "{packet:?}");
        assert_eq!((packet.hardware, packet.vlan), (ETHERNET, None), "{packet:?}");
    }
}

/// Script that sends a frame, given as hexadecimal digits, on `eth0`, with a hand-made `struct sockaddr_ll`.
const SEND: &str = r#"
    open(F, "</sys/class/net/eth0/ifindex") or die; my $index = <F>;
    socket(my $s, 17, 3, 0) or die "socket: $!";
    my $to = pack("S n i S C C a8", 17, 0x8100, $index, 1, 0, 6, "");
    send($s, pack("H*", $ARGV[0]), 0, $to) or die "send: $!";
"#;

/// A broadcast frame on VLAN 7 with a priority: a segment of TCP without data to `port`.
fn tagged_frame(port: u16) -> String {
    let ethernet = "ffffffffffff0200000000018100e0070800";
    let ip = "4500002800004000400600000a0000010a000002";
    format!("{ethernet}{ip}9c40{port:04x}00000001000000005002200000000000")
}

#[test]
fn the_tag_of_a_vlan_is_beside_the_packet() {
    let (one, other) = (Network::new(), Network::new());
    join(&one, &other);
    let port = 5672;
    let options =
        RingOptions::new(CaptureInterface::Named("eth0".into()), PortSet::new([port]).unwrap());
    let mut ring = PacketRing::open(&options, Some(&one.namespace())).unwrap();
    for frame in [tagged_frame(port), tagged_frame(port + 1)] {
        let mut send = Command::new("ip");
        send.args(["netns", "exec", &other.network.name, "perl", "-e", SEND, &frame]);
        assert!(send.status().unwrap().success());
    }
    let seen = drain(&mut ring);
    let [packet] = &seen[..] else { panic!("{seen:?}") };
    assert_eq!(
        (packet.vlan, packet.ports, packet.payload),
        (Some(7), [40000, port], 0),
        "{packet:?}"
    );
    assert_eq!((packet.direction, packet.hardware), (Direction::Incoming, ETHERNET), "{packet:?}");
}

#[test]
fn an_interface_that_is_down_is_reported() {
    let network = Network::new();
    let conversation = network.conversation();
    let namespace = network.namespace();
    let options = conversation.options("lo");
    let mut ring = PacketRing::open(&options, Some(&namespace)).unwrap();
    network.network.configure("ip", "link set lo down").unwrap();
    let deadline = Instant::now() + Duration::from_secs(5);
    let refused = loop {
        match ring.next_block(Duration::from_millis(100)) {
            Ok(_) => assert!(Instant::now() < deadline, "nothing was said"),
            Err(error) => break error.to_string(),
        }
    };
    assert!(refused.contains("lo is down"), "{refused}");
}
