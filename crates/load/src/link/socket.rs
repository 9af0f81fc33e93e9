//! A non-blocking socket with its connection: reads all there is, writes once.

use std::{
    io::{self, Read, Write},
    net::Shutdown,
};

use mio::net::TcpStream;
use rabbitscope_amqp::Connection;

use super::{Failure, Moment, Wire};

pub(crate) struct Socket {
    pub(crate) stream: TcpStream,
    pub(super) connection: Connection,
    /// Read, but not complete yet.
    leftover: Vec<u8>,
    readable: bool,
    writable: bool,
    /// Messages in the output. They count as published when the socket has taken all of it.
    unwritten: u64,
    stalled_since: Option<u64>,
    blocked_since: Option<u64>,
}

pub(super) enum Fill {
    /// So many bytes from the front are to be parsed.
    Bytes(usize),
    Nothing,
    Eof,
}

impl Socket {
    pub(super) fn new(wire: Wire) -> Self {
        let Wire { stream, connection, leftover } = wire;
        Self {
            stream,
            connection,
            leftover,
            readable: true,
            writable: true,
            unwritten: 0,
            stalled_since: None,
            blocked_since: None,
        }
    }

    pub(super) fn frame_max(&self) -> u32 {
        self.connection.limits().frame_max
    }

    /// The poll says that something has changed.
    pub(crate) fn wake(&mut self, readable: bool, writable: bool) {
        self.readable |= readable;
        self.writable |= writable;
    }

    pub(super) fn is_readable(&self) -> bool {
        self.readable
    }

    /// Messages may be encoded: the last ones are gone, and no alarm holds.
    pub(super) fn can_publish(&self) -> bool {
        self.writable && self.unwritten == 0 && self.blocked_since.is_none()
    }

    /// `count` messages were appended to the output.
    pub(super) fn encoded(&mut self, count: u64) {
        self.unwritten += count;
    }

    /// Puts what is left of earlier reads and one new read into the front of `scratch`.
    pub(super) fn fill(
        &mut self,
        scratch: &mut [u8],
        moment: &mut Moment<'_>,
    ) -> Result<Fill, Failure> {
        if !self.readable {
            return Ok(Fill::Nothing);
        }
        let kept = self.leftover.len();
        let room = scratch.len() - kept;
        match self.stream.read(&mut scratch[kept..]) {
            Ok(0) => {
                self.readable = false;
                Ok(Fill::Eof)
            }
            Ok(count) => {
                scratch[..kept].copy_from_slice(&self.leftover);
                self.leftover.clear();
                // A short read has emptied the socket; the poll tells of anything new.
                self.readable = count == room;
                moment.now = moment.clock.nanos();
                moment.tally.counts.reads += 1;
                moment.tally.counts.bytes_read += count as u64;
                self.connection.has_read(moment.clock.instant(moment.now));
                Ok(Fill::Bytes(kept + count))
            }
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => {
                self.readable = false;
                Ok(Fill::Nothing)
            }
            Err(error) if error.kind() == io::ErrorKind::Interrupted => Ok(Fill::Nothing),
            Err(error) => Err(broken(&error)),
        }
    }

    /// Remembers what could not be parsed yet.
    #[inline]
    pub(super) fn keep(&mut self, rest: &[u8]) {
        self.leftover.extend_from_slice(rest);
    }

    /// Writes what the socket takes.
    #[inline]
    pub(super) fn flush(&mut self, moment: &mut Moment<'_>) -> Result<(), Failure> {
        let output = self.connection.output();
        if output.is_empty() || !self.writable {
            return Ok(());
        }
        while !output.is_empty() && self.writable {
            let pending = output.pending();
            match self.stream.write(pending) {
                Ok(count) => {
                    self.writable = count == pending.len();
                    output.advance(count);
                    moment.tally.counts.writes += 1;
                    moment.tally.counts.bytes_written += count as u64;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => self.writable = false,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(broken(&error)),
            }
        }
        let is_empty = output.is_empty();
        self.connection.has_written(moment.clock.instant(moment.now));
        self.account(is_empty, moment);
        Ok(())
    }

    fn account(&mut self, is_empty: bool, moment: &mut Moment<'_>) {
        if is_empty {
            moment.tally.counts.published += self.unwritten;
            self.unwritten = 0;
            if let Some(since) = self.stalled_since.take() {
                moment.now = moment.clock.nanos();
                moment.tally.counts.socket_stall_nanos += moment.now.saturating_sub(since);
            }
        } else if self.unwritten > 0 && self.stalled_since.is_none() {
            self.stalled_since = Some(moment.now);
        }
    }

    pub(super) fn block(&mut self, now: u64) {
        self.blocked_since.get_or_insert(now);
    }

    pub(super) fn unblock(&mut self, moment: &mut Moment<'_>) {
        if let Some(since) = self.blocked_since.take() {
            moment.tally.counts.blocked_nanos += moment.now.saturating_sub(since);
        }
    }

    /// The connection is gone. A write that was cut short counts as if it had been whole: nobody
    /// knows how much of it the broker got. Nothing is read or written any more.
    pub(super) fn lose(&mut self, moment: &mut Moment<'_>) {
        moment.tally.counts.published += std::mem::take(&mut self.unwritten);
        if let Some(since) = self.stalled_since.take() {
            moment.tally.counts.socket_stall_nanos += moment.now.saturating_sub(since);
        }
        self.unblock(moment);
        (self.readable, self.writable) = (false, false);
        self.leftover = Vec::new();
        // Already broken, or about to be dropped: there is nothing to do about an error.
        self.stream.shutdown(Shutdown::Both).ok();
    }

    /// Stalls and blocks that go on are counted up to now, so that each second has its share.
    /// Heartbeats are sent and expected.
    pub(crate) fn tick(&mut self, moment: &mut Moment<'_>) -> Result<(), Failure> {
        let now = moment.now;
        if let Some(since) = &mut self.stalled_since {
            moment.tally.counts.socket_stall_nanos += now.saturating_sub(*since);
            *since = now;
        }
        if let Some(since) = &mut self.blocked_since {
            moment.tally.counts.blocked_nanos += now.saturating_sub(*since);
            *since = now;
        }
        self.connection.tick(moment.clock.instant(now))?;
        self.flush(moment)
    }
}

fn broken(error: &io::Error) -> Failure {
    Failure::lost(format!("the connection to the broker broke: {error}"))
}
