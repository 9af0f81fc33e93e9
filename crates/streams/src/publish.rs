//! Messages for a stream, encoded before they are sent.

use rabbitscope_protocol::{Encoded, OutputBuffer, Room, TemplateId, fill_with_copies, sections};

use crate::{
    codec::{HEAD_BYTES, SIZE_BYTES, WriteTexts as _},
    protocol::commands::{FILTER_VERSION, PUBLISH, VERSION},
};

/// Bytes of a frame before its messages: size, key, version, publisher and count.
pub(crate) const FRAME_HEAD: usize = HEAD_BYTES + 1 + 4;

/// Bytes of a sequence number.
const NUMBER_BYTES: usize = 8;

/// Bytes of a message's size.
const LENGTH_BYTES: usize = 4;

/// Bytes before a message without a filter value: its sequence number and its size.
const MESSAGE_HEAD: usize = NUMBER_BYTES + LENGTH_BYTES;

/// Bytes of a sub-entry beside its number and its messages: kind, count, size before compression, size.
pub(crate) const SUB_ENTRY_BYTES: usize = 1 + 2 + 4 + 4;

/// Returns the head of a frame of `size` bytes with `count` messages of a publisher, which have filter values or not.
#[inline]
pub(crate) fn frame_head(
    size: usize,
    (publisher, has_filters): (u8, bool),
    count: usize,
) -> [u8; FRAME_HEAD] {
    let [size, count] = [size, count].map(|number| u32::try_from(number).unwrap_or(u32::MAX));
    let version = if has_filters { FILTER_VERSION } else { VERSION };
    let mut head = [0; FRAME_HEAD];
    head[..4].copy_from_slice(&size.to_be_bytes());
    head[4..6].copy_from_slice(&PUBLISH.to_be_bytes());
    head[6..8].copy_from_slice(&version.to_be_bytes());
    head[8] = publisher;
    head[9..].copy_from_slice(&count.to_be_bytes());
    head
}

/// The numbers of the next messages.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Numbers<'a> {
    /// Numbers of the messages that are sent again, which come first.
    pub(crate) again: &'a [u64],
    /// Number of the first message behind them, whose numbers follow one another.
    pub(crate) next: u64,
}

impl Numbers<'_> {
    /// Takes the next numbers, and writes them into their places.
    #[inline]
    fn put<'b>(&mut self, mut places: impl ExactSizeIterator<Item = &'b mut [u8]>) {
        let (again, behind) = self.again.split_at(self.again.len().min(places.len()));
        self.again = behind;
        for (number, place) in again.iter().zip(places.by_ref()) {
            place.copy_from_slice(&number.to_be_bytes());
        }
        self.next = places.fold(self.next, |number, place| {
            place.copy_from_slice(&number.to_be_bytes());
            number + 1
        });
    }
}

/// A message with its sequence number, whose body can begin differently each time.
#[derive(Clone, Debug)]
pub struct Content {
    bytes: Vec<u8>,
    body_at: usize,
    /// The part that begins differently each time: the body, or the value of a property.
    head_at: usize,
    head_room: usize,
    has_filter: bool,
}

impl Content {
    /// Encodes a message with this body, which can begin differently each time.
    pub fn new(body: &[u8]) -> Self {
        let mut bytes = vec![0; MESSAGE_HEAD];
        let body_at = MESSAGE_HEAD + sections::write_body(&mut bytes, body);
        let (head_at, head_room) = (body_at, body.len());
        Self { bytes, body_at, head_at, head_room, has_filter: false }.with_size()
    }

    /// Encodes a message with this body and a property of `size` bytes, whose value can be different each time.
    pub fn with_property(name: &str, size: usize, body: &[u8]) -> Self {
        let mut bytes = vec![0; MESSAGE_HEAD];
        let head_at = MESSAGE_HEAD + sections::write_property(&mut bytes, name, size);
        let body_at = bytes.len() + sections::write_body(&mut bytes, body);
        Self { bytes, body_at, head_at, head_room: size, has_filter: false }.with_size()
    }

