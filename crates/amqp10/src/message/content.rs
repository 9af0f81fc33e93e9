//! A message, encoded before it is sent.

use rabbitscope_protocol::{Encoded, OutputBuffer, Room, TemplateId, fill_with_copies};

use super::{
    framing::{Framing, Layout, put_number},
    parts::{Parts, Properties},
    sections::Sections,
};

/// A message of one sender, whose body can begin differently each time. A large one has several frames.
#[derive(Clone, Debug)]
pub struct Content {
    id: TemplateId,
    lane: u16,
    bytes: Vec<u8>,
    layout: Layout,
    body_size: usize,
}

impl Content {
    /// Encodes a message in frames of at most `frame_max` bytes.
    pub fn new(lane: u16, sections: &Sections, body: &[u8], frame_max: u32) -> Self {
        let framing = Framing { lane, frame_max };
        let mut bytes = Vec::with_capacity(body.len() + 128);
        let properties = Properties::new(sections);
        let layout = framing.write(&mut bytes, &properties, &Parts::new(sections, body));
        Self { id: TemplateId::new(), lane, bytes, layout, body_size: body.len() }
    }

    /// Returns the session of its sender.
    #[inline]
    pub(crate) fn lane(&self) -> u16 {
        self.lane
    }

    /// Returns the number of its frames, each of which needs room in the session's window.
    #[inline]
    pub fn frames(&self) -> u32 {
        self.layout.frames
    }

    /// Appends `count` messages. `delivery_id` is the number of the first. Returns the part of each body that may
    /// differ.
    #[inline]
    pub(crate) fn append<'a>(
        &self,
        output: &'a mut OutputBuffer,
        count: usize,
        delivery_id: u32,
    ) -> impl Iterator<Item = &'a mut [u8]> + use<'a> {
        let Layout { head_at, head_room, .. } = self.layout;
        let places = 0..u32::try_from(count).unwrap_or(u32::MAX);
        let Room { out, start } = output.end_for(self.id, count * self.bytes.len());
        let messages = fill_with_copies(out, start, &self.bytes, count);
        messages.zip(places).map(move |(message, place)| {
            put_number(message, delivery_id.wrapping_add(place));
            &mut message[head_at..head_at + head_room]
        })
    }
}

/// Appends a message in parts, with `head` in its place if there is room. Returns the number of its
/// frames.
#[inline]
pub(crate) fn append_parts(
    out: &mut Vec<u8>,
    framing: Framing,
    (properties, parts): (&Properties, &Parts),
    delivery_id: u32,
    head: &[u8],
) -> u32 {
    let at = out.len();
    let layout = framing.write(out, properties, parts);
    let message = &mut out[at..];
    put_number(message, delivery_id);
    let room = &mut message[layout.head_at..layout.head_at + layout.head_room];
    if let Some(place) = room.get_mut(..head.len()) {
        place.copy_from_slice(head);
    }
    layout.frames
}

impl Encoded for Content {
    fn body_size(&self) -> usize {
        self.body_size
    }

    fn head_room(&self) -> usize {
        self.layout.head_room
    }

