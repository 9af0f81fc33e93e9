//! Cuts a direction into frames, whatever pieces it comes in.
//!
//! A [`Grammar`] says how many bytes it wants to see next, and how many can be skipped. The [`Framer`] gives it those bytes
//! where they lie, or gathers them if they are split, and notes where a frame begins and ends. What the bytes mean is
//! the grammar's business.

use super::{
    details::Details,
    frame::Place,
    sink::{FrameSink, Sensitive, SensitiveKind},
};
use crate::{
    report::Side,
    stream::{Chunk, Gap},
};

/// The most that a grammar may ask to see at once.
pub(super) const READ_MAX: usize = 4096;

/// What a grammar wants next.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// To see so many bytes, at most [`READ_MAX`].
    Read(usize),
    /// To see `then` bytes behind `bytes` that do not matter. None of them: the next call has an empty slice.
    Skip { bytes: u64, then: usize },
    /// The frame ended with the last byte that was read or skipped.
    Complete,
    /// This is no frame.
    Lost,
}

/// How sure a dissection is that the bytes are of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Whatever is odd means that they are not.
    Little,
    /// What is odd is a frame of an unknown kind, as long as its length holds.
    Full,
}

/// What a grammar knows of a frame when it is complete.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) channel: u16,
    pub(super) kind: &'static str,
    pub(super) details: Details,
    /// Only the first frame of a direction is like this, and hardly anything else.
    pub(super) is_opening: bool,
}

/// Understands one protocol.
pub(super) trait Grammar {
    /// Bytes to see first of each frame.
    const START: usize;

    /// Takes the bytes that it asked for.
    fn read(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next;
}

/// Tells a sink ranges of bytes that begin behind what was just read.
pub(super) struct Ranges<'s, S> {
    pub(super) sink: &'s mut S,
    sender: Side,
    from: u64,
}

impl<S: FrameSink> Ranges<'_, S> {
    /// The next `bytes` are of this kind.
    pub(super) fn next(&mut self, bytes: u64, kind: SensitiveKind) {
        if bytes > 0 {
            let range = self.from..self.from.saturating_add(bytes);
            self.sink.sensitive(&Sensitive { sender: self.sender, range, kind });
        }
    }
}

/// What is left of a chunk.
#[derive(Clone, Copy, Debug)]
pub(super) struct Cursor<'a> {
    pub(super) chunk: Chunk<'a>,
    pub(super) at: usize,
}

impl<'a> Cursor<'a> {
    pub(super) const fn new(chunk: Chunk<'a>) -> Self {
        Self { chunk, at: 0 }
    }

    pub(super) fn rest(&self) -> &'a [u8] {
        &self.chunk.bytes[self.at..]
    }

    /// Place of the next byte in the direction.
    pub(super) const fn offset(&self) -> u64 {
        self.chunk.offset + self.at as u64
    }
}

/// How far a framer came.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// A frame is complete.
    Frame(Place),
    /// The chunk is used up.
    Starved,
    /// The bytes are no frames.
    Lost,
}

/// Where a frame began.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    offset: u64,
    packet: u64,
    begins_segment: bool,
}

/// Cuts one direction into frames.
#[derive(Clone, Debug)]
pub(super) struct Framer {
    sender: Side,
    beginning: Option<Beginning>,
    skip: u64,
    want: usize,
    /// The beginning of the bytes that are wanted, when they are split.
    held: Vec<u8>,
    missing_bytes: u64,
}

impl Framer {
    pub(super) const fn new<G: Grammar>(sender: Side) -> Self {
        Self {
            sender,
            beginning: None,
            skip: 0,
            want: G::START,
            held: Vec::new(),
            missing_bytes: 0,
        }
    }

    /// Reads on until a frame is complete or nothing is left.
    #[inline]
    pub(super) fn next<G: Grammar>(
        &mut self,
        grammar: &mut G,
        cursor: &mut Cursor<'_>,
        sink: &mut impl FrameSink,
    ) -> Progress {
        self.begin(cursor);
        loop {
            if !self.skip_over(cursor) {
                return Progress::Starved;
            }
            let Some(next) = self.read(grammar, cursor, sink) else {
                return Progress::Starved;
            };
            match next {
                Next::Read(bytes) => self.want = bytes,
                Next::Skip { bytes, then } => (self.skip, self.want) = (bytes, then),
                Next::Complete => return self.complete::<G>(cursor),
                Next::Lost => return Progress::Lost,
            }
        }
    }

    /// Whether bytes that never come would have been skipped. Then reading goes on behind them.
    pub(super) fn bridges(&mut self, gap: &Gap) -> bool {
        let is_within = self.beginning.is_some() && self.skip >= gap.length;
        if is_within {
            self.skip -= gap.length;
            self.missing_bytes += gap.length;
        }
        is_within
    }

    /// Where the frame began that is being read.
    pub(super) fn frame_start(&self) -> Option<u64> {
        self.beginning.map(|beginning| beginning.offset)
    }

    fn begin(&mut self, cursor: &Cursor<'_>) {
        if self.beginning.is_none() && !cursor.rest().is_empty() {
            let offset = cursor.offset();
            let begins_segment = offset == cursor.chunk.segment_start;
            let packet = cursor.chunk.packet;
            self.beginning = Some(Beginning { offset, packet, begins_segment });
        }
    }

    /// False: more is to be skipped than there is.
    fn skip_over(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let left = cursor.rest().len();
        let skipped = usize::try_from(self.skip).map_or(left, |skip| skip.min(left));
        cursor.at += skipped;
        self.skip -= skipped as u64;
        self.skip == 0
    }

    /// None: more is wanted than there is.
    #[inline]
    fn read<G: Grammar>(
        &mut self,
        grammar: &mut G,
        cursor: &mut Cursor<'_>,
        sink: &mut impl FrameSink,
    ) -> Option<Next> {
        let rest = cursor.rest();
        let missing = self.want - self.held.len();
        let Some(bytes) = rest.get(..missing) else {
            self.held.extend_from_slice(rest);
            cursor.at += rest.len();
            return None;
        };
        cursor.at += missing;
        let mut ranges = Ranges { sink, sender: self.sender, from: cursor.offset() };
        if self.held.is_empty() {
            return Some(grammar.read(bytes, &mut ranges));
        }
        self.held.extend_from_slice(bytes);
        let next = grammar.read(&self.held, &mut ranges);
        self.held.clear();
        Some(next)
    }

    fn complete<G: Grammar>(&mut self, cursor: &Cursor<'_>) -> Progress {
        self.want = G::START;
        let Some(beginning) = self.beginning.take() else { return Progress::Starved };
        let end = cursor.offset();
        Progress::Frame(Place {
            start: beginning.offset,
            end,
            first_packet: beginning.packet,
            last_packet: cursor.chunk.packet,
            begins_segment: beginning.begins_segment,
            ends_segment: end == cursor.chunk.segment_end,
            time: cursor.chunk.time,
            missing_bytes: core::mem::take(&mut self.missing_bytes),
        })
    }
}
