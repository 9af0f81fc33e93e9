//! One connection: its phase, the deadline of the phase, and its next step.
//!
//! ```text
//!  accepted ─► Head ─► Answering ─► Sending ─► Idle ─► Head …
//!                └── not let in ───────┘ └─► Leaving ─► closed
//! ```

use std::{
    io::{self, ErrorKind, Read},
    net::{IpAddr, Shutdown},
    time::Instant,
};

use mio::net::TcpStream;

use super::{
    Limits, Request, Response,
    access::Access,
    outgoing::Outgoing,
    request::{self, MAX_HEAD_BYTES},
};

/// Size of one read from a socket.
const READ_BYTES: usize = 4096;

/// Number of bytes that are read and dropped after a refusal. A refused client may still be sending. Closing a
/// connection with unread bytes would reset it, and the client would not receive the response.
const MAX_DISCARDED_BYTES: usize = 256 << 10;

/// A connection of a client.
#[derive(Debug)]
pub(crate) struct Connection {
    stream: TcpStream,
    peer: IpAddr,
    /// Address that the client connected to.
    local: IpAddr,
    /// Bytes of incomplete or unanswered requests.
    received: Vec<u8>,
    phase: Phase,
    since: Instant,
    has_asked: bool,
}

#[derive(Debug)]
enum Phase {
    /// The head of a request is not complete.
    Head,
    /// A worker has the request.
    Answering {
        keep_alive: bool,
        is_head: bool,
    },
    Sending {
        response: Outgoing,
        keep_alive: bool,
    },
    Idle,
    Leaving {
        discarded: usize,
    },
}

/// The next step of a connection.
#[derive(Debug)]
pub(crate) enum Next {
    /// Wait until the socket is ready.
    Wait,
    /// Pass the request to a worker.
    Answer(Request),
    Close,
}

enum Step {
    Again,
    Next(Next),
}

impl Connection {
    pub(crate) fn new(stream: TcpStream, peer: IpAddr, now: Instant) -> io::Result<Self> {
        // A response must not wait for the acknowledgement of the one before.
        stream.set_nodelay(true)?;
        let local = stream.local_addr()?.ip();
        let (received, phase) = (Vec::new(), Phase::Head);
        Ok(Self { stream, peer, local, received, phase, since: now, has_asked: false })
    }

    /// Continues as far as the socket allows.
    pub(crate) fn advance(&mut self, access: &Access, now: Instant) -> Next {
        loop {
            let step = match self.phase {
                Phase::Head | Phase::Idle => self.take_head(access, now),
                Phase::Answering { .. } => return Next::Wait,
                Phase::Sending { .. } => self.send(now),
                Phase::Leaving { .. } => self.discard(),
            };
            match step {
                Ok(Step::Again) => {}
                Ok(Step::Next(next)) => return next,
                Err(error) if error.kind() == ErrorKind::WouldBlock => return Next::Wait,
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                // A broken connection only concerns its client.
                Err(_) => return Next::Close,
            }
        }
    }

    /// Sets the worker's response. [`Connection::advance`] sends it.
    pub(crate) fn answer(&mut self, response: Response, now: Instant) {
        if let Phase::Answering { keep_alive, is_head } = self.phase {
            let response = Outgoing::new(response, keep_alive, !is_head);
            self.enter(Phase::Sending { response, keep_alive }, now);
        }
    }

    /// Sets a response in place of the worker's, and closes the connection afterwards. The worker's response may
    /// still arrive, and must not answer a later request.
    pub(crate) fn answer_and_close(&mut self, response: Response, now: Instant) {
        if let Phase::Answering { keep_alive, .. } = &mut self.phase {
            *keep_alive = false;
        }
        self.answer(response, now);
    }

    pub(crate) fn deadline(&self, limits: &Limits) -> Instant {
        self.since
            + match self.phase {
                Phase::Head => limits.head,
                Phase::Answering { .. } => limits.answer,
                Phase::Sending { .. } => limits.response,
                Phase::Idle => limits.idle,
                Phase::Leaving { .. } => limits.leaving,
            }
    }

