//! The bare writer: the bytes of one write again and again, and the answers read and dropped.

use std::{
    io::{self, ErrorKind, Read, Write},
    net::{SocketAddr, TcpStream},
    os::fd::AsRawFd as _,
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token, unix::SourceFd};

use super::{
    Cost,
    byte_sink::{self, Answers, READ_BYTES},
    protocol::Chunk,
    thread_cpu,
};

/// Writes between two reads of answers. Chosen: a mebibyte of messages, so that reads are few and their bytes are still
/// in the cache.
const WRITES_PER_READ: u64 = 16;

/// Longest wait for the sink.
const MAX_WAIT: Duration = Duration::from_millis(100);

/// Writes a chunk repeatedly. The sink answers its messages like this.
pub(crate) fn write_bare(
    chunk: &Chunk,
    answers: Answers,
    sink: SocketAddr,
    length: Duration,
) -> io::Result<Cost> {
    let mut socket = TcpStream::connect(sink)?;
    socket.set_nodelay(true)?;
    byte_sink::skip_handshake(&mut socket, answers)?;
    let is_answered = answers != Answers::Nothing;
    let (start, cpu) = (Instant::now(), thread_cpu());
    let writes = if is_answered {
        write_and_read(&mut socket, &chunk.bytes, start + length)?
    } else {
        write_only(&mut socket, &chunk.bytes, start + length)?
    };
    Ok(Cost { messages: writes * chunk.messages, cpu: thread_cpu().saturating_sub(cpu) })
}

fn write_only(socket: &mut TcpStream, bytes: &[u8], end: Instant) -> io::Result<u64> {
    let mut writes = 0;
    while Instant::now() < end {
        socket.write_all(bytes)?;
        writes += 1;
    }
    Ok(writes)
}

/// Writes until the socket is full, and reads with few calls.
fn write_and_read(socket: &mut TcpStream, bytes: &[u8], end: Instant) -> io::Result<u64> {
    socket.set_nonblocking(true)?;
    let (mut poll, mut events) = (Poll::new()?, Events::with_capacity(1));
    let both = Interest::READABLE | Interest::WRITABLE;
    poll.registry().register(&mut SourceFd(&socket.as_raw_fd()), Token(0), both)?;
    let mut room = vec![0; READ_BYTES];
    let (mut writes, mut at) = (0, 0);
    while Instant::now() < end {
        match socket.write(&bytes[at..]) {
            Ok(taken) => at += taken,
            Err(error) if error.kind() == ErrorKind::WouldBlock => {
                drain(socket, &mut room)?;
                poll.poll(&mut events, Some(MAX_WAIT))?;
            }
            Err(error) => return Err(error),
        }
        if at == bytes.len() {
            (writes, at) = (writes + 1, 0);
            if writes % WRITES_PER_READ == 0 {
                drain(socket, &mut room)?;
            }
        }
    }
    Ok(writes)
}

/// Reads and drops all bytes that have arrived.
fn drain(socket: &mut TcpStream, room: &mut [u8]) -> io::Result<()> {
    loop {
        match socket.read(room) {
            Ok(count) if count == room.len() => {}
            Ok(_) => return Ok(()),
            Err(error) if error.kind() == ErrorKind::WouldBlock => return Ok(()),
            Err(error) => return Err(error),
        }
    }
}
