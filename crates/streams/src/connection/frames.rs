//! Frames of messages that are encoded one by one, until something else follows them.
//!
//! Each publisher id has one, so that messages of several streams in turn do not divide each other's frames. A frame may
//! have sub-entries: entries of several messages, which a stream stores, confirms and compresses as one. They are
//! compressed when the frame is complete, because the bodies are complete then.

use std::fmt;

use rabbitscope_protocol::Encoded;

use super::chunk::SEVERAL;
use crate::{
    codec::end_frame,
    publish::{Content, FRAME_HEAD, frame_head},
};

/// Bytes of an entry's number.
const NUMBER: usize = 8;

/// Places in the head of a sub-entry: number of messages, size before compression, size.
const MESSAGES_AT: usize = NUMBER + 1;
const PLAIN_AT: usize = MESSAGES_AT + 2;
const SIZE_AT: usize = PLAIN_AT + 4;

/// Bytes of a sub-entry before its messages.
const ENTRY_HEAD: usize = SIZE_AT + 4;

/// Compresses bytes into an empty buffer.
pub type Compress = Box<dyn FnMut(&[u8], &mut Vec<u8>) + Send>;

/// Compression of sub-entries.
pub struct Codec {
    /// Number of the codec: 1 gzip, 2 snappy, 3 lz4, 4 zstd.
    pub number: u8,
    /// Compresses the messages of an entry, each with its size before it.
    pub compress: Compress,
}

/// Hides the function.
impl fmt::Debug for Codec {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Codec").field("number", &self.number).finish_non_exhaustive()
    }
}

/// The frames of a connection that take more messages.
#[derive(Debug, Default)]
pub(super) struct Frames {
    /// By publisher id.
    by_id: Vec<Frame>,
    /// Publisher ids whose frames have messages, in the order of their first ones.
    used: Vec<u8>,
    /// Messages of a full sub-entry; absent for entries of one message.
    sub_entry_size: Option<u16>,
    codec: Option<Codec>,
    /// True if messages have filter values.
    has_filters: bool,
    /// Space for compressed messages.
    compressed: Vec<u8>,
}

#[derive(Debug, Default)]
struct Frame {
    /// The entries.
    bytes: Vec<u8>,
    entries: u32,
    /// Begin of the last sub-entry, and number of its messages.
    last: Option<(usize, u16)>,
}

impl Frames {
    pub(super) fn set_sub_entries(&mut self, size: u16, codec: Option<Codec>) {
        (self.sub_entry_size, self.codec) = (Some(size), codec);
    }

    pub(super) fn set_filters(&mut self) {
        self.has_filters = true;
    }

    pub(super) fn has_sub_entries(&self) -> bool {
        self.sub_entry_size.is_some()
    }

    /// Appends a message to the frame of a publisher id, and first moves the frame to `out` if it has no room. Returns true
    /// if the message begins an entry.
    #[inline]
    pub(super) fn publish(
        &mut self,
        out: &mut Vec<u8>,
        (id, number): (u8, u64),
        (content, head): (&Content, &[u8]),
        frame_max: u32,
    ) -> bool {
        let index = usize::from(id);
        if self.by_id.len() <= index {
            self.by_id.resize_with(index + 1, Frame::default);
        }
        let frame_max = frame_max as usize;
        let most = match (self.sub_entry_size, &self.codec) {
            (None, _) => frame_max,
            // What cannot be compressed grows a little.
            (Some(_), Some(_)) => (frame_max - frame_max / 64).saturating_sub(ENTRY_HEAD),
            (Some(_), None) => frame_max.saturating_sub(ENTRY_HEAD),
        };
        if !self.by_id[index].has_room(content.wire_size(), most) {
            self.complete(id, out);
        }
        let frame = &mut self.by_id[index];
        if frame.bytes.is_empty() {
            self.used.push(id);
        }
        match self.sub_entry_size {
            Some(size) => frame.append_to_sub_entry(number, content, head, size),
            None => frame.append(number, content, head),
        }
    }