    /// Adds the value by which readers can filter: before the message, where the broker sees it, and in an annotation,
    /// where readers do. The value has at most 200 bytes.
    #[must_use]
    pub fn with_filter(self, value: &str) -> Self {
        let mut bytes = vec![0; NUMBER_BYTES];
        bytes.put_text(value);
        bytes.resize(bytes.len() + LENGTH_BYTES, 0);
        sections::write_annotation(&mut bytes, FILTER_ANNOTATION, value);
        let added = bytes.len() - MESSAGE_HEAD;
        bytes.extend_from_slice(&self.bytes[MESSAGE_HEAD..]);
        let (body_at, head_at) = (self.body_at + added, self.head_at + added);
        let at = NUMBER_BYTES + 2 + value.len();
        let size = u32::try_from(bytes.len() - at - LENGTH_BYTES).unwrap_or(u32::MAX);
        bytes[at..at + LENGTH_BYTES].copy_from_slice(&size.to_be_bytes());
        Self { bytes, body_at, head_at, has_filter: true, ..self }
    }

    fn with_size(mut self) -> Self {
        let size = u32::try_from(self.bytes.len() - MESSAGE_HEAD).unwrap_or(u32::MAX);
        self.bytes[NUMBER_BYTES..MESSAGE_HEAD].copy_from_slice(&size.to_be_bytes());
        self
    }

    /// Returns the bytes of a frame with this message alone, without the frame's size.
    pub fn frame_size(&self) -> usize {
        FRAME_HEAD - SIZE_BYTES + self.bytes.len()
    }

    /// Returns the most bytes of a frame with this message alone in a sub-entry, without the frame's size. What cannot be
    /// compressed grows a little.
    pub fn sub_entry_frame_size(&self) -> usize {
        let bytes = self.frame_size() + SUB_ENTRY_BYTES;
        bytes + bytes / 64
    }

    /// Returns the message with its size before it.
    pub(crate) fn sized(&self) -> &[u8] {
        &self.bytes[NUMBER_BYTES..]
    }

    /// Appends the message with its number and with `head`, if there is room for it.
    #[inline]
    pub(crate) fn append(&self, out: &mut Vec<u8>, number: u64, head: &[u8]) {
        out.extend_from_slice(&number.to_be_bytes());
        self.append_sized(out, head);
    }

    /// Appends the message with its size before it and with `head`, if there is room for it. Returns the number of bytes.
    #[inline]
    pub(crate) fn append_sized(&self, out: &mut Vec<u8>, head: &[u8]) -> usize {
        let at = out.len();
        out.extend_from_slice(self.sized());
        let head_at = at + self.head_at - NUMBER_BYTES;
        if head.len() <= self.head_room {
            out[head_at..head_at + head.len()].copy_from_slice(head);
        }
        out.len() - at
    }
}

/// Annotation of a message with its filter value, as RabbitMQ names it in other protocols.
pub(crate) const FILTER_ANNOTATION: &str = "x-stream-filter-value";

impl Encoded for Content {
    fn body_size(&self) -> usize {
        self.bytes.len() - self.body_at
    }

    fn head_room(&self) -> usize {
        self.head_room
    }

    fn wire_size(&self) -> usize {
        self.bytes.len()
    }
}

/// Messages of one publisher that differ only in their bodies' first bytes.
#[derive(Clone, Debug)]
pub struct Template {
    id: TemplateId,
    publisher: u8,
    content: Content,
}

impl Template {
    /// Encodes a message of `body_size` zero bytes.
    pub fn new(publisher: u8, body_size: usize) -> Self {
        Self { id: TemplateId::new(), publisher, content: Content::new(&vec![0; body_size]) }
    }

    /// Adds the value by which readers can filter.
    #[must_use]
    pub fn with_filter(self, value: &str) -> Self {
        Self { id: TemplateId::new(), content: self.content.with_filter(value), ..self }
    }

