//! The sink's side of the stream protocol: a login, the place of a stream, which is here, and confirms of all messages that
//! each read brings.

use std::{
    io::{self, Read, Write},
    net::TcpStream,
};

use rabbitscope_streams::protocol::commands::{
    ANSWER, METADATA, PUBLISH, PUBLISH_CONFIRM, SASL_AUTHENTICATE, SASL_HANDSHAKE, TUNE, VERSION,
};

use super::byte_sink::READ_BYTES;

/// Bytes of a frame of messages before the first of them: size, key, version, publisher, number of messages.
pub(crate) const HEAD_BYTES: usize = 4 + 2 + 2 + 1 + 4;

/// Serves a connection whose first eight bytes were read.
pub(crate) fn serve(socket: &mut TcpStream, greeting: [u8; 8]) -> io::Result<()> {
    let mut head = greeting;
    loop {
        let [s0, s1, s2, s3, k0, k1, ..] = head;
        let (size, key) = (u32::from_be_bytes([s0, s1, s2, s3]), u16::from_be_bytes([k0, k1]));
        if key == PUBLISH {
            return confirm(socket, &head);
        }
        let mut content = vec![0; (size as usize + 4).saturating_sub(head.len())];
        socket.read_exact(&mut content)?;
        if key != TUNE {
            socket.write_all(&answer(socket, key, &content)?)?;
        }
        socket.read_exact(&mut head)?;
    }
}

/// Returns the answer to a request: its number, success, and more for some.
fn answer(socket: &TcpStream, key: u16, request: &[u8]) -> io::Result<Vec<u8>> {
    let number = request.get(..4).unwrap_or(&[0; 4]);
    let success = [number, &[0, 1]].concat();
    let port = u32::from(socket.local_addr()?.port()).to_be_bytes();
    let content = match key {
        // The only mechanism.
        SASL_HANDSHAKE => [&success[..], b"\0\0\0\x01\0\x05PLAIN"].concat(),
        // One node, and one stream whose leader is there.
        METADATA => [
            number,
            b"\0\0\0\x01\0\0\0\x09127.0.0.1",
            &port,
            b"\0\0\0\x01\0\x01s\0\x01\0\0\0\0\0\0",
        ]
        .concat(),
        SASL_AUTHENTICATE => success.clone(),
        // No properties.
        _ => [&success[..], &[0; 4]].concat(),
    };
    let mut answers = frame(key | ANSWER, &content);
    if key == SASL_AUTHENTICATE {
        // Frames of 1 MiB, and no heartbeats.
        answers.extend(frame(TUNE, b"\0\x10\0\0\0\0\0\0"));
    }
    Ok(answers)
}

fn frame(key: u16, content: &[u8]) -> Vec<u8> {
    let size = u32::try_from(4 + content.len()).unwrap_or(0);
    [&size.to_be_bytes()[..], &key.to_be_bytes(), &VERSION.to_be_bytes(), content].concat()
}

/// Confirms messages, whose first bytes are `head`. Those of a frame have one size.
pub(crate) fn confirm(socket: &mut TcpStream, head: &[u8]) -> io::Result<()> {
    let mut room = vec![0; READ_BYTES];
    room[..head.len()].copy_from_slice(head);
    let mut filled = head.len();
    loop {
        match socket.read(&mut room[filled..])? {
            0 => return Ok(()),
            count => filled += count,
        }
        let (mut at, mut publisher, mut numbers) = (0, 0, Vec::new());
        while let Some(head) = room[at..filled].first_chunk::<HEAD_BYTES>() {
            let [s0, s1, s2, s3, k0, k1, _, _, id, n0, n1, n2, n3] = *head;
            let end = at + 4 + u32::from_be_bytes([s0, s1, s2, s3]) as usize;
            if end > filled {
                break;
            }
            let (messages, count) = (&room[at + HEAD_BYTES..end], [n0, n1, n2, n3]);
            let size = messages.len().checked_div(u32::from_be_bytes(count) as usize);
            if u16::from_be_bytes([k0, k1]) == PUBLISH
                && let Some(size @ 8..) = size
            {
                publisher = id;
                let messages = messages.chunks_exact(size);
                messages.for_each(|message| numbers.extend_from_slice(&message[..8]));
            }
            at = end;
        }
        room.copy_within(at..filled, 0);
        filled -= at;
        if !numbers.is_empty() {
            let count = u32::try_from(numbers.len() / 8).unwrap_or(0).to_be_bytes();
            let content = [&[publisher][..], &count, &numbers].concat();
            socket.write_all(&frame(PUBLISH_CONFIRM, &content))?;
        }
    }
}