    /// Moves all frames to `out`. They take no more messages.
    #[inline]
    pub(super) fn complete_all(&mut self, out: &mut Vec<u8>) {
        for at in 0..self.used.len() {
            self.complete(self.used[at], out);
        }
        self.used.clear();
    }

    fn complete(&mut self, id: u8, out: &mut Vec<u8>) {
        let frame = &mut self.by_id[usize::from(id)];
        if frame.bytes.is_empty() {
            return;
        }
        let start = out.len();
        out.extend_from_slice(&frame_head(0, (id, self.has_filters), frame.entries as usize));
        match &mut self.codec {
            Some(codec) => frame.compress(codec, &mut self.compressed, out),
            None => out.extend_from_slice(&frame.bytes),
        }
        end_frame(out, start);
        frame.bytes.clear();
        (frame.entries, frame.last) = (0, None);
    }
}

impl Frame {
    /// Returns whether the frame may have `bytes` more bytes.
    fn has_room(&self, bytes: usize, most: usize) -> bool {
        self.bytes.is_empty() || FRAME_HEAD + self.bytes.len() + bytes <= most
    }

    fn append(&mut self, number: u64, content: &Content, head: &[u8]) -> bool {
        content.append(&mut self.bytes, number, head);
        self.entries += 1;
        true
    }

    /// Appends a message to the last entry, or to a new one if that is full. Returns true if the entry is new.
    fn append_to_sub_entry(
        &mut self,
        number: u64,
        content: &Content,
        head: &[u8],
        size: u16,
    ) -> bool {
        let open = self.last.filter(|(_, messages)| *messages < size);
        let (at, messages) = open.unwrap_or_else(|| {
            let at = self.bytes.len();
            self.bytes.extend_from_slice(&[0; ENTRY_HEAD]);
            self.entries += 1;
            (at, 0)
        });
        content.append_sized(&mut self.bytes, head);
        let messages = messages + 1;
        let bytes = self.bytes.len() - at - ENTRY_HEAD;
        let entry = entry_head(number, SEVERAL, messages, [bytes; 2]);
        self.bytes[at..at + ENTRY_HEAD].copy_from_slice(&entry);
        self.last = Some((at, messages));
        open.is_none()
    }

    /// Appends the entries with their messages compressed.
    fn compress(&self, codec: &mut Codec, compressed: &mut Vec<u8>, out: &mut Vec<u8>) {
        let mut entries = &self.bytes[..];
        while let Some((number, messages, plain, behind)) = split_entry(entries) {
            entries = behind;
            compressed.clear();
            (codec.compress)(plain, compressed);
            let kind = SEVERAL | codec.number << 4;
            let sizes = [plain.len(), compressed.len()];
            out.extend_from_slice(&entry_head(number, kind, messages, sizes));
            out.extend_from_slice(compressed);
        }
    }
}

fn entry_head(number: u64, kind: u8, messages: u16, sizes: [usize; 2]) -> [u8; ENTRY_HEAD] {
    let [plain, size] = sizes.map(|bytes| u32::try_from(bytes).unwrap_or(u32::MAX).to_be_bytes());
    let mut head = [0; ENTRY_HEAD];
    head[..NUMBER].copy_from_slice(&number.to_be_bytes());
    head[NUMBER] = kind;
    head[MESSAGES_AT..PLAIN_AT].copy_from_slice(&messages.to_be_bytes());
    head[PLAIN_AT..SIZE_AT].copy_from_slice(&plain);
    head[SIZE_AT..].copy_from_slice(&size);
    head
}

/// Splits the bytes of plain entries into the first entry's number and messages, its bytes, and the other entries.
fn split_entry(bytes: &[u8]) -> Option<(u64, u16, &[u8], &[u8])> {
    let (head, behind) = bytes.split_first_chunk::<ENTRY_HEAD>()?;
    let number = u64::from_be_bytes(*head.first_chunk()?);
    let messages = u16::from_be_bytes(*head[MESSAGES_AT..].first_chunk()?);
    let size = u32::from_be_bytes(*head[SIZE_AT..].first_chunk()?) as usize;
    let (plain, behind) = behind.split_at_checked(size)?;
    Some((number, messages, plain, behind))
}
