//! Grammar of frames: size, key, version, and the content of each command.

use super::{
    super::{
        arguments::KeptArguments,
        details::{Details, StreamChunk, StreamCommand, StreamPublish},
        frame::IdentifierRun,
        framer::{self, Known, Next, READ_MAX, Ranges, Tell, Trust},
        prefix::Prefix,
        reply::StoredReply,
        sink::{FrameSink, SensitiveKind},
    },
    command::{
        CLOSE, DELIVER, HEARTBEAT, METADATA, PEER_PROPERTIES, PUBLISH, PUBLISH_CONFIRM,
        PUBLISH_ERROR, SASL_AUTHENTICATE, has_arguments, has_correlation, name,
    },
    private,
    publishing::{Entries, PublishingIds, data_section},
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
pub(super) enum State {
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
    /// The begin of a message of this size.
    MessageHead(u32),
    /// The rest of a batch's header, after flags and count; with the four bytes before.
    Batch(u32),
    /// Publisher and count of ids.
    Answers,
    /// An id; for errors with its code.
    Answer,
    /// Subscription and offset before a chunk.
    Subscription,
    ChunkHeader,
    /// Arguments that are kept.
    Arguments,
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
    pub(super) rest: u32,
    pub(super) entries_left: u32,
    pub(super) command: StreamCommand,
    pub(super) publish: StreamPublish,
    pub(super) ids: PublishingIds,
    pub(super) entries: Entries,
    kind: &'static str,
    pub(super) details: Details,
    pub(in super::super) reply: StoredReply,
    pub(in super::super) arguments: KeptArguments,
}

impl Grammar {
    pub(in super::super) fn new(trust: Trust) -> Self {
        Self {
            trust,
            state: State::Start,
            rest: 0,
            entries_left: 0,
            command: StreamCommand { key: 0, version: 0, is_response: false, correlation: None },
            publish: StreamPublish::default(),
            ids: PublishingIds::default(),
            entries: Entries::default(),
            kind: "",
            details: Details::None,
            reply: StoredReply::default(),
            arguments: KeptArguments::default(),
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
    pub(super) fn read(&mut self, state: State, bytes: u32) -> Next {
        self.read_behind(0, state, bytes)
    }

    pub(super) fn read_behind(&mut self, skip: u32, state: State, bytes: u32) -> Next {
        let Some(rest) = skip.checked_add(bytes).and_then(|taken| self.rest.checked_sub(taken))
        else {
            return Next::Lost;
        };
        (self.rest, self.state) = (rest, state);
        Next::Skip { bytes: u64::from(skip), then: bytes as usize }
    }

    pub(super) fn skip(&mut self) -> Next {
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
        self.arguments.clear();
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
            _ => self.kept_arguments(),
        }
    }

    /// Reads the arguments of a command if they are wanted.
    fn kept_arguments(&mut self) -> Next {
        let is_wanted = self.arguments.is_on() && has_arguments(self.command.key);
        if !is_wanted || self.command.is_response {
            return self.skip();
        }
        let read = READ_MAX.min(self.rest as usize);
        self.read(State::Arguments, u32::try_from(read).unwrap_or(self.rest))
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
            return if is_told { self.read(State::Code, 2) } else { self.kept_arguments() };
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

    fn subscription(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        self.details =
            Details::StreamChunk(StreamChunk { subscription: bytes[0], ..StreamChunk::default() });
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
            chunk.data_bytes = u32_at(bytes, 36).unwrap_or(0);
        }
        self.hide(SensitiveKind::Body, ranges)
    }
}

impl framer::Grammar for Grammar {
    const START: usize = HEADER;

    #[inline]
    fn private(&self, bytes: &[u8], wanted: usize, tell: &mut Tell<'_>) {
        match self.state {
            State::Map => {}
            State::MessageHead(size) => {
                // Until it has arrived, it may be the begin of a body.
                let is_whole = bytes.len() == wanted;
                let head = data_section(size, bytes).filter(|_| is_whole).unwrap_or(0) as usize;
                if head < bytes.len() {
                    tell(head..bytes.len(), SensitiveKind::Body);
                }
                return;
            }
            _ => return,
        }
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
            State::Map | State::Arguments => {
                self.arguments.keep(bytes);
                self.skip()
            }
            State::MessageHead(size) => self.message_head(size, bytes, ranges),
            State::MessageSize => match u32_at(bytes, 0) {
                Some(size) => self.message(size, ranges),
                None => Next::Lost,
            },
            State::Batch(flags) => self.batch(flags, bytes, ranges),
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

pub(super) fn u16_at(bytes: &[u8], at: usize) -> Option<u16> {
    bytes.get(at..)?.first_chunk().map(|bytes| u16::from_be_bytes(*bytes))
}

pub(super) fn u32_at(bytes: &[u8], at: usize) -> Option<u32> {
    bytes.get(at..)?.first_chunk().map(|bytes| u32::from_be_bytes(*bytes))
}

pub(super) fn u64_at(bytes: &[u8], at: usize) -> Option<u64> {
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
