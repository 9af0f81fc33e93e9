//! The search for frames in bytes that do not begin with one: in the middle of a connection, or after a gap.
//!
//! At every offset at which a frame may begin, a candidate reads strictly. The first one, by offset, that reads a few
//! consecutive frames is right. For AMQP 0-9-1 that means two frames with a known type, a length and 0xCE at the end.
//! The search keeps only the candidates, at most 48.

use super::{
    dissection::{Dissection, may_begin},
    frame::{Frame, IdentifierRun, Protocol},
    framer::{Cursor, Progress, Trust},
    reply::StoredReply,
    sink::{FrameSink, Loss, Sensitive, Skipped},
};
use crate::{
    report::Side,
    stream::{Chunk, Gap},
};

const CANDIDATES_MAX: usize = 48;
/// Maximum of ranges that a candidate keeps; a candidate with more is dropped.
const RANGES_MAX: usize = 1024;

/// A search for frames.
#[derive(Clone, Debug)]
pub(super) struct Search {
    sender: Side,
    expected: Option<Protocol>,
    /// True if no frame was seen in this direction yet. Then a frame that opens a connection is enough by itself.
    is_first: bool,
    candidates: Vec<Candidate>,
}

/// The result of a search.
pub(super) struct Found {
    pub(super) dissection: Dissection,
    /// Offset of the first frame.
    pub(super) start: u64,
    /// Bytes of the chunk that belong to the frames in `kept`, or precede them.
    pub(super) used: usize,
    pub(super) kept: Kept,
}

impl Search {
    pub(super) const fn new(sender: Side, expected: Option<Protocol>, is_first: bool) -> Self {
        Self { sender, expected, is_first, candidates: Vec::new() }
    }

    pub(super) fn expect(&mut self, protocol: Protocol) {
        self.expected = Some(protocol);
        self.candidates.retain(|candidate| candidate.dissection.protocol() == protocol);
    }

    pub(super) fn gap(&mut self, gap: &Gap) {
        self.candidates.retain_mut(|candidate| candidate.dissection.bridges(gap));
    }

    /// Reads the rest of a chunk.
    pub(super) fn chunk(&mut self, cursor: Cursor<'_>) -> Option<Found> {
        self.go_on(cursor).or_else(|| self.begin_anew(cursor))
    }

    fn go_on(&mut self, cursor: Cursor<'_>) -> Option<Found> {
        let mut at = 0;
        while let Some(candidate) = self.candidates.get_mut(at) {
            match candidate.read(cursor, self.is_first) {
                Reading::Undecided => at += 1,
                Reading::Wrong => drop(self.candidates.remove(at)),
                Reading::Right(used) => return Some(self.candidates.swap_remove(at).found(used)),
            }
        }
        None
    }

    fn begin_anew(&mut self, mut cursor: Cursor<'_>) -> Option<Found> {
        while !cursor.rest().is_empty() {
            for protocol in self.possible(&cursor) {
                let mut candidate = Candidate::new(protocol, self.sender, cursor.offset());
                match candidate.read(cursor, self.is_first) {
                    Reading::Undecided if self.candidates.len() < CANDIDATES_MAX => {
                        self.candidates.push(candidate);
                    }
                    Reading::Undecided | Reading::Wrong => {}
                    Reading::Right(used) => return Some(candidate.found(used)),
                }
            }
            cursor.at += 1;
        }
        None
    }

    /// Returns the protocols of which a frame may begin here. MQTT packets have no mark, so without a hint the search
    /// considers them only at the start of segments.
    fn possible(&self, cursor: &Cursor<'_>) -> impl Iterator<Item = Protocol> + use<> {
        let rest = cursor.rest();
        let begins_segment = cursor.offset() == cursor.chunk.segment_start;
        let expected = self.expected;
        Protocol::ALL
            .map(|protocol| {
                let is_possible = match expected {
                    Some(expected) => protocol == expected,
                    None => protocol != Protocol::Mqtt || begins_segment,
                };
                (is_possible && may_begin(protocol, rest)).then_some(protocol)
            })
            .into_iter()
            .flatten()
    }
}

/// An offset at which a frame may begin, and the frames read from there.
#[derive(Clone, Debug)]
struct Candidate {
    dissection: Dissection,
    start: u64,
    kept: Kept,
}

enum Reading {
    Undecided,
    Wrong,
    /// Right; with the bytes of the chunk up to the end of the last frame.
    Right(usize),
}

impl Candidate {
    fn new(protocol: Protocol, sender: Side, start: u64) -> Self {
        let dissection = Dissection::new(protocol, sender, Trust::Little);
        Self { dissection, start, kept: Kept::default() }
    }

    fn read(&mut self, mut cursor: Cursor<'_>, is_first: bool) -> Reading {
        loop {
            match self.dissection.next(&mut cursor, &mut self.kept) {
                Progress::Starved => {
                    return if self.kept.is_full() { Reading::Wrong } else { Reading::Undecided };
                }
                Progress::Lost => return Reading::Wrong,
                Progress::Frame(place) => {
                    self.kept.frame(&self.dissection.frame(place));
                    let opens = is_first && self.dissection.known().is_opening;
                    if opens || self.kept.frames.len() >= running(self.dissection.protocol()) {
                        return Reading::Right(cursor.at);
                    }
                }
            }
        }
    }

    fn found(mut self, used: usize) -> Found {
        self.dissection.trust();
        Found { dissection: self.dissection, start: self.start, used, kept: self.kept }
    }
}

/// Returns the number of consecutive frames that confirm a protocol.
const fn running(protocol: Protocol) -> usize {
    match protocol {
        Protocol::Amqp091 | Protocol::Amqp10 | Protocol::RabbitmqStream => 2,
        // Their headers have fewer fixed bits.
        Protocol::Mqtt | Protocol::Tls => 3,
    }
}

/// The frames and ranges that a candidate has found.
#[derive(Clone, Debug, Default)]
pub(super) struct Kept {
    frames: Vec<(Frame<'static>, Vec<IdentifierRun>, StoredReply)>,
    ranges: Vec<Sensitive>,
}

impl Kept {
    fn is_full(&self) -> bool {
        self.ranges.len() >= RANGES_MAX
    }

    /// Reports ranges first, so that they are known before the frames.
    pub(super) fn tell(&self, sink: &mut impl FrameSink) {
        for range in &self.ranges {
            sink.sensitive(range);
        }
        for (frame, identifiers, reply) in &self.frames {
            sink.frame(&Frame { identifiers, reply: reply.reply(), ..*frame });
        }
    }
}

impl FrameSink for Kept {
    fn frame(&mut self, frame: &Frame<'_>) {
        let bare = Frame { identifiers: &[], reply: None, arguments: &[], ..*frame };
        self.frames.push((bare, frame.identifiers.to_vec(), StoredReply::from_reply(frame.reply)));
    }

    fn sensitive(&mut self, sensitive: &Sensitive) {
        // A candidate with too many ranges is dropped, so that no range is left out.
        if !self.is_full() {
            self.ranges.push(sensitive.clone());
        }
    }

    fn lost(&mut self, _: &Loss) {}

    fn found(&mut self, _: &Skipped) {}
}

/// Returns the rest of a chunk from an offset on.
pub(super) fn from_place(chunk: Chunk<'_>, offset: u64) -> Cursor<'_> {
    let at = offset.saturating_sub(chunk.offset).min(chunk.bytes.len() as u64);
    Cursor { chunk, at: usize::try_from(at).unwrap_or(chunk.bytes.len()) }
}
