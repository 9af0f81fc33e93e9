//! The reader of frames of one direction of a connection.

use super::{
    dissection::{Dissection, opening},
    frame::Protocol,
    framer::{Cursor, Progress, Trust},
    search::{Search, from_place},
    sink::{FrameSink, Loss, Sensitive, SensitiveKind, Skipped},
};
use crate::{
    packet::Timestamp,
    report::Side,
    stream::{Chunk, Gap},
};

/// Reads frames from one direction of a connection.
#[derive(Debug)]
pub struct Dissector {
    sender: Side,
    state: State,
    protocol: Option<Protocol>,
    is_opened: bool,
    keeps_arguments: bool,
    skipped_bytes: u64,
    /// Offset after all bytes that arrived.
    end: u64,
    time: Timestamp,
}

#[derive(Debug)]
enum State {
    /// No bytes arrived yet.
    Empty,
    /// Frames follow each other.
    Reading(Box<Dissection>),
    /// No frames are known from this offset on.
    Searching { from: u64, search: Search },
}

impl Dissector {
    /// Creates a dissector for the direction of `sender`.
    pub const fn new(sender: Side) -> Self {
        Self {
            sender,
            state: State::Empty,
            protocol: None,
            is_opened: false,
            keeps_arguments: false,
            skipped_bytes: 0,
            end: 0,
            time: Timestamp::from_unix_nanos(0),
        }
    }

    /// Keeps the arguments of all frames to come. Call it before the first bytes.
    pub(super) const fn keep_arguments(&mut self) {
        self.keeps_arguments = true;
    }

    /// Returns the protocol, once it is known.
    pub const fn protocol(&self) -> Option<Protocol> {
        self.protocol
    }

    /// Returns whether the beginning of the connection was seen.
    pub const fn is_opened(&self) -> bool {
        self.is_opened
    }

    /// Returns the number of bytes in which no frame was found so far, including those of gaps.
    pub fn skipped_bytes(&self) -> u64 {
        match self.state {
            State::Searching { from, .. } => self.skipped_bytes + (self.end - from),
            _ => self.skipped_bytes,
        }
    }

    /// Sets the protocol of the other direction. `from_the_start` means that its first frame was seen, and nothing of
    /// this direction before.
    pub fn expect(&mut self, protocol: Protocol, from_the_start: bool) {
        match &mut self.state {
            State::Empty if from_the_start => {
                self.is_opened = true;
                self.read_as(Dissection::new(protocol, self.sender, Trust::Full));
            }
            State::Empty => self.search(0, Some(protocol)),
            State::Searching { search, .. } => search.expect(protocol),
            State::Reading(_) => {}
        }
    }

    /// Returns the level of MQTT, if it is known.
    pub(super) fn level(&self) -> Option<u8> {
        match &self.state {
            State::Reading(dissection) => dissection.level(),
            _ => None,
        }
    }

    /// Takes the level of MQTT that the other direction has shown.
    pub(super) fn expect_level(&mut self, level: u8) {
        if let State::Reading(dissection) = &mut self.state {
            dissection.expect_level(level);
        }
    }

    /// Reads the next bytes. They must follow the last ones, or a reported gap.
    pub fn chunk(&mut self, chunk: &Chunk<'_>, sink: &mut impl FrameSink) {
        self.time = chunk.time;
        self.end = chunk.offset + chunk.bytes.len() as u64;
        if matches!(self.state, State::Empty) && !chunk.bytes.is_empty() {
            self.begin(chunk);
        }
        let mut cursor = Cursor::new(*chunk);
        while !cursor.rest().is_empty() {
            cursor = match &mut self.state {
                State::Empty => return,
                State::Reading(_) => self.read(cursor, sink),
                State::Searching { .. } => self.look(cursor, sink),
            };
        }
    }

    /// Processes a gap: bytes are missing.
    pub fn gap(&mut self, gap: &Gap, sink: &mut impl FrameSink) {
        self.time = gap.time;
        self.end = gap.offset + gap.length;
        match &mut self.state {
            State::Reading(dissection) => {
                if !dissection.bridges(gap) {
                    self.lose(gap.offset, sink);
                }
            }
            State::Empty => {
                self.search(gap.offset, self.protocol);
                sink.lost(&Loss { sender: self.sender, offset: gap.offset, time: gap.time });
            }
            State::Searching { search, .. } => search.gap(gap),
        }
    }

    fn begin(&mut self, chunk: &Chunk<'_>) {
        match opening(chunk.bytes) {
            Some(protocol) => {
                self.is_opened = true;
                self.read_as(Dissection::new(protocol, self.sender, Trust::Full));
            }
            None => self.search(chunk.offset, self.protocol),
        }
    }

    fn read_as(&mut self, mut dissection: Dissection) {
        if self.keeps_arguments {
            dissection.keep_arguments();
        }
        self.protocol = Some(dissection.protocol());
        self.state = State::Reading(Box::new(dissection));
    }

    fn search(&mut self, from: u64, expected: Option<Protocol>) {
        let search = Search::new(self.sender, expected, self.protocol.is_none());
        self.state = State::Searching { from, search };
    }

    fn lose(&mut self, offset: u64, sink: &mut impl FrameSink) {
        self.search(offset, self.protocol);
        sink.lost(&Loss { sender: self.sender, offset, time: self.time });
    }

    fn read<'a>(&mut self, mut cursor: Cursor<'a>, sink: &mut impl FrameSink) -> Cursor<'a> {
        let State::Reading(dissection) = &mut self.state else { return cursor };
        loop {
            match dissection.next(&mut cursor, sink) {
                Progress::Frame(place) => sink.frame(&dissection.frame(place)),
                Progress::Starved => return cursor,
                // The search for frames begins after its first byte, as far as that is still available.
                Progress::Lost => {
                    let start = dissection.frame_start().unwrap_or(cursor.offset());
                    self.lose(start, sink);
                    return from_place(cursor.chunk, start + 1);
                }
            }
        }
    }

    fn look<'a>(&mut self, cursor: Cursor<'a>, sink: &mut impl FrameSink) -> Cursor<'a> {
        let State::Searching { from, search } = &mut self.state else { return cursor };
        let from = *from;
        let (chunk, start) = (cursor.chunk, cursor.offset());
        let Some(found) = search.chunk(cursor) else {
            self.forget(start..self.end, sink);
            return Cursor { chunk, at: chunk.bytes.len() };
        };
        self.forget(start..found.start, sink);
        self.skipped_bytes += found.start - from;
        let (sender, range) = (self.sender, from..found.start);
        if !self.is_opened && self.protocol.is_none() {
            self.is_opened = found.dissection.known().is_opening;
        }
        self.read_as(found.dissection);
        sink.found(&Skipped { sender, range, time: chunk.time });
        found.kept.tell(sink);
        Cursor { chunk, at: found.used }
    }

    /// Reports bytes that are not recognized, or not yet: some of them may have been read before a loss.
    fn forget(&self, range: core::ops::Range<u64>, sink: &mut impl FrameSink) {
        if !range.is_empty() {
            let kind = SensitiveKind::Unrecognized;
            sink.sensitive(&Sensitive { sender: self.sender, range, kind });
        }
    }
}
