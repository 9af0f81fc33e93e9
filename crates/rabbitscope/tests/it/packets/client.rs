//! A client of AMQP 0-9-1 that controls which bytes go into which write.

use std::{
    io::{ErrorKind, Read, Write},
    net::TcpStream,
    thread,
    time::Duration,
};

use rabbitscope_broker::Broker;
use rabbitscope_testing::{encode_frame, with_length};

/// Time between two attempts to write to a full socket.
const RETRY: Duration = Duration::from_micros(500);

const FRAME_END: u8 = 0xce;
const METHOD: u8 = 1;
const HEADER: u8 = 2;
const BODY: u8 = 3;

pub(super) struct Client {
    stream: TcpStream,
    /// Received bytes that were not read yet.
    read: Vec<u8>,
}

impl Client {
    /// Connects, and opens a channel.
    pub(super) fn connect(broker: &Broker, nodelay: bool) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", broker.address().port())).unwrap();
        stream.set_nodelay(nodelay).unwrap();
        stream.set_read_timeout(Some(Duration::from_secs(20))).unwrap();
        let mut client = Self { stream, read: Vec::new() };
        let (user, password) = broker.login();
        client.write(b"AMQP\x00\x00\x09\x01");
        client.expect(10, 10);
        let response = format!("\0{user}\0{password}");
        client.method(
            0,
            (10, 11),
            &[&[0; 4][..], b"\x05PLAIN", &with_length(response.as_bytes()), b"\x05en_US"].concat(),
        );
        client.expect(10, 30);
        // As many channels and bytes as the broker offers, no heartbeats.
        client.method(0, (10, 31), &[7, 255, 0, 2, 0, 0, 0, 0]);
        client.method(0, (10, 40), b"\x01/\x00\x00");
        client.expect(10, 41);
        client.method(1, (20, 10), b"\x00");
        client.expect(20, 11);
        client
    }

    /// Limits the bytes that the kernel keeps for this end until they are acknowledged, in the kernel's own count.
    pub(super) fn limit_send_buffer(&self, bytes: usize) {
        rustix::net::sockopt::set_socket_send_buffer_size(&self.stream, bytes).unwrap();
    }

    pub(super) fn local_port(&self) -> u16 {
        self.stream.local_addr().unwrap().port()
    }

    /// Declares a queue that is exclusive to the connection. Returns its name.
    pub(super) fn declare(&mut self, name: &str) -> String {
        let queue = &format!("{name}-{}", self.local_port());
        let exclusive = 4;
        self.method(1, (50, 10), &[&[0, 0][..], &short(queue), &[exclusive], &[0; 4]].concat());
        self.expect(50, 11);
        queue.clone()
    }

    pub(super) fn confirm(&mut self) {
        self.method(1, (85, 10), &[0]);
        self.expect(85, 11);
    }

    pub(super) fn consume(&mut self, queue: &str, auto_ack: bool) {
        let flags = if auto_ack { 2 } else { 0 };
        self.method(
            1,
            (60, 20),
            &[&[0, 0][..], &short(queue), &short("t"), &[flags], &[0; 4]].concat(),
        );
        self.expect(60, 21);
    }

    pub(super) fn prefetch(&mut self, count: u16) {
        self.method(1, (60, 10), &[&[0; 4][..], &count.to_be_bytes(), &[0]].concat());
        self.expect(60, 11);
    }

    pub(super) fn ack(&mut self, tag: u64, multiple: bool) {
        self.method(1, (60, 80), &[&tag.to_be_bytes()[..], &[u8::from(multiple)]].concat());
    }

    /// Returns the frames of a message: method, header and body.
    pub(super) fn publish(queue: &str, body: &[u8]) -> [Vec<u8>; 3] {
        let method = [&[0, 60, 0, 40, 0, 0, 0][..], &short(queue), &[0]].concat();
        let header = [&[0, 60, 0, 0][..], &(body.len() as u64).to_be_bytes(), &[0, 0]].concat();
        [
            encode_frame(METHOD, 1, &method),
            encode_frame(HEADER, 1, &header),
            encode_frame(BODY, 1, body),
        ]
    }

    pub(super) fn write(&mut self, bytes: &[u8]) {
        self.stream.write_all(bytes).unwrap();
    }

    /// Writes as an event loop does: bytes for which the kernel has no room are written later.
    pub(super) fn write_without_waiting(&mut self, bytes: &[u8]) {
        self.stream.set_nonblocking(true).unwrap();
        let mut rest = bytes;
        while !rest.is_empty() {
            match self.stream.write(rest) {
                Ok(count) => rest = &rest[count..],
                Err(error) if error.kind() == ErrorKind::WouldBlock => thread::sleep(RETRY),
                Err(error) => panic!("{error}"),
            }
        }
        self.stream.set_nonblocking(false).unwrap();
    }

    /// Reads frames until this method arrives, and drops the others.
    pub(super) fn expect(&mut self, class: u16, method: u16) {
        let wanted = [class.to_be_bytes(), method.to_be_bytes()].concat();
        loop {
            let (kind, payload) = self.frame();
            if kind == METHOD && payload[..4] == wanted {
                return;
            }
        }
    }

    /// Reads to the end of a delivery, and returns its tag.
    pub(super) fn delivery(&mut self) -> u64 {
        let mut tag = None;
        loop {
            let (kind, payload) = self.frame();
            if kind == METHOD && payload[..4] == [0, 60, 0, 60] {
                // The tag follows the consumer tag "t".
                tag = Some(u64::from_be_bytes(payload[6..14].try_into().unwrap()));
            }
            if kind == BODY {
                return tag.unwrap();
            }
        }
    }

    fn method(&mut self, channel: u16, (class, method): (u16, u16), arguments: &[u8]) {
        let payload = [&class.to_be_bytes()[..], &method.to_be_bytes(), arguments].concat();
        self.write(&encode_frame(METHOD, channel, &payload));
    }

    fn frame(&mut self) -> (u8, Vec<u8>) {
        self.fill(7);
        let length = u32::from_be_bytes(self.read[3..7].try_into().unwrap()) as usize;
        self.fill(length + 8);
        let whole: Vec<u8> = self.read.drain(..length + 8).collect();
        assert_eq!(whole.last(), Some(&FRAME_END));
        (whole[0], whole[7..7 + length].to_vec())
    }

    fn fill(&mut self, wanted: usize) {
        let mut bytes = [0; 8_192];
        while self.read.len() < wanted {
            let count = self.stream.read(&mut bytes).unwrap();
            assert!(count > 0, "the broker has closed the connection");
            self.read.extend(&bytes[..count]);
        }
    }
}

fn short(text: &str) -> Vec<u8> {
    [&[u8::try_from(text.len()).unwrap()], text.as_bytes()].concat()
}
