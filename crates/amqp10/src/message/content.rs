//! A message, encoded before it is sent.

use rabbitscope_protocol::{Encoded, append_copies, sections};

use super::Sections;
use crate::{
    codec::{FRAME_HEAD, List, Write as _, end_frame},
    protocol::{
        codes::{AMQP_FRAME, TRANSFER},
        constructors::{BINARY_8, UINT},
    },
};

/// Bytes from the begin of a message to its `delivery-id`: those of the frame's head, of the performative's code, of the
/// list's head, of the handle, and of a constructor.
const ID_AT: usize = FRAME_HEAD + 3 + 3 + 1 + 1;

/// Bytes from the begin of a message to its `delivery-tag`.
const TAG_AT: usize = ID_AT + 4 + 2;

/// Bytes of the performative of a frame that is not the first: its code, handle, four nulls and `more`.
const NEXT_FRAME_HEAD: usize = FRAME_HEAD + 3 + 3 + 6;

/// A message of one sender, whose body can begin differently each time. A large one has several frames.
#[derive(Clone, Debug)]
pub struct Content {
    lane: u16,
    bytes: Vec<u8>,
    frames: u32,
    body_size: usize,
    body_at: usize,
    /// Bytes of the body in the first frame.
    head_room: usize,
}

impl Content {
    /// Encodes a message in frames of at most `frame_max` bytes. `settled`: the broker tells no outcome.
    pub fn new(lane: u16, settled: bool, sections: &Sections, body: &[u8], frame_max: u32) -> Self {
        let mut message = Vec::with_capacity(body.len() + 64);
        sections.write(&mut message);
        let before_body = message.len();
        let body_in_message = before_body + sections::write_body(&mut message, body);
        let frame_max = frame_max as usize;
        let first = first_head(settled, false).len();
        let mut bytes = Vec::with_capacity(message.len() + first);
        let is_single = FRAME_HEAD + first + message.len() <= frame_max;
        let head = first_head(settled, !is_single);
        let here = message.len().min(frame_max.saturating_sub(FRAME_HEAD + head.len()));
        let (here, mut rest) = message.split_at(here);
        write_frame(&mut bytes, lane, &head, here);
        let mut frames = 1;
        while !rest.is_empty() {
            let most = frame_max.saturating_sub(NEXT_FRAME_HEAD).max(1);
            let (here, behind) = rest.split_at(most.min(rest.len()));
            write_frame(&mut bytes, lane, &next_head(!behind.is_empty()), here);
            (rest, frames) = (behind, frames + 1);
        }
        Self {
            lane,
            bytes,
            frames,
            body_size: body.len(),
            body_at: FRAME_HEAD + head.len() + body_in_message,
            head_room: here.len().saturating_sub(body_in_message),
        }
    }

    /// Returns the session of its sender.
    #[inline]
    pub(crate) fn lane(&self) -> u16 {
        self.lane
    }

    /// Returns the number of its frames, each of which needs room in the session's window.
    #[inline]
    pub fn frames(&self) -> u32 {
        self.frames
    }

    /// Appends `count` messages. `delivery_id` is the number of the first. Returns the part of each body that may
    /// differ.
    #[inline]
    pub(crate) fn append<'a>(
        &self,
        out: &'a mut Vec<u8>,
        count: usize,
        delivery_id: u32,
    ) -> impl Iterator<Item = &'a mut [u8]> + use<'a> {
        let head = self.body_at..self.body_at + self.head_room;
        let mut id = delivery_id;
        append_copies(out, &self.bytes, count).map(move |message| {
            let number = id.to_be_bytes();
            message[ID_AT..ID_AT + 4].copy_from_slice(&number);
            message[TAG_AT..TAG_AT + 4].copy_from_slice(&number);
            id = id.wrapping_add(1);
            &mut message[head.clone()]
        })
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

fn write_frame(out: &mut Vec<u8>, lane: u16, performative: &[u8], payload: &[u8]) {
    let at = out.len();
    out.extend_from_slice(&[0, 0, 0, 0, 2, AMQP_FRAME]);
    out.extend_from_slice(&lane.to_be_bytes());
    out.extend_from_slice(performative);
    out.extend_from_slice(payload);
    end_frame(out, at);
}

fn transfer(write: impl FnOnce(&mut List)) -> Vec<u8> {
    let mut out = Vec::new();
    out.put_code(TRANSFER);
    out.put_list(|list| {
        // `handle`
        list.put(|out| out.put_uint(0));
        write(list);
    });
    out
}

/// Encodes the performative of a message's first frame. Its number and its tag have four bytes, whatever they are.
fn first_head(settled: bool, more: bool) -> Vec<u8> {
    transfer(|list| {
        list.put(|out| out.extend_from_slice(&[UINT, 0, 0, 0, 0]));
        list.put(|out| out.extend_from_slice(&[BINARY_8, 4, 0, 0, 0, 0]));
        // `message-format`
        list.put(|out| out.put_uint(0));
        list.put_some(settled.then_some(true), Vec::put_boolean);
        list.put_some(more.then_some(true), Vec::put_boolean);
    })
}

/// Encodes the performative of a frame that is not the first.
fn next_head(more: bool) -> Vec<u8> {
    transfer(|list| {
        // `delivery-id`, `delivery-tag`, `message-format`, `settled`
        list.nulls(4);
        list.put(|out| out.put_boolean(more));
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    const DURABLE: Sections = Sections {
        durable: true,
        priority: None,
        ttl: None,
        filter_value: None,
        to: None,
        subject: None,
        content_type: None,
        application_properties: Vec::new(),
    };

    fn appended(content: &Content, count: usize, delivery_id: u32, body: &[u8]) -> Vec<u8> {
        let mut out = Vec::new();
        for head in content.append(&mut out, count, delivery_id) {
            head[..body.len()].copy_from_slice(body);
        }
        out
    }

    #[test]
    fn a_durable_message_of_twelve_bytes_has_51_bytes() {
        let content = Content::new(1, false, &DURABLE, &[0; 12], 131_072);
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
    fn a_settled_message_has_a_byte_more() {
        let content = Content::new(0, true, &DURABLE, &[0; 12], 131_072);
        let found = appended(&content, 1, 0, b"");
        assert_eq!(found.len(), 52);
        assert_eq!(found[8..15], *b"\x00\x53\x14\xc0\x0f\x05\x43");
        assert_eq!(found[26..28], *b"\x43\x41");
    }

    #[test]
    fn large_messages_have_frames_of_the_agreed_size() {
        for size in [0_usize, 1, 400, 473, 474, 475, 512, 1_000, 1_460, 100_000] {
            let body: Vec<u8> = (0..size).map(|at| u8::try_from(at % 251).unwrap()).collect();
            let content = Content::new(3, false, &DURABLE, &body, 512);
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
