//! A TCP connection on loopback with known bytes and segments, and a reader of its captures.

use std::{
    io::{Read, Write},
    net::{TcpListener, TcpStream},
    thread,
    time::Duration,
};

use rabbitscope_probe::packets::{
    CaptureInterface, Direction, NetworkNamespace, PacketRing, PortSet, RingOptions, TcpSocket,
    dump_sockets,
};

/// A time longer than the delay of an acknowledgement.
const QUIET: Duration = Duration::from_millis(300);

/// Both ends of a connection.
pub(crate) struct Conversation {
    pub(crate) client: TcpStream,
    pub(crate) server: TcpStream,
    pub(crate) port: u16,
}

impl Conversation {
    /// A conversation on a free port of this address.
    pub(crate) fn on(address: &str) -> Self {
        let listener = TcpListener::bind((address, 0)).unwrap();
        let client = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        Self::accepted(&listener, client)
    }

    /// A conversation of a connected client with the end that `listener` accepts.
    pub(crate) fn accepted(listener: &TcpListener, client: TcpStream) -> Self {
        let local = listener.local_addr().unwrap();
        let (server, _) = listener.accept().unwrap();
        for end in [&client, &server] {
            end.set_nodelay(true).unwrap();
        }
        Self { client, server, port: local.port() }
    }

    /// Sends requests of `bytes` bytes, each answered by as many. Returns the bytes of both directions.
    pub(crate) fn exchange(&mut self, rounds: usize, bytes: usize) -> u64 {
        let (request, mut room) = (vec![b'x'; bytes], vec![0; bytes]);
        for _ in 0..rounds {
            self.client.write_all(&request).unwrap();
            self.server.read_exact(&mut room).unwrap();
            self.server.write_all(&room).unwrap();
            self.client.read_exact(&mut room).unwrap();
        }
        (2 * rounds * bytes) as u64
    }

    /// Segments sent by both ends, by the kernel's own count.
    pub(crate) fn segments(&self, namespace: Option<&NetworkNamespace>) -> u64 {
        thread::sleep(QUIET);
        let sockets = self.sockets(namespace);
        assert_eq!(sockets.len(), 2, "{sockets:?}");
        sockets.iter().map(|socket| u64::from(socket.info.segments_out.unwrap())).sum()
    }

    /// Both sockets.
    pub(crate) fn sockets(&self, namespace: Option<&NetworkNamespace>) -> Vec<TcpSocket> {
        dump_sockets(&self.ports(), namespace, 10).unwrap().0
    }

    pub(crate) fn ports(&self) -> PortSet {
        PortSet::new([self.port]).unwrap()
    }

    /// Options for a capture of this conversation.
    pub(crate) fn options(&self, interface: &str) -> RingOptions {
        let interface = match interface {
            "any" => CaptureInterface::Any,
            name => CaptureInterface::Named(name.to_owned()),
        };
        RingOptions::new(interface, self.ports())
    }
}

/// The fields of a TCP packet that the tests check.
#[derive(Debug)]
pub(crate) struct Seen {
    pub(crate) ports: [u16; 2],
    pub(crate) payload: u64,
    pub(crate) is_whole: bool,
    pub(crate) unix_nanos: u64,
    pub(crate) interface: u32,
    pub(crate) hardware: u16,
    pub(crate) direction: Direction,
    pub(crate) vlan: Option<u16>,
}

/// Takes blocks until none comes for a while.
pub(crate) fn drain(ring: &mut PacketRing) -> Vec<Seen> {
    let mut seen = Vec::new();
    while let Some(block) = ring.next_block(QUIET).unwrap() {
        let before = seen.len();
        seen.extend(block.packets().map(|packet| {
            let (header, ports) = headers(packet.data);
            Seen {
                ports,
                payload: u64::from(packet.length) - header as u64,
                is_whole: packet.data.len() == packet.length as usize,
                unix_nanos: packet.unix_nanos,
                interface: packet.interface,
                hardware: packet.hardware,
                direction: packet.direction,
                vlan: packet.vlan,
            }
        }));
        assert_eq!(seen.len() - before, block.packet_count() as usize);
    }
    seen
}

/// Length of the headers of IP and TCP, and both ports.
fn headers(data: &[u8]) -> (usize, [u16; 2]) {
    let ip = match data[0] >> 4 {
        4 => usize::from(data[0] & 0xf) * 4,
        6 => 40,
        other => panic!("IP version {other}"),
    };
    let port = |start: usize| u16::from_be_bytes([data[ip + start], data[ip + start + 1]]);
    (ip + usize::from(data[ip + 12] >> 4) * 4, [port(0), port(2)])
}
