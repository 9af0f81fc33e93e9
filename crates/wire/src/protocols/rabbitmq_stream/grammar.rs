//! Grammar of frames: size, key, version, and the content of each command.

use super::{
    super::{
        details::{Details, StreamChunk, StreamCommand, StreamPublish},
        frame::IdentifierRun,
        framer::{self, Known, Next, READ_MAX, Ranges, Tell, Trust},
        prefix::Prefix,
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    command::{
        CLOSE, DELIVER, HEARTBEAT, METADATA, PEER_PROPERTIES, PUBLISH, PUBLISH_CONFIRM,
        PUBLISH_ERROR, SASL_AUTHENTICATE, has_correlation, name,
    },
    private,
    publishing::PublishingIds,
};

/// Size, key, version.
const HEADER: usize = 8;
/// Bytes of key and version, which the size includes.
const COUNTED: u32 = 4;
const RESPONSE: u16 = 0x8000;
/// Highest existing version: 2, of `publish` and `deliver`.
const VERSION_MAX: u16 = 2;
/// Longest frame that is accepted in the middle of a connection. RabbitMQ's frames have at most 1 MiB, except chunks.
const DISTRUSTED_MAX: u32 = 1 << 24;
/// Bytes of a chunk's header (osiris, `osiris_log.erl`).
const CHUNK_HEADER: u32 = 48;
/// The upper four bits of a chunk's first byte.
const CHUNK_MAGIC: u8 = 5;

#[derive(Clone, Copy, Debug)]
enum State {
    Start,
    Correlation,
    /// A map, with the fields before it.
    Map,
    /// Publisher and count of entries.
    Publish,
    /// An id and the size of its message.
    Entry,
    /// An id and the size of a filter value, in version 2.
    Filtered,
    /// The size of the message after a filter value.
    MessageSize,
    /// The rest of a batch's header, after flags and count.
    Batch,
    /// Publisher and count of ids.
    Answers,
    /// An id; for errors with its code.
    Answer,
    /// Subscription and offset before a chunk.
    Subscription,
    ChunkHeader,
    /// The code of an answer, or of a close.
    Code,
    /// Length of a mechanism's name.
    Mechanism,
    /// The mechanism was skipped.
    Credentials,
    Skipped,
}

/// The grammar of the stream protocol.
#[derive(Clone, Debug)]
pub(in super::super) struct Grammar {
    pub(in super::super) trust: Trust,
    state: State,
    /// Unread bytes of the frame.
    rest: u32,
    entries_left: u32,
    command: StreamCommand,
    publish: StreamPublish,
    ids: PublishingIds,
    kind: &'static str,
    details: Details,
    pub(in super::super) reply: StoredReply,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        Self {
            trust,
            state: State::Start,
            rest: 0,
            entries_left: 0,
            command: StreamCommand { key: 0, version: 0, is_response: false, correlation: None },
            publish: StreamPublish { publisher: 0, entries: 0, messages: 0, left_out: 0 },
            ids: PublishingIds::default(),
            kind: "",
            details: Details::None,
            reply: StoredReply::default(),
        }
    }

    pub(in super::super) fn known(&self) -> Known {
        let is_opening = self.command.key == PEER_PROPERTIES;
        Known { channel: 0, kind: self.kind, details: self.details, is_opening }
    }

    pub(in super::super) fn identifiers(&self) -> &[IdentifierRun] {
        match self.details {
            Details::StreamPublish(_) => self.ids.runs(),
            _ => &[],
        }
    }

    /// Continues in `state` with this many bytes. A frame without them is invalid.
    fn read(&mut self, state: State, bytes: u32) -> Next {
        self.read_behind(0, state, bytes)
    }

    fn read_behind(&mut self, skip: u32, state: State, bytes: u32) -> Next {
        let Some(rest) = skip.checked_add(bytes).and_then(|taken| self.rest.checked_sub(taken))
        else {
            return Next::Lost;
        };
        (self.rest, self.state) = (rest, state);
        Next::Skip { bytes: u64::from(skip), then: bytes as usize }
    }

    fn skip(&mut self) -> Next {
        self.state = State::Skipped;
        Next::Skip { bytes: u64::from(core::mem::take(&mut self.rest)), then: 0 }
    }

    fn hide(&mut self, kind: SensitiveKind, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        ranges.next(u64::from(self.rest), kind);
        self.skip()
    }

    #[inline]
    fn start(&mut self, bytes: &[u8]) -> Next {
        let (Some(size), Some(key), Some(version)) =
            (u32_at(bytes, 0), u16_at(bytes, 4), u16_at(bytes, 6))
        else {
            return Next::Lost;
        };
        let is_response = key & RESPONSE != 0;
        let key = key & !RESPONSE;
        let known = name(key, is_response);
        let is_odd =
            known.is_none() || size > DISTRUSTED_MAX || !(1..=VERSION_MAX).contains(&version);
        let Some(rest) = size.checked_sub(COUNTED).filter(|_| self.trust == Trust::Full || !is_odd)
        else {
            return Next::Lost;
        };
        self.rest = rest;
        self.reply.clear();
        self.kind = known.unwrap_or("unknown command");
        self.command = StreamCommand { key, version, is_response, correlation: None };
        self.details = Details::StreamCommand(self.command);
        self.content(key)
    }

    #[inline]
    fn content(&mut self, key: u16) -> Next {
        if self.trust == Trust::Little && key == HEARTBEAT && self.rest > 0 {
            return Next::Lost;
        }
        match key {
            _ if self.command.is_response && !has_correlation(key) => self.skip(),
            PUBLISH => self.read(State::Publish, 5),
            PUBLISH_CONFIRM | PUBLISH_ERROR => self.read(State::Answers, 5),
            DELIVER if self.command.version == 1 => self.read(State::Subscription, 1),
            DELIVER => self.read(State::Subscription, 9),
            _ if has_correlation(key) && self.rest >= 4 => self.read(State::Correlation, 4),
            _ => self.skip(),
        }
    }

    fn correlation(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        self.command.correlation = u32_at(bytes, 0);
        self.details = Details::StreamCommand(self.command);
        if private::has_map(self.command.key, self.command.is_response) {
            let read = READ_MAX.min(self.rest as usize);
            return self.read(State::Map, u32::try_from(read).unwrap_or(self.rest));
        }
        let has_code = self.command.is_response && self.command.key != METADATA;
        if self.command.key != SASL_AUTHENTICATE {
            let is_told = (has_code || self.command.key == CLOSE) && self.rest >= 2;
            return if is_told { self.read(State::Code, 2) } else { self.skip() };
        }
        // A challenge follows the code of the answer.
        let (state, bytes) =
            if self.command.is_response { (State::Credentials, 2) } else { (State::Mechanism, 2) };
        if self.rest < bytes {
            return self.hide(SensitiveKind::Credentials, ranges);
        }
        self.read(state, bytes)
    }

    /// Stores the code of an answer or of a close.
    fn code(&mut self, bytes: &[u8]) -> Next {
        if let Some(code) = u16_at(bytes, 0) {
            self.reply.set_code(u32::from(code));
        }
        self.skip()
    }

    fn mechanism(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        match u16_at(bytes, 0).map(u32::from) {
            Some(length) if length <= self.rest => self.read_behind(length, State::Credentials, 0),
            _ => self.hide(SensitiveKind::Credentials, ranges),
        }
    }

    /// Reads publisher and count, of entries or of ids.
    fn count(&mut self, bytes: &[u8]) -> Next {
        let (Some(publisher), Some(entries)) = (bytes.first(), u32_at(bytes, 1)) else {
            return Next::Lost;
        };
        self.ids.clear();
        self.publish = StreamPublish { publisher: *publisher, entries, messages: 0, left_out: 0 };
        self.entries_left = entries;
        self.next_entry()
    }

    /// Continues with the next entry. Bytes after the last one have no known meaning.
    #[inline]
    fn next_entry(&mut self) -> Next {
        if self.entries_left > 0 {
            self.entries_left -= 1;
            return match (self.command.key, self.command.version) {
                (PUBLISH, 2) => self.read(State::Filtered, 10),
                (PUBLISH, _) => self.read(State::Entry, 12),
                (PUBLISH_CONFIRM, _) => self.read(State::Answer, 8),
                _ => self.read(State::Answer, 10),
            };
        }
        if self.rest > 0 && self.trust == Trust::Little {
            return Next::Lost;
        }
        self.publish.left_out = self.ids.left_out();
        self.details = Details::StreamPublish(self.publish);
        self.skip()
    }

    #[inline]
    fn entry(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let (Some(id), Some(size)) = (u64_at(bytes, 0), u32_at(bytes, 8)) else {
            return Next::Lost;
        };
        self.ids.push(id);
        self.message(size, ranges)
    }

    /// Reads the size of a message. The highest bit marks a batch: flags, count of messages (two bytes), size before
    /// compression and size (four each).
    #[inline]
    fn message(&mut self, size: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        if size & 1 << 31 != 0 {
            self.publish.messages += u64::from(size >> 8 & 0xffff);
            return self.read(State::Batch, 7);
        }
        self.publish.messages += 1;
        self.body(size, ranges)
    }

    #[inline]
    fn body(&mut self, size: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let Some(rest) = self.rest.checked_sub(size) else { return Next::Lost };
        ranges.next(u64::from(size), SensitiveKind::Body);
        self.rest = rest;
        match self.next_entry() {
            Next::Skip { bytes, then } => Next::Skip { bytes: bytes + u64::from(size), then },
            other => other,
        }
    }

    fn filtered(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let (Some(id), Some(length)) = (u64_at(bytes, 0), u16_at(bytes, 8)) else {
            return Next::Lost;
        };
        self.ids.push(id);
        // A negative length means no value.
        let length = if length & 0x8000 == 0 { u32::from(length) } else { 0 };
        if length <= self.rest {
            ranges.next(u64::from(length), SensitiveKind::Body);
        }
        self.read_behind(length, State::MessageSize, 4)
    }

    #[inline]
    fn answer(&mut self, bytes: &[u8]) -> Next {
        let Some(id) = u64_at(bytes, 0) else { return Next::Lost };
        self.ids.push(id);
        if let Some(code) = u16_at(bytes, 8) {
            self.reply.set_code(u32::from(code));
        }
        self.publish.messages += 1;
        self.next_entry()
    }

    fn subscription(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let chunk =
            StreamChunk { subscription: bytes[0], entries: 0, messages: 0, first_offset: 0 };
        self.details = Details::StreamChunk(chunk);
        if self.rest < CHUNK_HEADER {
            return self.hide(SensitiveKind::Body, ranges);
        }
        self.read(State::ChunkHeader, CHUNK_HEADER)
    }

    fn chunk_header(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let is_chunk = bytes.first().is_some_and(|first| first >> 4 == CHUNK_MAGIC);
        if !is_chunk && self.trust == Trust::Little {
            return Next::Lost;
        }
        if let Details::StreamChunk(chunk) = &mut self.details {
            chunk.entries = u16_at(bytes, 2).unwrap_or(0);
            chunk.messages = u32_at(bytes, 4).unwrap_or(0);
            chunk.first_offset = u64_at(bytes, 24).unwrap_or(0);
        }
        self.hide(SensitiveKind::Body, ranges)
    }
}

