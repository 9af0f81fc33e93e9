//! The thread that owns the socket. It reads and delivers frames, writes frames on command, sends ticks, and detects
//! the loss of the node.

use std::{
    io,
    sync::{Arc, atomic::Ordering, mpsc},
    time::{Duration, Instant},
};

use mio::{Events, Interest, Poll, Token};

use super::{
    switchboard::{Arrived, Command, Renewal, Switchboard},
    wire::Wire,
};
use crate::{
    Term,
    distribution::{FrameReader, Incoming, Outgoing, frame_of, message_of},
};

pub(super) const WOKEN: Token = Token(0);
const SOCKET: Token = Token(1);

/// The only registered name on the hidden node.
const NET_KERNEL: &str = "net_kernel";

/// Interval of ticks, far below any tick time, which is a whole number of seconds.
const TICK_INTERVAL: Duration = Duration::from_secs(1);

/// Limit of bytes that a slow node has not read yet.
const MAX_UNSENT_BYTES: usize = 16 << 20;

/// Limit of bytes that one turn of the loop reads, some milliseconds of work. Without it, a node that sends without end
/// would delay ticks, commands and the end of the connection.
const MAX_READ_BYTES: usize = 1 << 20;

/// Timeout for sending the remaining frames when the connection is closed.
const CLOSE_TIMEOUT: Duration = Duration::from_secs(1);

pub(super) fn register(poll: &Poll, wire: &mut Wire) -> io::Result<()> {
    poll.registry().register(&mut wire.socket, SOCKET, Interest::READABLE | Interest::WRITABLE)
}

pub(super) struct Link {
    wire: Wire,
    poll: Poll,
    commands: mpsc::Receiver<Command>,
    shared: Arc<Switchboard>,
    frames: FrameReader,
    unsent: Vec<u8>,
    renewals: Vec<(Renewal, Vec<u8>)>,
    heard: Instant,
    next_tick: Instant,
    closing: Option<Instant>,
}

/// The cause of a connection's end.
enum End {
    /// The program closed it.
    Closed,
    /// The socket failed.
    Lost(String),
}

impl From<io::Error> for End {
    fn from(error: io::Error) -> Self {
        Self::Lost(error.to_string())
    }
}

impl Link {
    pub(super) fn new(
        wire: Wire,
        poll: Poll,
        commands: mpsc::Receiver<Command>,
        shared: Arc<Switchboard>,
    ) -> Self {
        let now = Instant::now();
        Self {
            wire,
            poll,
            commands,
            shared,
            frames: FrameReader::default(),
            unsent: Vec::new(),
            renewals: Vec::new(),
            heard: now,
            next_tick: now + TICK_INTERVAL,
            closing: None,
        }
    }

    pub(super) fn run(mut self) {
        let end = loop {
            if let Err(end) = self.turn() {
                break end;
            }
        };
        let reason = match end {
            End::Closed => "it was closed".to_owned(),
            End::Lost(reason) => reason,
        };
        self.shared.lose(reason);
    }

    /// Runs one turn: does all pending work, then waits.
    fn turn(&mut self) -> Result<(), End> {
        self.obey();
        let more = self.read()?;
        self.tick();
        self.write()?;
        let now = Instant::now();
        if let Some(limit) = self.closing {
            let sent = self.unsent.is_empty() && !self.wire.holds_back();
            if sent || now >= limit {
                return Err(End::Closed);
            }
        }
        let silence = Duration::from_millis(self.shared.silence_ms.load(Ordering::Relaxed));
        if now.duration_since(self.heard) > silence {
            return Err(End::Lost(format!("it sent nothing for {} s", silence.as_secs())));
        }
        if more {
            // The poll reports new data, not the data that this turn left.
            return Ok(());
        }
        let wait = self.next_tick.saturating_duration_since(now);
        match self.poll.poll(&mut Events::with_capacity(4), Some(wait)) {
            Err(error) if error.kind() != io::ErrorKind::Interrupted => Err(error.into()),
            _ => Ok(()),
        }
    }

    fn obey(&mut self) {
        while let Ok(command) = self.commands.try_recv() {
            match command {
                Command::Send(frame) => self.unsent.extend_from_slice(&frame),
                Command::Renew(key, frame) => self.renewals.push((key, frame)),
                Command::StopRenewing(key) => self.renewals.retain(|(found, _)| *found != key),
                Command::Close => self.closing = Some(Instant::now() + CLOSE_TIMEOUT),
            }
        }
    }

