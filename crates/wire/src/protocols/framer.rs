//! Division of a direction into frames, from chunks of any size.
//!
//! A [`Grammar`] states how many bytes it wants next, and how many can be skipped. The [`Framer`] provides these bytes
//! in place, or collects them if they are split, and records where a frame begins and ends. Only the grammar knows the
//! meaning of the bytes.

use core::ops::Range;

use super::{
    details::Details,
    frame::Place,
    sink::{FrameSink, Sensitive, SensitiveKind},
};
use crate::{
    report::Side,
    stream::{Chunk, Gap},
};

/// Maximum of bytes that a grammar may request at once.
pub(super) const READ_MAX: usize = 4096;

/// The next request of a grammar.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// Requests this many bytes, at most [`READ_MAX`].
    Read(usize),
    /// Requests `then` bytes after `bytes` that do not matter. If `then` is 0, the next call has an empty slice.
    Skip { bytes: u64, then: usize },
    /// The frame ended with the last byte that was read or skipped.
    Complete,
    /// The bytes are no frame.
    Lost,
}

/// The confidence of a dissection that the bytes are of its protocol.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Trust {
    /// Any anomaly means that they are not.
    Little,
    /// An anomaly is a frame of an unknown kind, as long as its length is valid.
    Full,
}

/// A grammar's facts about a complete frame.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(super) struct Known {
    pub(super) channel: u16,
    pub(super) kind: &'static str,
    pub(super) details: Details,
    /// True if the frame opens a direction. Hardly any other bytes look like it.
    pub(super) is_opening: bool,
}

/// The reader of one protocol.
pub(super) trait Grammar {
    /// Number of bytes to read first of each frame.
    const START: usize;

    /// Reports application values among the requested bytes. `bytes` is the beginning of these; there are `wanted` in
    /// all. A range may end beyond `bytes`.
    fn private(&self, bytes: &[u8], wanted: usize, tell: &mut Tell<'_>) {
        let _ = (bytes, wanted, tell);
    }

    /// Processes the requested bytes.
    fn read(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next;
}

/// Receives a range of the requested bytes, and its kind.
pub(super) type Tell<'t> = dyn FnMut(Range<usize>, SensitiveKind) + 't;

/// Reports to a sink ranges of bytes that follow the bytes just read.
pub(super) struct Ranges<'s, S> {
    pub(super) sink: &'s mut S,
    sender: Side,
    from: u64,
}

impl<S: FrameSink> Ranges<'_, S> {
    /// Reports the next `bytes` as being of this kind.
    pub(super) fn next(&mut self, bytes: u64, kind: SensitiveKind) {
        self.behind(0, bytes, kind);
    }

    /// Reports the `bytes` after the next `skip` ones as being of this kind.
    pub(super) fn behind(&mut self, skip: u64, bytes: u64, kind: SensitiveKind) {
        if bytes > 0 {
            let from = self.from.saturating_add(skip);
            let range = from..from.saturating_add(bytes);
            self.sink.sensitive(&Sensitive { sender: self.sender, range, kind });
        }
    }
}

/// The rest of a chunk.
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

    /// Returns the offset of the next byte in the direction.
    pub(super) const fn offset(&self) -> u64 {
        self.chunk.offset + self.at as u64
    }
}

/// The progress of a framer.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Progress {
    /// A frame is complete.
    Frame(Place),
    /// The chunk is used up.
    Starved,
    /// The bytes are no frames.
    Lost,
}

/// The beginning of a frame.
#[derive(Clone, Copy, Debug)]
struct Beginning {
    offset: u64,
    packet: u64,
    begins_segment: bool,
}

/// Divides one direction into frames.
#[derive(Clone, Debug)]
pub(super) struct Framer {
    sender: Side,
    beginning: Option<Beginning>,
    skip: u64,
    want: usize,
    /// The first of the requested bytes, if they are split.
    held: Vec<u8>,
    /// Offset up to which sensitive ranges among the requested bytes were reported.
    told: u64,
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
            told: 0,
            missing_bytes: 0,
        }
    }

    /// Reads until a frame is complete or no bytes are left.
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

    /// Skips missing bytes if they lie within skipped ones, so that reading can continue after them. Returns whether
    /// they do.
    pub(super) fn bridges(&mut self, gap: &Gap) -> bool {
        let is_within = self.beginning.is_some() && self.skip >= gap.length;
        if is_within {
            self.skip -= gap.length;
            self.missing_bytes += gap.length;
        }
        is_within
    }

    /// Returns the offset at which the current frame began.
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

    /// Skips bytes. Returns false if more are to be skipped than are available.
    fn skip_over(&mut self, cursor: &mut Cursor<'_>) -> bool {
        let left = cursor.rest().len();
        let skipped = usize::try_from(self.skip).map_or(left, |skip| skip.min(left));
        cursor.at += skipped;
        self.skip -= skipped as u64;
        self.skip == 0
    }

    /// Reads the requested bytes. Returns none if they are not all available.
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
            let from = cursor.offset() - self.held.len() as u64;
            tell(grammar, &self.held, self.want, (self.sender, from, &mut self.told), sink);
            return None;
        };
        cursor.at += missing;
        let from = cursor.offset() - self.want as u64;
        let mut ranges = Ranges { sink, sender: self.sender, from: cursor.offset() };
        let place = (self.sender, from, &mut self.told);
        if self.held.is_empty() {
            tell(grammar, bytes, self.want, place, ranges.sink);
            return Some(grammar.read(bytes, &mut ranges));
        }
        self.held.extend_from_slice(bytes);
        tell(grammar, &self.held, self.want, place, ranges.sink);
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

/// Reports sensitive ranges among the requested bytes, each once.
#[inline]
fn tell<G: Grammar>(
    grammar: &G,
    bytes: &[u8],
    wanted: usize,
    (sender, from, told): (Side, u64, &mut u64),
    sink: &mut impl FrameSink,
) {
    grammar.private(bytes, wanted, &mut |range, kind| {
        let range = from + range.start as u64..from + range.end as u64;
        if range.end > *told {
            *told = range.end;
            sink.sensitive(&Sensitive { sender, range, kind });
        }
    });
}