    fn wire_size(&self) -> usize {
        self.bytes.len()
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_protocol::sections;

    use super::*;
    use crate::codec::FRAME_HEAD;

    fn durable() -> Sections {
        Sections { durable: true, ..Sections::default() }
    }

    fn appended(content: &Content, count: usize, delivery_id: u32, body: &[u8]) -> Vec<u8> {
        let mut output = OutputBuffer::default();
        put(content, &mut output, (count, delivery_id), body);
        output.pending().to_vec()
    }

    fn put(
        content: &Content,
        output: &mut OutputBuffer,
        (count, delivery_id): (usize, u32),
        body: &[u8],
    ) {
        for head in content.append(output, count, delivery_id) {
            head[..body.len()].copy_from_slice(body);
        }
    }

    #[test]
    fn messages_in_the_place_of_earlier_ones_are_as_new_ones() {
        let (content, mut output) =
            (Content::new(1, &durable(), &[7; 20], 131_072), OutputBuffer::default());
        for (count, delivery_id, body) in
            [(3, 0, b"one"), (1, 3, b"two"), (5, u32::MAX - 1, b"six")]
        {
            put(&content, &mut output, (count, delivery_id), body);
            assert_eq!(output.pending(), appended(&content, count, delivery_id, body));
            output.advance(output.pending().len());
        }
    }

    #[test]
    fn a_durable_message_of_twelve_bytes_has_51_bytes() {
        let content = Content::new(1, &durable(), &[0; 12], 131_072);
        let expected = [
            &b"\x00\x00\x00\x33\x02\x00\x00\x01\x00\x53\x14\xc0\x0e\x04\x43"[..],
            b"\x70\xff\xff\xff\xff\xa0\x04\xff\xff\xff\xff\x43",
            b"\x00\x53\x70\xc0\x02\x01\x41\x00\x53\x75\xa0\x0c0123456789ab",
        ]
        .concat();
        let found = appended(&content, 2, u32::MAX, b"0123456789ab");
        assert_eq!(found.len(), 102);
        assert_eq!(found[..51], expected);
        assert_eq!(found[51 + 16..51 + 20], [0; 4], "the number behind the largest");
        assert_eq!(found[51 + 22..51 + 26], [0; 4]);
        assert_eq!((content.wire_size(), content.body_size(), content.head_room()), (51, 12, 12));
    }

    #[test]
    fn parts_make_the_same_message() {
        let sections = Sections { content_type: Some("t".to_owned()), ..durable() };
        for (size, frame_max) in [(12, 512), (1000, 512)] {
            let body = vec![7; size];
            let with_key = Sections { subject: Some("key".to_owned()), ..sections.clone() };
            let content = Content::new(3, &with_key, &body, frame_max);
            let mut found = Vec::new();
            let framing = Framing { lane: 3, frame_max };
            let properties = Properties::new(&with_key);
            let parts = Parts::new(&sections, &body);
            let frames = append_parts(&mut found, framing, (&properties, &parts), 9, b"head");
            assert_eq!(frames, content.frames());
            assert_eq!(found, appended(&content, 1, 9, b"head"), "{size}");
            let wire_size = properties.wire_size() + parts.wire_size();
            assert!(found.len() == wire_size || frames > 1, "{size}");
        }
    }

    /// The body stays as it is.
    #[test]
    fn a_property_can_be_the_head() {
        let blank = Some(crate::Blank { name: "stamp".to_owned(), size: 4 });
        let sections = Sections { blank, ..durable() };
        for frame_max in [512, 131_072] {
            let body = [7; 700];
            let (parts, properties) = (Parts::new(&sections, &body), Properties::default());
            let framing = Framing { lane: 0, frame_max };
            let mut found = Vec::new();
            let frames = append_parts(&mut found, framing, (&properties, &parts), 9, b"head");
            let content = Content::new(0, &sections, &body, frame_max);
            assert_eq!(found, appended(&content, 1, 9, b"head"));
            assert_eq!((parts.head_room(), content.head_room()), (4, 4));
            assert_eq!((parts.body_size(), content.body_size()), (700, 700));
            if frames == 1 {
                let message = &found[FRAME_HEAD + 19..];
                assert_eq!(sections::property(message, "stamp"), Some(&b"head"[..]));
                assert_eq!(sections::body(message), Some(&body[..]));
            }
        }
    }

    #[test]
    fn large_messages_have_frames_of_the_agreed_size() {
        for size in [0_usize, 1, 400, 473, 474, 475, 512, 1_000, 1_460, 100_000] {
            let body: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let content = Content::new(3, &durable(), &body, 512);
            let found = appended(&content, 1, 7, b"");
            let (mut rest, mut message, mut frames) = (&found[..], Vec::new(), 0);
            while let Some((length, _)) = rest.split_first_chunk() {
                let (frame, behind) = rest.split_at(u32::from_be_bytes(*length) as usize);
                assert!(frame.len() <= 512, "{} bytes", frame.len());
                assert!(
                    behind.is_empty() || frame.len() == 512,
                    "frames are full but for the last"
                );
                let head = FRAME_HEAD + 5 + usize::from(frame[FRAME_HEAD + 4]);
                let is_last = frame[head - 1] != 0x41;
                assert_eq!(is_last, behind.is_empty(), "{size}, {:x?}", &frame[..head]);
                message.extend_from_slice(&frame[head..]);
                (rest, frames) = (behind, frames + 1);
            }
            assert_eq!(frames, content.frames());
            assert_eq!(sections::body(&message), Some(&body[..]), "{size}");
            assert!(content.head_room() == size || frames > 1, "{size}");
        }
    }
}