    fn tick(&mut self) {
        let now = Instant::now();
        if now < self.next_tick {
            return;
        }
        self.next_tick = now + TICK_INTERVAL;
        self.unsent.extend_from_slice(&[0; 4]);
        for (_, frame) in &self.renewals {
            self.unsent.extend_from_slice(frame);
        }
    }

    /// Reads and delivers frames. Returns whether more data may be available.
    fn read(&mut self) -> Result<bool, End> {
        let mut buffer = [0; 16 << 10];
        let mut taken = 0;
        while taken < MAX_READ_BYTES {
            match self.wire.read(&mut buffer) {
                Ok(0) => return Err(End::Lost("the node closed it".to_owned())),
                Ok(count) => {
                    self.heard = Instant::now();
                    taken += count;
                    self.frames.push(&buffer[..count]);
                    self.hand_out()?;
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(false),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(true)
    }

    fn write(&mut self) -> Result<(), End> {
        if self.unsent.len() > MAX_UNSENT_BYTES {
            return Err(End::Lost("the node does not read its messages".to_owned()));
        }
        while !self.unsent.is_empty() || self.wire.holds_back() {
            match self.wire.write(&self.unsent) {
                Ok(count) => drop(self.unsent.drain(..count)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(()),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error.into()),
            }
        }
        Ok(())
    }

    fn hand_out(&mut self) -> Result<(), End> {
        loop {
            let frame = match self.frames.next_frame() {
                Ok(None) => return Ok(()),
                Ok(Some(frame)) => Incoming::parse(frame),
                Err(error) => return Err(End::Lost(error.to_string())),
            };
            let incoming = frame.map_err(|error| End::Lost(error.to_string()))?;
            if let Some(answer) = answers(&self.shared, incoming) {
                self.unsent.extend_from_slice(&frame_of(answer));
            }
        }
    }
}

/// Delivers a message. Returns the frame that the hidden node must send at once, if any.
fn answers(shared: &Switchboard, incoming: Incoming) -> Option<Outgoing> {
    let mut state = shared.state();
    let noproc = || Term::atom("noproc");
    match incoming {
        Incoming::Message { to, payload } => {
            state.entry(&to)?.deliver(Arrived::Message(payload));
            None
        }
        Incoming::Down { to, reference, reason } => {
            state.entry(&to)?.deliver(Arrived::Down { reference, reason });
            None
        }
        Incoming::Exit { from, to, reason } => {
            let entry = state.entry(&to)?;
            entry.remove_link(&from);
            entry.deliver(Arrived::Exit { from, reason });
            None
        }
        Incoming::Link { from, to } => match state.entry(&to) {
            Some(entry) => {
                entry.add_link(from);
                None
            }
            None => Some(Outgoing::Exit { from: to, to: from, reason: noproc() }),
        },
        Incoming::Unlink { id, from, to } => {
            if let Some(entry) = state.entry(&to) {
                entry.remove_link(&from);
            }
            Some(Outgoing::Unlinked { id, from: to, to: from })
        }
        // It always exists: `net_adm:ping/1` monitors it before the call.
        Incoming::Monitor { to, .. } if to.is_atom(NET_KERNEL) => None,
        Incoming::Monitor { from, to, reference } => {
            match to.as_pid().and_then(|pid| state.entry(pid)) {
                Some(entry) => {
                    entry.add_monitor(from, reference);
                    None
                }
                None => Some(Outgoing::Down { from: to, to: from, reference, reason: noproc() }),
            }
        }
        Incoming::Demonitor { reference } => {
            state.mailboxes.values_mut().for_each(|entry| entry.remove_monitor(&reference));
            None
        }
        Incoming::ToName { name, payload } if name == NET_KERNEL => answer_to_ping(&payload),
        Incoming::ToName { .. } | Incoming::Other => None,
    }
}

/// Answers the request `{is_auth, Node}` of `net_adm:ping/1`.
fn answer_to_ping(payload: &[u8]) -> Option<Outgoing> {
    let message = message_of(payload).ok()?;
    let [caller, request] = message.as_tagged("$gen_call")? else { return None };
    let ([from, tag], Some([_])) = (caller.as_tuple()?, request.as_tagged("is_auth")) else {
        return None;
    };
    let answer = Term::tuple([tag.clone(), Term::atom("yes")]);
    Some(Outgoing::Message { to: from.as_pid()?.clone(), message: answer })
}
