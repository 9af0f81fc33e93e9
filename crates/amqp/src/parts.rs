//! Messages that are encoded when they are sent, from a route and a content.
//!
//! [`crate::PublishTemplate`] is cheaper if every message is the same. Here any route combines with any content, on
//! any channel, without a template for each combination.

use rabbitscope_protocol::{Encoded, Write as _};

use crate::{
    frame::{FrameKind, OVERHEAD, write_frame},
    method::write_publish,
    properties::Properties,
    protocol::methods::BASIC,
    table::{Table, Value},
};

/// Offset of the channel number within a frame.
const CHANNEL_AT: usize = 1;

/// Offset of the body size within the frame of a content header, behind type, channel, frame size, class and weight.
const BODY_SIZE_AT: usize = 7 + 4;

/// The first frame of a message: exchange and routing key.
#[derive(Clone, Debug)]
pub struct Route {
    bytes: Vec<u8>,
}

impl Route {
    /// Encodes a route. With `mandatory` the broker returns messages that it cannot route.
    pub fn new(exchange: &str, routing_key: &str, mandatory: bool) -> Self {
        let mut bytes = Vec::new();
        write_publish(&mut bytes, 0, exchange, routing_key, mandatory);
        bytes.shrink_to_fit();
        Self { bytes }
    }

    /// Returns the number of bytes on the wire.
    pub fn wire_size(&self) -> usize {
        self.bytes.len()
    }

    #[inline]
    pub(crate) fn append(&self, out: &mut Vec<u8>, channel: u16) {
        let at = out.len();
        out.extend_from_slice(&self.bytes);
        put_channel(out, at, channel);
    }
}

/// The other frames of a message: properties and body. Some of the bytes, the *head*, can differ in each message.
#[derive(Clone, Debug)]
pub struct Content {
    bytes: Vec<u8>,
    /// Offsets of the frames.
    frames: Vec<usize>,
    /// Offset and length of the head.
    head_at: usize,
    head_room: usize,
    body_size: usize,
}

impl Content {
    /// Encodes a message with this body, in frames of at most `frame_max` bytes. The head is the part of the body in
    /// its first frame.
    pub fn new(properties: &Properties, body: &[u8], frame_max: u32) -> Self {
        let mut content = Self::frames(properties, body, frame_max);
        if let [_, first, ..] = content.frames[..] {
            content.head_at = first + OVERHEAD - 1;
            content.head_room = body.len().min(chunk(frame_max));
        }
        content
    }

    /// Encodes a message whose head is the value of a header called `header`, `room` bytes long. The body is fixed.
    pub fn with_header(
        properties: &Properties,
        body: &[u8],
        frame_max: u32,
        header: &str,
        room: usize,
    ) -> Self {
        let filled = |byte: u8| {
            let mut properties = properties.clone();
            let headers = properties.headers.get_or_insert_with(Table::default);
            headers.0.push((header.to_owned(), Value::Bytes(vec![byte; room])));
            Self::frames(&properties, body, frame_max)
        };
        // The value is where the two encodings differ.
        let (mut content, other) = (filled(0), filled(u8::MAX));
        let differs = content.bytes.iter().zip(&other.bytes).position(|(a, b)| a != b);
        if let Some(offset) = differs {
            (content.head_at, content.head_room) = (offset, room);
        }
        content
    }

    fn frames(properties: &Properties, body: &[u8], frame_max: u32) -> Self {
        let mut bytes = Vec::new();
        let mut frames = vec![0];
        write_frame(&mut bytes, FrameKind::Header, 0, |out| {
            out.put_u16(BASIC);
            out.put_u16(0);
            out.put_u64(body.len() as u64);
            properties.write(out);
        });
        for part in body.chunks(chunk(frame_max)) {
            frames.push(bytes.len());
            write_frame(&mut bytes, FrameKind::Body, 0, |out| out.extend_from_slice(part));
        }
        bytes.shrink_to_fit();
        Self { bytes, frames, head_at: 0, head_room: 0, body_size: body.len() }
    }

    #[inline]
    pub(crate) fn append(&self, out: &mut Vec<u8>, channel: u16, head: &[u8]) {
        let start = out.len();
        out.extend_from_slice(&self.bytes);
        for frame in &self.frames {
            put_channel(out, start + frame, channel);
        }
        self.put_head(&mut out[start..], head);
    }

