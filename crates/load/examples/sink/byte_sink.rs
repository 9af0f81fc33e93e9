//! A sink that accepts connections and every request before the first message. It then discards what it reads, and
//! confirms the messages of protocols that have none without a confirm.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpListener, TcpStream},
    thread,
};

use super::{amqp10, stream};

/// First bytes of a connection without a handshake, by the answers to its messages.
const SILENCE: [u8; 8] = *b"SKIP\0\0\0\0";
const OUTCOMES: [u8; 8] = *b"SKIP1.0\0";
const STREAM_CONFIRMS: [u8; 8] = *b"SKIPstrm";

/// Size of a read, large enough that reading costs little.
pub(crate) const READ_BYTES: usize = 1 << 20;

/// First byte of a connection of MQTT, and the answer: it is accepted.
const MQTT_CONNECT: u8 = 0x10;
const MQTT_ACCEPTED: [u8; 4] = [0x20, 2, 0, 0];

const METHOD_FRAME: u8 = 1;
const FRAME_END: u8 = 0xce;

/// Class and method numbers.
type Method = (u16, u16);

const PUBLISH: Method = (60, 40);

/// Methods with their answers and the arguments of the answers.
const ANSWERS: [(Method, Method, &[u8]); 8] = [
    // connection.start-ok → tune: 2047 channels, 131072 bytes, no heartbeat
    ((10, 11), (10, 30), &[0x07, 0xff, 0, 2, 0, 0, 0, 0]),
    ((10, 40), (10, 41), &[0]),
    ((10, 50), (10, 51), &[]),
    ((20, 10), (20, 11), &[0, 0, 0, 0]),
    ((20, 40), (20, 41), &[]),
    ((40, 10), (40, 11), &[]),
    // queue.declare-ok: a name, no messages, no consumers
    ((50, 10), (50, 11), &[1, b'q', 0, 0, 0, 0, 0, 0, 0, 0]),
    ((50, 40), (50, 41), &[0, 0, 0, 0]),
];

/// Starts a sink that runs as long as the process, on threads that inherit the caller's CPU affinity.
pub(crate) fn start() -> io::Result<SocketAddr> {
    let listener = TcpListener::bind(("127.0.0.1", 0))?;
    let address = listener.local_addr()?;
    thread::spawn(move || {
        for socket in listener.incoming().flatten() {
            thread::spawn(move || serve(socket));
        }
    });
    Ok(address)
}

/// The answers to messages on a connection without a handshake.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Answers {
    Nothing,
    /// Outcomes and credit of AMQP 1.0.
    Outcomes,
    StreamConfirms,
}

/// Starts a connection without a handshake.
pub(crate) fn skip_handshake(socket: &mut TcpStream, answers: Answers) -> io::Result<()> {
    socket.write_all(&match answers {
        Answers::Nothing => SILENCE,
        Answers::Outcomes => OUTCOMES,
        Answers::StreamConfirms => STREAM_CONFIRMS,
    })
}

fn serve(mut socket: TcpStream) -> io::Result<()> {
    socket.set_nodelay(true)?;
    let mut greeting = [0; 8];
    socket.read_exact(&mut greeting)?;
    match &greeting {
        &SILENCE => return swallow(&mut socket),
        &OUTCOMES => return amqp10::confirm(&mut socket),
        &STREAM_CONFIRMS => return stream::confirm(&mut socket, &[]),
        [MQTT_CONNECT, ..] => return serve_mqtt(&mut socket, greeting),
        b"AMQP\x03\x01\0\0" => return amqp10::serve(&mut socket),
        [0, ..] => return stream::serve(&mut socket, greeting),
        _ => {}
    }
    // Version 0-9, no properties, one mechanism, one locale.
    let start = b"\0\x09\0\0\0\0\0\0\0\x05PLAIN\0\0\0\x05en_US";
    socket.write_all(&method_frame(0, (10, 10), start))?;
    while let Some((channel, method)) = next_method(&mut socket)? {
        if method == PUBLISH {
            return swallow(&mut socket);
        }
        if let Some((_, answer, arguments)) = ANSWERS.iter().find(|(asked, ..)| *asked == method) {
            socket.write_all(&method_frame(channel, *answer, arguments))?;
        }
    }
    Ok(())
}

/// Accepts a connection of MQTT. Its first bytes have the length of the rest, in at most two bytes.
fn serve_mqtt(socket: &mut TcpStream, [_, low, high, ..]: [u8; 8]) -> io::Result<()> {
    let (length, head) = match low {
        0..0x80 => (usize::from(low), 2),
        _ => (usize::from(low & 0x7f) | usize::from(high) << 7, 3),
    };
    let mut rest = vec![0; (head + length).saturating_sub(8)];
    socket.read_exact(&mut rest)?;
    socket.write_all(&MQTT_ACCEPTED)?;
    swallow(socket)
}

fn swallow(socket: &mut TcpStream) -> io::Result<()> {
    let mut room = vec![0; READ_BYTES];
    while socket.read(&mut room)? > 0 {}
    Ok(())
}

/// Returns channel and method of the next method frame; skips frames of other kinds.
fn next_method(socket: &mut TcpStream) -> io::Result<Option<(u16, Method)>> {
    loop {
        let mut header = [0; 7];
        match socket.read_exact(&mut header) {
            Err(error) if error.kind() == ErrorKind::UnexpectedEof => return Ok(None),
            read => read?,
        }
        let [kind, c0, c1, s0, s1, s2, s3] = header;
        let size = u32::from_be_bytes([s0, s1, s2, s3]) as usize;
        let mut payload = vec![0; size + 1];
        socket.read_exact(&mut payload)?;
        if let (METHOD_FRAME, [k0, k1, m0, m1, ..]) = (kind, payload.as_slice()) {
            let method = (u16::from_be_bytes([*k0, *k1]), u16::from_be_bytes([*m0, *m1]));
            return Ok(Some((u16::from_be_bytes([c0, c1]), method)));
        }
    }
}

fn method_frame(channel: u16, (class, method): Method, arguments: &[u8]) -> Vec<u8> {
    let size = u32::try_from(4 + arguments.len()).unwrap_or(0);
    let [c0, c1] = channel.to_be_bytes();
    let mut frame = vec![METHOD_FRAME, c0, c1];
    frame.extend(size.to_be_bytes());
    frame.extend(class.to_be_bytes());
    frame.extend(method.to_be_bytes());
    frame.extend(arguments);
    frame.push(FRAME_END);
    frame
}
