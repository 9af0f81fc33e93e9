//! Publishing of sub-entries: entries of several messages, which a stream stores, confirms and compresses as one.
//!
//! An entry takes messages until it is full or something else follows it. Its messages are compressed then, because
//! their bodies are complete.

use std::fmt;

use super::chunk::SEVERAL;
use crate::{
    codec::{SIZE_BYTES, end_frame},
    publish::{Content, FRAME_HEAD, write_head},
};

/// Bytes of an entry's number.
const NUMBER: usize = 8;

/// Places in the head of an entry: number of messages, size before compression, size.
const MESSAGES_AT: usize = NUMBER + 1;
const PLAIN_AT: usize = MESSAGES_AT + 2;
const SIZE_AT: usize = PLAIN_AT + 4;

/// Bytes of an entry before its messages.
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

/// The sub-entries of a connection.
#[derive(Debug)]
pub(super) struct SubEntries {
    /// Messages of a full entry.
    size: u16,
    codec: Option<Codec>,
    open: Option<OpenEntry>,
    /// Bytes at the end of the output whose entries are not compressed.
    plain_bytes: usize,
    /// Space for compressed frames and entries.
    frames: Vec<u8>,
    compressed: Vec<u8>,
}

/// The last entry of the output, which takes more messages.
#[derive(Clone, Copy, Debug)]
struct OpenEntry {
    publisher: u8,
    /// Bytes from its begin, and from that of its frame, to the end of the output.
    bytes: usize,
    frame_bytes: usize,
    /// Entries of the frame.
    entries: u32,
    messages: u16,
}

impl SubEntries {
    /// Creates the sub-entries of a connection that has none yet.
    pub(super) fn new(size: u16, codec: Option<Codec>) -> Self {
        Self { size, codec, open: None, plain_bytes: 0, frames: Vec::new(), compressed: Vec::new() }
    }

    /// Appends a message to the last entry, or to a new one. Returns true if the entry is new.
    #[inline]
    pub(super) fn publish(
        &mut self,
        out: &mut Vec<u8>,
        (publisher, number): (u8, u64),
        content: &Content,
        head: &[u8],
        frame_max: u32,
    ) -> bool {
        let is_new = self.make_room(out, publisher, content.sized().len(), frame_max);
        self.append(out, number, content, head);
        is_new
    }

    /// Opens an entry for `bytes` more bytes, unless the last one has room. Returns true if the entry is new.
    fn make_room(
        &mut self,
        out: &mut Vec<u8>,
        publisher: u8,
        bytes: usize,
        frame_max: u32,
    ) -> bool {
        // What cannot be compressed grows a little.
        let most = frame_max as usize - frame_max as usize / 64 - 64;
        let frame = self.open.filter(|open| open.publisher == publisher);
        if let Some(open) = &frame
            && open.messages < self.size
            && open.frame_bytes + bytes <= most
        {
            return false;
        }
        let has_room = |open: &OpenEntry| open.frame_bytes + ENTRY_HEAD + bytes <= most;
        let start = out.len();
        let frame = frame.filter(has_room).unwrap_or_else(|| {
            write_head(out, 0, publisher, 0);
            OpenEntry { publisher, bytes: 0, frame_bytes: FRAME_HEAD, entries: 0, messages: 0 }
        });
        out.extend_from_slice(&[0; ENTRY_HEAD]);
        self.plain_bytes += out.len() - start;
        self.open = Some(OpenEntry {
            bytes: ENTRY_HEAD,
            frame_bytes: frame.frame_bytes + ENTRY_HEAD,
            entries: frame.entries + 1,
            messages: 0,
            ..frame
        });
        true
    }

    /// Appends a message to the open entry, and counts it in the heads of entry and frame.
    fn append(&mut self, out: &mut Vec<u8>, number: u64, content: &Content, head: &[u8]) {
        let Some(open) = &mut self.open else { return };
        let bytes = content.append_sized(out, head);
        open.bytes += bytes;
        open.frame_bytes += bytes;
        open.messages += 1;
        self.plain_bytes += bytes;
        let entry_at = out.len() - open.bytes;
        let size = open.bytes - ENTRY_HEAD;
        let entry = entry_head(number, SEVERAL, open.messages, [size; 2]);
        out[entry_at..entry_at + ENTRY_HEAD].copy_from_slice(&entry);
        let frame_at = out.len() - open.frame_bytes;
        let count = open.entries.to_be_bytes();
        out[frame_at + FRAME_HEAD - count.len()..frame_at + FRAME_HEAD].copy_from_slice(&count);
        end_frame(out, frame_at);
    }

    /// Compresses the entries at the end of the output, which take no more messages.
    pub(super) fn close(&mut self, out: &mut Vec<u8>) {
        self.open = None;
        let bytes = std::mem::take(&mut self.plain_bytes);
        let Some(codec) = self.codec.as_mut().filter(|_| bytes > 0) else { return };
        let start = out.len() - bytes;
        self.frames.clear();
        let mut rest = &out[start..];
        while let Some((frame, behind)) = split_frame(rest) {
            rest = behind;
            let at = self.frames.len();
            let (head, mut entries) = frame.split_at(FRAME_HEAD);
            self.frames.extend_from_slice(head);
            while let Some((number, messages, plain, behind)) = split_entry(entries) {
                entries = behind;
                self.compressed.clear();
                (codec.compress)(plain, &mut self.compressed);
                let kind = SEVERAL | codec.number << 4;
                let sizes = [plain.len(), self.compressed.len()];
                self.frames.extend_from_slice(&entry_head(number, kind, messages, sizes));
                self.frames.extend_from_slice(&self.compressed);
            }
            end_frame(&mut self.frames, at);
        }
        out.truncate(start);
        out.extend_from_slice(&self.frames);
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

/// Splits the bytes of frames into the first frame and the others.
fn split_frame(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let size = u32::from_be_bytes(*bytes.first_chunk()?) as usize;
    bytes.split_at_checked(SIZE_BYTES + size)
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
