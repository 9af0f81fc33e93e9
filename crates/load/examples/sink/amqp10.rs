//! The sink's side of AMQP 1.0: a login, one session with one link, credit without end, and outcomes of all messages that
//! each read brings.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use super::byte_sink::READ_BYTES;

/// Frames, and credit, that the sink has room for.
const ROOM: u32 = i32::MAX as u32;

const ATTACH: u8 = 0x12;

/// Answers to the client's frames up to `attach`, by the code of their performative.
const ANSWERS: [(u8, &[u8]); 4] = [
    // sasl-init → sasl-outcome, and the second header
    (0x41, b"\0\0\0\x10\x02\x01\0\0\0\x53\x44\xc0\x03\x01\x50\0AMQP\0\x01\0\0"),
    // open: frames of 131,072 bytes, 64 sessions
    (0x10, b"\0\0\0\x1d\x02\0\0\0\0\x53\x10\xc0\x10\x04\xa1\x04sink\x40\x70\0\x02\0\0\x60\0\x3f"),
    // begin: a window without end
    (
        0x11,
        b"\0\0\0\x1c\x02\0\0\0\0\x53\x11\xc0\x0f\x04\x60\0\0\x43\x70\x7f\xff\xff\xff\x70\x7f\xff\xff\xff",
    ),
    // attach: a receiver, with source and target
    (ATTACH, b"\0\0\0\x1d\x02\0\0\0\0\x53\x12\xc0\x10\x07\xa1\x01s\x43\x41\x40\x40\0\x53\x28\x45\0\x53\x29\x45"),
];

/// Serves a connection whose first header was read.
pub(crate) fn serve(socket: &mut TcpStream) -> io::Result<()> {
    // The header, and the only mechanism.
    socket
        .write_all(b"AMQP\x03\x01\0\0\0\0\0\x15\x02\x01\0\0\0\x53\x40\xc0\x08\x01\xa3\x05PLAIN")?;
    let mut code = 0;
    while code != ATTACH {
        code = next_code(socket)?;
        if let Some((_, answer)) = ANSWERS.iter().find(|(asked, _)| *asked == code) {
            socket.write_all(answer)?;
        }
    }
    socket.write_all(&flow(0))?;
    confirm(socket)
}

/// Confirms messages of one frame and one size each.
pub(crate) fn confirm(socket: &mut TcpStream) -> io::Result<()> {
    let mut size = [0; 4];
    socket.read_exact(&mut size)?;
    let message_bytes = u64::from(u32::from_be_bytes(size)).max(1);
    let mut room = vec![0; READ_BYTES];
    let (mut bytes, mut settled) = (size.len() as u64, 0);
    loop {
        match socket.read(&mut room)? {
            0 => return Ok(()),
            count => bytes += count as u64,
        }
        let messages = u32::try_from(bytes / message_bytes).unwrap_or(u32::MAX);
        if messages > settled {
            let answer = [disposition(settled, messages - 1), flow(messages)].concat();
            socket.write_all(&answer)?;
            settled = messages;
        }
    }
}

/// Reads a frame or a header. Returns the code of its performative; 0 for others.
fn next_code(socket: &mut TcpStream) -> io::Result<u8> {
    let mut head = [0; 8];
    socket.read_exact(&mut head)?;
    let [a, b, c, d, ..] = head;
    if &head[..4] == b"AMQP" {
        return Ok(0);
    }
    let size = u32::from_be_bytes([a, b, c, d]) as usize;
    let mut body = vec![0; size.saturating_sub(head.len())];
    socket.read_exact(&mut body)?;
    Ok(body.get(2).copied().unwrap_or(0))
}

/// Returns the state of the session and the credit, after so many messages.
fn flow(messages: u32) -> Vec<u8> {
    let (count, room) = (messages.to_be_bytes(), ROOM.to_be_bytes());
    let parts: [&[u8]; 10] = [
        b"\0\0\0\x29\x02\0\0\0\0\x53\x13\xc0\x1c\x07\x70",
        &count,
        b"\x70",
        &room,
        b"\x43\x70",
        &room,
        b"\x43\x70",
        &count,
        b"\x70",
        &room,
    ];
    parts.concat()
}

/// Returns the outcome of messages: accepted.
fn disposition(first: u32, last: u32) -> Vec<u8> {
    let (first, last) = (first.to_be_bytes(), last.to_be_bytes());
    let parts: [&[u8]; 5] = [
        b"\0\0\0\x1e\x02\0\0\0\0\x53\x15\xc0\x11\x05\x41\x70",
        &first,
        b"\x70",
        &last,
        b"\x41\0\x53\x24\x45",
    ];
    parts.concat()
}