impl framer::Grammar for Grammar {
    const START: usize = HEADER;

    #[inline]
    fn private(&self, bytes: &[u8], wanted: usize, tell: &mut Tell<'_>) {
        let State::Map = self.state else { return };
        let StreamCommand { key, is_response, .. } = self.command;
        // A client may put a token into its connection properties.
        let is_client = key == PEER_PROPERTIES;
        let kind = if is_client { SensitiveKind::Credentials } else { SensitiveKind::Body };
        let tell = &mut |range| tell(range, kind);
        let content = |prefix: &mut Prefix<'_, '_>| private::content(prefix, key, is_response);
        Prefix::read(bytes, (wanted, wanted + self.rest as usize), tell, content);
    }

    #[inline]
    fn read(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        match self.state {
            State::Start => self.start(bytes),
            State::Entry => self.entry(bytes, ranges),
            State::Answer => self.answer(bytes),
            State::Publish | State::Answers => self.count(bytes),
            State::Correlation => self.correlation(bytes, ranges),
            State::Filtered => self.filtered(bytes, ranges),
            State::Map if self.command.is_response => self.code(bytes),
            State::Map => self.skip(),
            State::MessageSize => match u32_at(bytes, 0) {
                Some(size) => self.message(size, ranges),
                None => Next::Lost,
            },
            State::Batch => match u32_at(bytes, 3) {
                Some(size) => self.body(size, ranges),
                None => Next::Lost,
            },
            State::Subscription => self.subscription(bytes, ranges),
            State::ChunkHeader => self.chunk_header(bytes, ranges),
            State::Mechanism => self.mechanism(bytes, ranges),
            State::Code => self.code(bytes),
            State::Credentials => {
                if let Some(code) = u16_at(bytes, 0).filter(|_| self.command.is_response) {
                    self.reply.set_code(u32::from(code));
                }
                self.hide(SensitiveKind::Credentials, ranges)
            }
            State::Skipped => {
                self.state = State::Start;
                Next::Complete
            }
        }
    }
}

fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
    bytes.get(at..)?.first_chunk().map(|bytes| u64::from_be_bytes(*bytes))
}

/// Returns whether bytes begin a connection: `peer-properties` or its answer.
pub(in super::super) fn opens(bytes: &[u8]) -> bool {
    matches!(bytes, [0, _, _, _, 0 | 0x80, 17, 0, 1, ..])
}

/// Returns whether a frame may begin with these bytes.
pub(in super::super) fn may_begin(bytes: &[u8]) -> bool {
    let is_at = |at: usize, allowed: &[u8]| bytes.get(at).is_none_or(|byte| allowed.contains(byte));
    let is_known = bytes.get(5).is_none_or(|key| name(u16::from(*key), false).is_some());
    is_at(0, &[0]) && is_at(4, &[0, 0x80]) && is_known && is_at(6, &[0]) && is_at(7, &[1, 2])
}
