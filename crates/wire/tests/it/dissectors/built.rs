//! Directions of connections, built frame by frame according to the specifications.

use core::ops::Range;

use rabbitscope_wire::protocols::Protocol;

use super::secrets;
use crate::talk::Random;

/// The word in all credentials, and the one in all bodies.
pub(crate) const SECRET: &[u8] = b"s3cret";
pub(crate) const BODY: &[u8] = b"payload";

/// A direction with the offsets of its frames and of its sensitive ranges.
pub(crate) struct Built {
    pub(crate) protocol: Protocol,
    pub(crate) bytes: Vec<u8>,
    pub(crate) frames: Vec<(Range<u64>, &'static str)>,
    pub(crate) sensitive: Vec<Range<u64>>,
}

impl Built {
    const fn new(protocol: Protocol) -> Self {
        Self { protocol, bytes: Vec::new(), frames: Vec::new(), sensitive: Vec::new() }
    }

    fn frame(&mut self, kind: &'static str, bytes: &[u8]) {
        let start = self.bytes.len() as u64;
        self.bytes.extend_from_slice(bytes);
        self.frames.push((start..self.bytes.len() as u64, kind));
        for word in [SECRET, BODY] {
            for at in (0..bytes.len()).filter(|at| bytes[*at..].starts_with(word)) {
                let at = start + at as u64;
                self.sensitive.push(at..at + word.len() as u64);
            }
        }
    }
}

/// Returns one direction of each protocol.
pub(super) fn all(seed: u64) -> [Built; 5] {
    [amqp091(seed), amqp10(seed), stream(seed), mqtt(seed), tls(seed)]
}

/// Like [`all`], and also directions that can be read from their beginning only: answers of MQTT 5 with properties.
pub(crate) fn from_the_beginning(seed: u64) -> impl Iterator<Item = Built> {
    all(seed).into_iter().chain([mqtt5(seed)])
}

/// Returns a body of random length that repeats the word.
fn body(random: &mut Random, limit: usize) -> Vec<u8> {
    BODY.repeat(random.below(limit / BODY.len()))
}

pub(super) fn short(text: &[u8]) -> Vec<u8> {
    [&[u8::try_from(text.len()).unwrap()], text].concat()
}

pub(super) fn long(bytes: &[u8]) -> Vec<u8> {
    [&u32::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

pub(super) fn text16(bytes: &[u8]) -> Vec<u8> {
    [&u16::try_from(bytes.len()).unwrap().to_be_bytes(), bytes].concat()
}

fn amqp091_frame(kind: u8, channel: u16, payload: &[u8]) -> Vec<u8> {
    let channel = channel.to_be_bytes();
    [&[kind, channel[0], channel[1]][..], &long(payload), &[0xce]].concat()
}

fn method(built: &mut Built, channel: u16, kind: &'static str, number: [u8; 2], arguments: &[u8]) {
    let payload = [&[0, number[0], 0, number[1]], arguments].concat();
    built.frame(kind, &amqp091_frame(1, channel, &payload));
}

fn amqp091(seed: u64) -> Built {
    let random = &mut Random(seed);
    let mut built = Built::new(Protocol::Amqp091);
    built.frame("protocol-header", b"AMQP\0\0\x09\x01");
    let table = secrets::client_properties();
    let response = long(&[b"\0user\0", SECRET].concat());
    let start = [table, short(b"PLAIN"), response, short(b"en_US")].concat();
    method(&mut built, 0, "connection.start-ok", [10, 11], &start);
    method(&mut built, 0, "connection.tune-ok", [10, 31], &[7, 0xff, 0, 2, 0, 0, 0, 60]);
    method(&mut built, 0, "connection.open", [10, 40], &[short(b"/"), vec![0, 0]].concat());
    method(&mut built, 1, "channel.open", [20, 10], &[0]);
    method(&mut built, 1, "confirm.select", [85, 10], &[0]);
    method(&mut built, 1, "queue.declare", [50, 10], &secrets::queue_declare());
    method(&mut built, 1, "queue.bind", [50, 20], &secrets::queue_bind());
    method(&mut built, 1, "basic.consume", [60, 20], &secrets::consume());
    for number in 0..12_u64 {
        publish(&mut built, random, 1 + u16::try_from(number % 3).unwrap());
        match number % 4 {
            0 => built.frame("heartbeat", &amqp091_frame(8, 0, &[])),
            1 => method(
                &mut built,
                2,
                "basic.ack",
                [60, 80],
                &[&number.to_be_bytes()[..], &[1]].concat(),
            ),
            2 => {
                let arguments = [&long(SECRET)[..], &short(b"because")].concat();
                method(&mut built, 0, "connection.update-secret", [10, 70], &arguments);
            }
            _ => {}
        }
    }
    built
}

fn publish(built: &mut Built, random: &mut Random, channel: u16) {
    let arguments = [&[0, 0][..], &short(b"exchange"), &short(b"key"), &[0]].concat();
    method(built, channel, "basic.publish", [60, 40], &arguments);
    let body = body(random, 240);
    let has_all = random.below(3) == 0;
    let properties = if has_all { secrets::message_properties() } else { vec![0b0001_0000, 0, 2] };
    let size = (body.len() as u64).to_be_bytes();
    let header = [&[0, 60, 0, 0][..], &size, &properties].concat();
    built.frame("header", &amqp091_frame(2, channel, &header));
    for part in body.chunks(100) {
        built.frame("body", &amqp091_frame(3, channel, part));
    }
}

pub(super) fn amqp10_frame(kind: u8, channel: u16, body: &[u8]) -> Vec<u8> {
    let size = u32::try_from(body.len() + 8).unwrap().to_be_bytes();
    [&size[..], &[2, kind], &channel.to_be_bytes(), body].concat()
}

pub(super) fn performative(descriptor: u8, fields: &[u8], count: u8, is_long: bool) -> Vec<u8> {
    let list = if is_long {
        let size = u32::try_from(fields.len() + 4).unwrap().to_be_bytes();
        [&[0xd0][..], &size, &u32::from(count).to_be_bytes(), fields].concat()
    } else {
        [&[0xc0, u8::try_from(fields.len() + 1).unwrap(), count][..], fields].concat()
    };
    [&[0, 0x53, descriptor][..], &list].concat()
}

fn amqp10(seed: u64) -> Built {
    let random = &mut Random(seed);
    let mut built = Built::new(Protocol::Amqp10);
    built.frame("protocol-header", b"AMQP\x03\x01\0\0");
    let response = [&[0xa0, 11][..], b"\0user", SECRET].concat();
    let init = performative(0x41, &[&[0xa3, 5][..], b"PLAIN", &response].concat(), 2, false);
    built.frame("sasl-init", &amqp10_frame(1, 0, &init));
    built.frame("protocol-header", b"AMQP\0\x01\0\0");
    let open = [&[0xa1, 1][..], b"c", &[0x40; 8], &secrets::map()].concat();
    let open = performative(0x10, &open, 10, true);
    built.frame("open", &amqp10_frame(0, 0, &open));
    built.frame(
        "begin",
        &amqp10_frame(
            0,
            1,
            &performative(
                0x11,
                &[&[0x40, 0x43, 0x52, 9, 0x52, 9][..], &[0x40; 3], &secrets::map()].concat(),
                8,
                true,
            ),
        ),
    );
    let source = performative(0x28, &[&[0x40; 7][..], &secrets::map()].concat(), 8, true);
    let attach = [&[0xa1, 4][..], b"link", &[0x43, 0x42, 0x40, 0x40], &source].concat();
    let attach = performative(0x12, &attach, 6, true);
    built.frame("attach", &amqp10_frame(0, 1, &attach));
    for number in 0..15_u8 {
        let more = if number % 5 == 4 { 0x41 } else { 0x42 };
        let fields = [0x43, 0x52, number, 0xa0, 1, number, 0x43, 0x42, more];
        let head = performative(0x14, &fields, 6, number % 2 == 0);
        let data = [&[0, 0x53, 0x75, 0xb0][..], &long(&body(random, 240))].concat();
        let sections = if number % 4 == 1 { secrets::sections() } else { Vec::new() };
        built.frame("transfer", &amqp10_frame(0, 1, &[head, sections, data].concat()));
        match number % 3 {
            0 => built.frame("empty", &amqp10_frame(0, 0, &[])),
            1 => {
                let modified =
                    performative(0x27, &[&[0x41, 0x42][..], &secrets::map()].concat(), 3, true);
                let accepted = [0, 0x53, 0x24, 0x45];
                let outcome = if number % 2 == 0 { &modified[..] } else { &accepted };
                let fields = [&[0x41, 0x52, number, 0x40, 0x41][..], outcome].concat();
                let settled = performative(0x15, &fields, 5, true);
                built.frame("disposition", &amqp10_frame(0, 1, &settled));
            }
            _ => built.frame("end", &amqp10_frame(0, 2, &[0, 0x53, 0x17, 0x45])),
        }
    }
    built
}

fn command(built: &mut Built, kind: &'static str, key: u16, content: &[u8]) {
    let body = [&key.to_be_bytes()[..], &[0, 1], content].concat();
    built.frame(kind, &long(&body));
}

fn stream(seed: u64) -> Built {
    let random = &mut Random(seed);
    let mut built = Built::new(Protocol::RabbitmqStream);
    let correlation = |number: u32| number.to_be_bytes();
    command(
        &mut built,
        "peer-properties",
        17,
        &[&correlation(1)[..], &secrets::stream_map()].concat(),
    );
    let response = long(&[b"\0user\0", SECRET].concat());
    let authenticate = [&correlation(2)[..], &text16(b"PLAIN"), &response].concat();
    command(&mut built, "sasl-authenticate", 19, &authenticate);
    let create = [&correlation(4)[..], &text16(b"stream"), &secrets::stream_map()].concat();
    command(&mut built, "create", 13, &create);
    let subscribe = [&correlation(5)[..], &[1], &text16(b"stream"), &[0, 4], &[0; 8], &[0, 9]];
    let subscribe = [&subscribe.concat()[..], &secrets::stream_map()].concat();
    command(&mut built, "subscribe", 7, &subscribe);
    let filtered = [&[0, 2, 0, 2, 1][..], &[0, 0, 0, 1], &secrets::filtered_entry()].concat();
    built.frame("publish", &long(&filtered));
    let declare = [&correlation(3)[..], &[1], &text16(b"ref"), &text16(b"stream")].concat();
    command(&mut built, "declare-publisher", 1, &declare);
    for number in 0..12_u32 {
        let count = 1 + u32::try_from(random.below(5)).unwrap();
        let mut content = [&[1][..], &count.to_be_bytes()].concat();
        for entry in 0..count {
            content.extend_from_slice(&u64::from(number * 8 + entry).to_be_bytes());
            let body = body(random, 120);
            let section = [&[0, 0x53, 0x75, 0xa0][..], &short(&body)].concat();
            content.extend_from_slice(&long(if entry % 2 == 0 { &body } else { &section }));
        }
        command(&mut built, "publish", 2, &content);
        match number % 3 {
            0 => command(&mut built, "heartbeat", 23, &[]),
            1 => command(&mut built, "credit", 9, &[1, 0, 5]),
            _ => {
                let ids = [&[1, 0, 0, 0, 1][..], &u64::from(number).to_be_bytes()].concat();
                command(&mut built, "publish-confirm", 3, &ids);
            }
        }
    }
    built
}

pub(super) fn mqtt_packet(first: u8, content: &[u8]) -> Vec<u8> {
    let mut packet = vec![first];
    let mut length = content.len();
    loop {
        let low = u8::try_from(length & 0x7f).unwrap();
        length >>= 7;
        packet.push(if length > 0 { low | 0x80 } else { low });
        if length == 0 {
            break;
        }
    }
    packet.extend_from_slice(content);
    packet
}

fn mqtt(seed: u64) -> Built {
    let random = &mut Random(seed);
    let mut built = Built::new(Protocol::Mqtt);
    let login = [text16(b"user"), text16(SECRET)].concat();
    let connect = [&text16(b"MQTT")[..], &[4, 0xc2, 0, 60], &text16(b"client"), &login].concat();
    built.frame("CONNECT", &mqtt_packet(0x10, &connect));
    built.frame("SUBSCRIBE", &mqtt_packet(0x82, &[&[0, 1][..], &text16(b"a/#"), &[1]].concat()));
    for number in 0..15_u8 {
        let quality = number % 3;
        let identifier: &[u8] = if quality == 0 { &[] } else { &[0, number] };
        let content = [&text16(b"a/topic"), identifier, &body(random, 240)].concat();
        built.frame("PUBLISH", &mqtt_packet(0x30 | quality << 1, &content));
        match number % 4 {
            0 => built.frame("PINGREQ", &[0xc0, 0]),
            1 => built.frame("PUBACK", &[0x40, 2, 0, number]),
            2 => built.frame("PUBREL", &[0x62, 2, 0, number]),
            _ => {}
        }
    }
    built
}

/// Returns a direction with user properties at all possible places.
fn mqtt5(seed: u64) -> Built {
    let random = &mut Random(seed);
    let mut built = Built::new(Protocol::Mqtt);
    let properties = secrets::mqtt_properties();
    let login = [text16(b"user"), text16(SECRET)].concat();
    let will = [&properties[..], &text16(b"will/topic"), &text16(SECRET)].concat();
    let start = [&text16(b"MQTT")[..], &[5, 0xc6, 0, 60], &properties, &text16(b"client")].concat();
    built.frame("CONNECT", &mqtt_packet(0x10, &[start, will, login].concat()));
    let topic = [text16(b"a/#"), vec![1]].concat();
    built.frame("SUBSCRIBE", &mqtt_packet(0x82, &[&[0, 1][..], &properties, &topic].concat()));
    for number in 0..12_u8 {
        let content = [&text16(b"a/topic")[..], &[0, number], &properties, &body(random, 240)];
        built.frame("PUBLISH", &mqtt_packet(0x32, &content.concat()));
        let answer = [&[0, number, 0][..], &properties].concat();
        match number % 4 {
            0 => built.frame("PINGREQ", &[0xc0, 0]),
            1 => built.frame("PUBACK", &mqtt_packet(0x40, &answer)),
            2 => built.frame("PUBREL", &mqtt_packet(0x62, &answer)),
            _ => {}
        }
    }
    built.frame("DISCONNECT", &mqtt_packet(0xe0, &[&[0][..], &properties].concat()));
    built
}

fn tls(seed: u64) -> Built {
    let random = &mut Random(seed);
    let mut built = Built::new(Protocol::Tls);
    for (kind, name) in [(22, "handshake"), (20, "change_cipher_spec"), (23, "application_data")]
        .into_iter()
        .chain([(23, "application_data"); 15])
    {
        let mut content = vec![1];
        let length = random.below(150);
        content.extend(random.bytes(length));
        built.frame(name, &[&[kind, 3, 3][..], &text16(&content)].concat());
    }
    built
}