    /// Returns the rank and age for closing connections when the server is full; the lowest goes first. In order:
    /// refused clients, clients without a request, idle clients, clients that do not read their response. `None`
    /// while a worker makes the response: such a connection stays.
    pub(crate) fn dispensable(&self) -> Option<(u8, Instant)> {
        let rank = match self.phase {
            Phase::Leaving { .. } => 0,
            Phase::Head if !self.has_asked => 1,
            Phase::Head | Phase::Idle => 2,
            Phase::Sending { .. } => 3,
            Phase::Answering { .. } => return None,
        };
        Some((rank, self.since))
    }

    /// Returns true if the connection comes from this address and has not sent its first head.
    pub(crate) fn is_unasked_of(&self, peer: IpAddr) -> bool {
        !self.has_asked && self.peer == peer && matches!(self.phase, Phase::Head)
    }

    pub(crate) fn peer(&self) -> IpAddr {
        self.peer
    }

    pub(crate) fn is_answering(&self) -> bool {
        matches!(self.phase, Phase::Answering { .. })
    }

    pub(crate) fn unsent_bytes(&self) -> usize {
        if let Phase::Sending { response, .. } = &self.phase { response.bytes() } else { 0 }
    }

    fn enter(&mut self, phase: Phase, now: Instant) {
        self.phase = phase;
        self.since = now;
    }

    fn take_head(&mut self, access: &Access, now: Instant) -> io::Result<Step> {
        if self.received.is_empty() {
            return self.receive();
        }
        if matches!(self.phase, Phase::Idle) {
            self.enter(Phase::Head, now);
        }
        match request::parse(&self.received) {
            Ok(None) => return self.receive(),
            Err(refusal) => self.refuse(refusal, false, now),
            Ok(Some((request, length))) => {
                self.received.drain(..length);
                self.has_asked = true;
                let (keep_alive, is_head) = (request.keep_alive, request.is_head);
                let Some(refusal) = access.refusal(&request, self.local) else {
                    self.enter(Phase::Answering { keep_alive, is_head }, now);
                    return Ok(Step::Next(Next::Answer(request)));
                };
                self.refuse(refusal, is_head, now);
            }
        }
        Ok(Step::Again)
    }

    fn refuse(&mut self, refusal: Response, is_head: bool, now: Instant) {
        self.enter(Phase::Answering { keep_alive: false, is_head }, now);
        self.answer(refusal, now);
    }

    /// Reads from the socket. There is always room: a head at the size limit was refused.
    fn receive(&mut self) -> io::Result<Step> {
        let mut bytes = [0; READ_BYTES];
        let room = MAX_HEAD_BYTES.saturating_sub(self.received.len()).min(READ_BYTES);
        let count = self.stream.read(&mut bytes[..room])?;
        self.received.extend_from_slice(&bytes[..count]);
        Ok(if count == 0 { Step::Next(Next::Close) } else { Step::Again })
    }

    fn send(&mut self, now: Instant) -> io::Result<Step> {
        let Phase::Sending { response, keep_alive } = &mut self.phase else {
            return Ok(Step::Again);
        };
        if !response.send(&mut self.stream)? {
            return Ok(Step::Next(Next::Wait));
        }
        if *keep_alive {
            self.enter(Phase::Idle, now);
        } else {
            self.stream.shutdown(Shutdown::Write)?;
            self.received = Vec::new();
            self.enter(Phase::Leaving { discarded: 0 }, now);
        }
        Ok(Step::Again)
    }

    fn discard(&mut self) -> io::Result<Step> {
        let Phase::Leaving { discarded } = &mut self.phase else { return Ok(Step::Again) };
        let count = self.stream.read(&mut [0; READ_BYTES])?;
        *discarded += count;
        let is_over = count == 0 || *discarded > MAX_DISCARDED_BYTES;
        Ok(if is_over { Step::Next(Next::Close) } else { Step::Again })
    }
}
