//! Entries of `publish`, and the ids of its answers.

use super::{
    super::{
        details::{Details, StreamPublish},
        framer::{Next, Ranges, Trust},
        sink::{FrameSink, SensitiveKind},
    },
    command::{PUBLISH, PUBLISH_CONFIRM},
    grammar::{Grammar, State, u16_at, u32_at, u64_at},
    publishing::{Entry, data_section},
};

/// Bytes of the begin of a message that are read: the longest head of a section of data.
const DATA_HEAD: u32 = 8;

impl Grammar {
    /// Reads publisher and count, of entries or of ids.
    pub(super) fn count(&mut self, bytes: &[u8]) -> Next {
        let (Some(publisher), Some(entries)) = (bytes.first(), u32_at(bytes, 1)) else {
            return Next::Lost;
        };
        self.ids.clear();
        self.entries.clear();
        self.publish = StreamPublish { publisher: *publisher, entries, ..StreamPublish::default() };
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
        self.entries.keep(&mut self.arguments);
        self.details = Details::StreamPublish(self.publish);
        self.skip()
    }

    #[inline]
    pub(super) fn entry(&mut self, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let (Some(id), Some(size)) = (u64_at(bytes, 0), u32_at(bytes, 8)) else {
            return Next::Lost;
        };
        self.ids.push(id);
        self.message(size, ranges)
    }

    /// Reads the size of a message. The highest bit marks a batch: flags, count of messages (two bytes), size before
    /// compression and size (four each).
    #[inline]
    pub(super) fn message(&mut self, size: u32, ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        if size & 1 << 31 != 0 {
            self.publish.messages += u64::from(size >> 8 & 0xffff);
            return self.read(State::Batch(size), 7);
        }
        self.publish.messages += 1;
        if size > self.rest {
            return Next::Lost;
        }
        if size == 0 {
            self.entries.push(Entry::message(0, false));
            return self.body(0, ranges);
        }
        self.read(State::MessageHead(size), size.min(DATA_HEAD))
    }

    /// Reads the begin of a message, which mostly is the head of its only section.
    #[inline]
    pub(super) fn message_head(
        &mut self,
        size: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let head = data_section(size, bytes);
        self.entries.push(Entry::message(size - head.unwrap_or(0), head.is_some()));
        self.body(size - size.min(DATA_HEAD), ranges)
    }

    /// Reads the rest of a batch's header: its size before compression, and its size.
    pub(super) fn batch(
        &mut self,
        flags: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let (Some(low), Some(size)) = (u32_at(bytes, 0), u32_at(bytes, 3)) else {
            return Next::Lost;
        };
        let whole = (flags & 0xff) << 24 | low >> 8;
        self.entries.push(Entry::batch(flags, whole));
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

    pub(super) fn filtered(
        &mut self,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        let (Some(id), Some(length)) = (u64_at(bytes, 0), u16_at(bytes, 8)) else {
            return Next::Lost;
        };
        self.ids.push(id);
        // A negative length means no value.
        let length = if length & 0x8000 == 0 { u32::from(length) } else { 0 };
        self.publish.has_filters |= length > 0;
        if length <= self.rest {
            ranges.next(u64::from(length), SensitiveKind::Body);
        }
        self.read_behind(length, State::MessageSize, 4)
    }

    #[inline]
    pub(super) fn answer(&mut self, bytes: &[u8]) -> Next {
        let Some(id) = u64_at(bytes, 0) else { return Next::Lost };
        self.ids.push(id);
        if let Some(code) = u16_at(bytes, 8) {
            self.reply.set_code(u32::from(code));
        }
        self.publish.messages += 1;
        self.next_entry()
    }
}