    /// Returns the publisher.
    #[inline]
    pub(crate) fn publisher(&self) -> u8 {
        self.publisher
    }

    /// Appends `count` messages in frames of at most `frame_max` bytes, or of one message, with these numbers. Returns the
    /// body of each for the caller to fill: zeros but for the bytes that the caller has changed in earlier messages.
    #[inline]
    pub(crate) fn append<'a>(
        &self,
        output: &'a mut OutputBuffer,
        count: usize,
        mut numbers: Numbers<'_>,
        frame_max: u32,
    ) -> impl Iterator<Item = &'a mut [u8]> + use<'a> {
        let size = self.content.bytes.len();
        let most = ((frame_max as usize).saturating_sub(FRAME_HEAD) / size).max(1);
        let all = count.div_ceil(most) * FRAME_HEAD + count * size;
        let Room { out, start } = output.end_for(self.id, all);
        let (mut at, mut left) = (start, count);
        while left > 0 {
            let here = left.min(most);
            let bytes = FRAME_HEAD - SIZE_BYTES + here * size;
            let head = frame_head(bytes, (self.publisher, self.content.has_filter), here);
            match out.get_mut(at..at + FRAME_HEAD) {
                Some(place) => place.copy_from_slice(&head),
                None => out.extend_from_slice(&head),
            }
            let messages = fill_with_copies(out, at + FRAME_HEAD, &self.content.bytes, here);
            numbers.put(messages.map(|message| &mut message[..NUMBER_BYTES]));
            at += FRAME_HEAD + here * size;
            left -= here;
        }
        let body_at = self.content.body_at;
        let frames = out[start..].chunks_mut(FRAME_HEAD + most * size);
        let messages = frames.flat_map(move |frame| frame[FRAME_HEAD..].chunks_exact_mut(size));
        messages.map(move |message| &mut message[body_at..])
    }
}

impl Encoded for Template {
    fn body_size(&self) -> usize {
        self.content.body_size()
    }

    fn head_room(&self) -> usize {
        self.content.head_room()
    }

    fn wire_size(&self) -> usize {
        self.content.wire_size()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Messages have 29 bytes, so that frames have three.
    const FRAME_MAX: u32 = 100;

    fn put(template: &Template, output: &mut OutputBuffer, count: usize, next: u64) {
        let numbers = Numbers { again: &[], next };
        for (body, number) in template.append(output, count, numbers, FRAME_MAX).zip(next..) {
            body[4..].copy_from_slice(&number.to_be_bytes());
        }
    }

    #[test]
    fn messages_in_the_place_of_earlier_ones_are_as_new_ones() {
        let (template, mut output) = (Template::new(5, 12), OutputBuffer::default());
        let mut next = 1;
        for count in [1, 3, 2, 7, 8, 4, 9, 0, 5, 10] {
            let mut fresh = OutputBuffer::default();
            put(&template, &mut fresh, count, next);
            put(&template, &mut output, count, next);
            assert_eq!(output.pending(), fresh.pending(), "{count}");
            output.advance(output.pending().len());
            next += count as u64;
        }
    }

    #[test]
    fn templates_and_other_frames_take_turns() {
        let [one, other] = [Template::new(1, 12), Template::new(2, 12).with_filter("ab")];
        let (mut output, mut next) = (OutputBuffer::default(), 1);
        for (template, is_behind_others) in
            [(&one, false), (&other, false), (&other, true), (&one, true), (&one, false)]
        {
            let mut fresh = OutputBuffer::default();
            for output in [&mut fresh, &mut output] {
                if is_behind_others {
                    output.end().extend_from_slice(b"others");
                }
                put(template, output, 4, next);
                output.end().push(b'!');
            }
            assert_eq!(output.pending(), fresh.pending());
            output.advance(output.pending().len());
            next += 4;
        }
    }
}
