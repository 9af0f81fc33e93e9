//! The frames of a message.

use super::parts::{Parts, Properties};
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

/// The settings of a sender's frames.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Framing {
    /// The session.
    pub(crate) lane: u16,
    /// Largest frame in bytes.
    pub(crate) frame_max: u32,
}

/// The places in an encoded message.
#[derive(Clone, Copy, Debug)]
pub(super) struct Layout {
    pub(super) frames: u32,
    /// Begin of the head.
    pub(super) head_at: usize,
    /// Bytes of the head in the first frame.
    pub(super) head_room: usize,
}

/// Writes number and tag of the message that begins with `message`.
#[inline]
pub(super) fn put_number(message: &mut [u8], delivery_id: u32) {
    // One check of the length for both places.
    let Some(message) = message.first_chunk_mut::<{ TAG_AT + 4 }>() else { return };
    let number = delivery_id.to_be_bytes();
    message[ID_AT..ID_AT + 4].copy_from_slice(&number);
    message[TAG_AT..].copy_from_slice(&number);
}

impl Framing {
    /// Appends the frames of a message. Its number follows by [`put_number`].
    pub(super) fn write(self, out: &mut Vec<u8>, properties: &Properties, parts: &Parts) -> Layout {
        let before_head = parts.before.len() + properties.0.len() + parts.head_at;
        let size = before_head + parts.behind.len() - parts.head_at;
        let sections = [&parts.before[..], &properties.0, &parts.behind];
        let head = first_head(false);
        if FRAME_HEAD + head.len() + size <= self.frame_max as usize {
            self.write_frame(out, &head, &sections);
            let head_at = FRAME_HEAD + head.len() + before_head;
            return Layout { frames: 1, head_at, head_room: parts.head_size };
        }
        self.write_frames(out, &sections.concat(), (before_head, parts.head_size))
    }

    fn write_frames(
        self,
        out: &mut Vec<u8>,
        message: &[u8],
        (before_head, head_size): (usize, usize),
    ) -> Layout {
        let frame_max = self.frame_max as usize;
        let head = first_head(true);
        let most = frame_max.saturating_sub(FRAME_HEAD + head.len());
        let (first, mut rest) = message.split_at(most.min(message.len()));
        self.write_frame(out, &head, &[first]);
        let mut frames = 1;
        while !rest.is_empty() {
            let most = frame_max.saturating_sub(NEXT_FRAME_HEAD).max(1);
            let (here, behind) = rest.split_at(most.min(rest.len()));
            self.write_frame(out, &next_head(!behind.is_empty()), &[here]);
            (rest, frames) = (behind, frames + 1);
        }
        Layout {
            frames,
            head_at: FRAME_HEAD + head.len() + before_head,
            head_room: first.len().saturating_sub(before_head).min(head_size),
        }
    }

    fn write_frame(self, out: &mut Vec<u8>, performative: &[u8], payload: &[&[u8]]) {
        let at = out.len();
        out.extend_from_slice(&[0, 0, 0, 0, 2, AMQP_FRAME]);
        out.extend_from_slice(&self.lane.to_be_bytes());
        out.extend_from_slice(performative);
        for part in payload {
            out.extend_from_slice(part);
        }
        end_frame(out, at);
    }
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
fn first_head(more: bool) -> Vec<u8> {
    transfer(|list| {
        list.put(|out| out.extend_from_slice(&[UINT, 0, 0, 0, 0]));
        list.put(|out| out.extend_from_slice(&[BINARY_8, 4, 0, 0, 0, 0]));
        // `message-format`
        list.put(|out| out.put_uint(0));
        // `settled`
        list.nulls(1);
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
