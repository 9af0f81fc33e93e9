//! Publishing of a message that is encoded once, and differs only in its first bytes.

use rabbitscope_protocol::{Encoded, OutputBuffer, Room, TemplateId, Write as _, fill_with_copies};

use crate::{
    frame::{FrameKind, OVERHEAD, write_frame},
    method::write_publish,
    properties::Properties,
    protocol::methods::BASIC,
};

/// Target and properties of a [`PublishTemplate`].
#[derive(Clone, Debug)]
pub struct PublishTarget<'a> {
    /// Channel number.
    pub channel: u16,
    /// Exchange; empty is the default exchange.
    pub exchange: &'a str,
    /// Routing key.
    pub routing_key: &'a str,
    /// The broker returns messages that it cannot route.
    pub mandatory: bool,
    /// Properties of every message.
    pub properties: &'a Properties,
}

/// A message ready for the wire, frames included. Publishing copies it.
#[derive(Clone, Debug)]
pub struct PublishTemplate {
    id: TemplateId,
    bytes: Vec<u8>,
    body_at: usize,
    head_room: usize,
    body_size: usize,
}

impl PublishTemplate {
    /// Encodes a message of `body_size` zero bytes, in frames of at most `frame_max` bytes, the negotiated limit.
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
        let body_at = bytes.len() + if body_size == 0 { 0 } else { OVERHEAD - 1 };
        let chunk = (frame_max as usize).saturating_sub(OVERHEAD).max(1);
        let mut left = body_size;
        while left > 0 {
            let size = left.min(chunk);
            write_frame(&mut bytes, FrameKind::Body, target.channel, |out| {
                out.resize(out.len() + size, 0);
            });
            left -= size;
        }
        let (id, head_room) = (TemplateId::new(), body_size.min(chunk));
        Self { id, bytes, body_at, head_room, body_size }
    }

    /// Appends `count` messages to `output`. Returns the part of each body in its first frame, for the caller to fill: zeros
    /// but for the bytes that the caller has changed in earlier messages.
    #[inline]
    pub fn append<'a>(
        &self,
        output: &'a mut OutputBuffer,
        count: usize,
    ) -> impl Iterator<Item = &'a mut [u8]> + use<'a> {
        let head = self.body_at..self.body_at + self.head_room;
        let Room { out, start } = output.end_for(self.id, count * self.bytes.len());
        let copies = fill_with_copies(out, start, &self.bytes, count);
        copies.map(move |message| &mut message[head.clone()])
    }
}

impl Encoded for PublishTemplate {
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

#[cfg(test)]
mod tests {
    use rabbitscope_protocol::Input;

    use super::*;
    use crate::frame::next_frame;

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

    /// Payload sizes of a message's frames, and its body.
    type Read = (Vec<usize>, Vec<u8>);

    /// Sends messages that start with as much of their head as fits, and reads them back.
    fn read(template: &PublishTemplate, heads: &[&[u8]]) -> Vec<Read> {
        let mut output = OutputBuffer::default();
        output.end().extend_from_slice(b"before");
        put(template, &mut output, heads);
        output.advance(b"before".len());
        taken(template, &mut output)
    }

    fn put(template: &PublishTemplate, output: &mut OutputBuffer, heads: &[&[u8]]) {
        for (room, head) in template.append(output, heads.len()).zip(heads) {
            let length = room.len().min(head.len());
            room[..length].copy_from_slice(&head[..length]);
        }
    }

    fn taken(template: &PublishTemplate, output: &mut OutputBuffer) -> Vec<Read> {
        let read = output.pending().chunks(template.wire_size()).map(read_one).collect();
        output.advance(output.pending().len());
        read
    }

    fn read_one(bytes: &[u8]) -> Read {
        let mut frames = Input::new(bytes);
        let (mut sizes, mut body) = (Vec::new(), Vec::new());
        while let Some(frame) = next_frame(&mut frames, 4096).unwrap() {
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
        let read = read(&template(12), &[b"0123456789ab"]);
        assert_eq!(read, [(vec![18, 15, 12], b"0123456789ab".to_vec())]);
    }

    #[test]
    fn each_message_has_its_own_head() {
        for count in [0, 1, 2, 3, 64, 100] {
            let heads: Vec<_> = (0..count).map(|number: u8| [number; 3]).collect();
            let heads: Vec<_> = heads.iter().map(<[u8; 3]>::as_slice).collect();
            let read = read(&template(3), &heads);
            let bodies: Vec<_> = read.iter().map(|(_, body)| body.as_slice()).collect();
            assert_eq!(bodies, heads);
        }
    }

    #[test]
    fn messages_in_the_place_of_earlier_ones_have_their_own_heads() {
        let (template, mut output) = (template(5), OutputBuffer::default());
        for heads in [&[&b"first"[..], b"other"][..], &[b"third"], &[b"again", b"fifth", b"sixth"]]
        {
            put(&template, &mut output, heads);
            let bodies: Vec<_> =
                taken(&template, &mut output).into_iter().map(|(_, body)| body).collect();
            assert_eq!(bodies, heads);
        }
    }

    #[test]
    fn bodies_are_split_at_the_frame_limit() {
        assert_eq!(read(&template(0), &[b"xy"]), [(vec![18, 15], vec![])]);
        assert_eq!(read(&template(1), &[b"xy"]), [(vec![18, 15, 1], vec![b'x'])]);
        let large = read(&template(4089), &[b"xy", b"z"]);
        let [(sizes, body), (_, other)] = large.as_slice() else { panic!("two messages") };
        assert_eq!(*sizes, [18, 15, 4088, 1]);
        assert_eq!((&body[..3], body.len()), (&b"xy\0"[..], 4089));
        assert_eq!((&other[..2], other.len()), (&b"z\0"[..], 4089));
    }
}