    /// Appends the properties with another body, in frames of at most `frame_max` bytes. The content should have no
    /// body of its own, and its head in a header.
    #[inline]
    pub(crate) fn append_with_body(
        &self,
        out: &mut Vec<u8>,
        channel: u16,
        (head, body): (&[u8], &[u8]),
        frame_max: u32,
    ) {
        let start = out.len();
        let end = self.frames.get(1).copied().unwrap_or(self.bytes.len());
        out.extend_from_slice(&self.bytes[..end]);
        put_channel(out, start, channel);
        let size_at = start + BODY_SIZE_AT;
        out[size_at..size_at + 8].copy_from_slice(&(body.len() as u64).to_be_bytes());
        self.put_head(&mut out[start..], head);
        for part in body.chunks(chunk(frame_max)) {
            write_frame(out, FrameKind::Body, channel, |out| out.extend_from_slice(part));
        }
    }

    #[inline]
    fn put_head(&self, message: &mut [u8], head: &[u8]) {
        let length = head.len().min(self.head_room);
        message[self.head_at..self.head_at + length].copy_from_slice(&head[..length]);
    }
}

impl Encoded for Content {
    fn body_size(&self) -> usize {
        self.body_size
    }

    fn head_room(&self) -> usize {
        self.head_room
    }

    fn wire_size(&self) -> usize {
        self.bytes.len()
    }
}

/// Number of a body's bytes that fit into a frame.
fn chunk(frame_max: u32) -> usize {
    (frame_max as usize).saturating_sub(OVERHEAD).max(1)
}

#[inline]
fn put_channel(out: &mut [u8], frame: usize, channel: u16) {
    out[frame + CHANNEL_AT..frame + CHANNEL_AT + 2].copy_from_slice(&channel.to_be_bytes());
}

#[cfg(test)]
mod tests {
    use rabbitscope_protocol::{Input, OutputBuffer};

    use super::*;
    use crate::{PublishTarget, PublishTemplate, frame::next_frame};

    const HEAD: &[u8] = b"0123456789ab";

    fn sent(content: &Content) -> Vec<u8> {
        let mut out = b"before".to_vec();
        Route::new("e", "key", true).append(&mut out, 0x0102);
        content.append(&mut out, 0x0102, HEAD);
        out.split_off(6)
    }

    #[test]
    fn the_bytes_are_those_of_a_template() {
        let properties = Properties::with_delivery_mode(true);
        let target = PublishTarget {
            channel: 0x0102,
            exchange: "e",
            routing_key: "key",
            mandatory: true,
            properties: &properties,
        };
        for size in [0, 1, 12, 4088, 4089, 10_000] {
            let mut expected = OutputBuffer::default();
            let template = PublishTemplate::new(&target, size, 4096);
            for room in template.append(&mut expected, 1) {
                let length = room.len().min(HEAD.len());
                room[..length].copy_from_slice(&HEAD[..length]);
            }
            let content = Content::new(&properties, &vec![0; size], 4096);
            assert_eq!(sent(&content), expected.pending(), "{size}");
        }
    }

    #[test]
    fn a_header_takes_what_is_replaced() {
        let headers = Table(vec![("h".to_owned(), Value::Integer(5))]);
        let properties = Properties { headers: Some(headers), ..Properties::default() };
        let body = vec![7; 5000];
        let bytes = sent(&Content::with_header(&properties, &body, 4096, "stamp", 12));
        let mut frames = Input::new(&bytes);
        let mut seen = Vec::new();
        while let Some(frame) = next_frame(&mut frames, 4096).unwrap() {
            assert_eq!(frame.channel, 0x0102);
            match frame.kind {
                FrameKind::Header => {
                    let read = Properties::parse(&frame.payload[12..]).unwrap();
                    let headers = read.headers.unwrap();
                    assert_eq!(headers.get("stamp"), Some(&Value::Bytes(HEAD.to_vec())));
                    assert_eq!(headers.get("h"), Some(&Value::Integer(5)));
                }
                FrameKind::Body => seen.extend_from_slice(frame.payload),
                _ => {}
            }
        }
        assert_eq!(seen, body);
    }

    #[test]
    fn a_body_that_is_made_later_is_sent_like_one_that_was_known() {
        let properties = Properties::with_delivery_mode(true);
        let head = Content::with_header(&properties, &[], 4096, "stamp", 12);
        for size in [0, 1, 4088, 4089, 10_000] {
            let body = vec![7; size];
            let known = sent(&Content::with_header(&properties, &body, 4096, "stamp", 12));
            let mut out = b"before".to_vec();
            Route::new("e", "key", true).append(&mut out, 0x0102);
            head.append_with_body(&mut out, 0x0102, (HEAD, &body), 4096);
            assert_eq!(out[6..], known, "{size}");
        }
    }
}
