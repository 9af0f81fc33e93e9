//! Publishing: the whole message is encoded once, only its first bytes change.

use crate::{
    frame::{FrameKind, OVERHEAD, write_frame},
    method::{BASIC, write_publish},
    properties::Properties,
    wire::Write,
};

/// `basic.publish`
pub(crate) const PUBLISH: u16 = 40;

/// What a [`PublishTemplate`] is made of.
#[derive(Clone, Debug)]
pub struct PublishTarget<'a> {
    /// Channel number.
    pub channel: u16,
    /// Exchange; empty is the default exchange.
    pub exchange: &'a str,
    /// Routing key.
    pub routing_key: &'a str,
    /// Return what cannot be routed.
    pub mandatory: bool,
    /// Properties of every message.
    pub properties: &'a Properties,
}

/// A message ready for the wire, frames and all. Publishing it is one copy.
#[derive(Clone, Debug)]
pub struct PublishTemplate {
    bytes: Vec<u8>,
    body_at: usize,
    head_room: usize,
}

impl PublishTemplate {
    /// A message of `body_size` zero bytes, in frames of at most `frame_max` bytes as agreed on by
    /// the connection.
    pub fn new(target: &PublishTarget<'_>, body_size: usize, frame_max: u32) -> Self {
        let mut bytes = Vec::new();
        let PublishTarget { channel, exchange, routing_key, mandatory, .. } = *target;
        write_publish(&mut bytes, channel, exchange, routing_key, mandatory);
        write_frame(&mut bytes, FrameKind::Header, target.channel, |out| {
            out.put_u16(BASIC);
            out.put_u16(0);
            out.put_u64(body_size as u64);
            target.properties.write(out);
        });
        let body_at = bytes.len() + OVERHEAD - 1;
        let chunk = (frame_max as usize).saturating_sub(OVERHEAD).max(1);
        let mut left = body_size;
        while left > 0 {
            let size = left.min(chunk);
            write_frame(&mut bytes, FrameKind::Body, target.channel, |out| {
                out.resize(out.len() + size, 0);
            });
            left -= size;
        }
        Self { bytes, body_at, head_room: body_size.min(chunk) }
    }

    /// Bytes of one message on the wire, frames included.
    pub fn wire_size(&self) -> usize {
        self.bytes.len()
    }

    /// Appends the message to `out`, its body starting with as much of `head` as fits the body's
    /// first frame.
    #[inline]
    pub fn append(&self, out: &mut Vec<u8>, head: &[u8]) {
        let at = out.len() + self.body_at;
        out.extend_from_slice(&self.bytes);
        let length = head.len().min(self.head_room);
        if length > 0 {
            out[at..at + length].copy_from_slice(&head[..length]);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::frame::Frames;

    fn template(body_size: usize) -> PublishTemplate {
        let target = PublishTarget {
            channel: 1,
            exchange: "",
            routing_key: "nine-char",
            mandatory: false,
            properties: &Properties::with_delivery_mode(true),
        };
        PublishTemplate::new(&target, body_size, 4096)
    }

    /// Sizes of the frames' payloads, and the body.
    fn frames(template: &PublishTemplate, head: &[u8]) -> (Vec<usize>, Vec<u8>) {
        let mut bytes = Vec::new();
        template.append(&mut bytes, head);
        let mut frames = Frames::new(&bytes);
        let (mut sizes, mut body) = (Vec::new(), Vec::new());
        while let Some(frame) = frames.next(4096).unwrap() {
            sizes.push(frame.payload.len());
            if frame.kind == FrameKind::Body {
                body.extend_from_slice(frame.payload);
            }
        }
        assert_eq!(frames.consumed(), bytes.len());
        (sizes, body)
    }

    #[test]
    fn a_small_message_is_69_bytes() {
        assert_eq!(template(12).wire_size(), 69);
        let (sizes, body) = frames(&template(12), b"0123456789ab");
        assert_eq!((sizes, body.as_slice()), (vec![18, 15, 12], &b"0123456789ab"[..]));
    }

    #[test]
    fn bodies_are_split_at_the_frame_limit() {
        assert_eq!(frames(&template(0), b"xy"), (vec![18, 15], vec![]));
        assert_eq!(frames(&template(1), b"xy"), (vec![18, 15, 1], vec![b'x']));
        let (sizes, body) = frames(&template(4089), b"xy");
        assert_eq!(sizes, [18, 15, 4088, 1]);
        assert_eq!((&body[..3], body.len()), (&b"xy\0"[..], 4089));
    }
}
