//! A chunk of messages. It can exceed the agreed size of frames; an entry of it cannot.

use rabbitscope_protocol::{Input, Malformed, Reader};

use crate::{
    codec::{HEAD_BYTES, SIZE_BYTES},
    error::ConnectionError,
    event::{Message, Packed},
};

/// Version and magic number of a chunk.
const MAGIC: u8 = 0x50;

/// Bytes of a chunk's head.
const CHUNK_HEAD: usize = 48;

/// Bit of an entry's first byte that marks several messages.
pub(super) const SEVERAL: u8 = 0x80;

/// Bytes before the messages of an entry of several.
const SEVERAL_HEAD: usize = 1 + 2 + 4 + 4;

/// Bytes before a message.
const MESSAGE_HEAD: usize = 4;

const WHAT: &str = "a chunk of messages";

/// A chunk that is being read.
#[derive(Clone, Copy, Debug)]
pub(super) struct Chunk {
    pub(super) subscription: u8,
    /// Offset of the next message.
    offset: u64,
    /// Entries that have not been begun.
    pub(super) entries: u16,
    /// Messages of the current entry of several that have not been read.
    pub(super) messages: u16,
    /// Bytes of the frame that have not been read.
    pub(super) left: usize,
}

impl Chunk {
    /// Reads the head of the frame and of the chunk. Returns the chunk and the bytes of both heads; `None` if they are
    /// not complete.
    pub(super) fn begin(size: u32, bytes: &[u8]) -> Result<Option<(Self, usize)>, Malformed> {
        let Some(version) = bytes.get(HEAD_BYTES - 1) else { return Ok(None) };
        // From version 2 on, the offset up to which messages are committed precedes the chunk.
        let committed = if *version >= 2 { 8 } else { 0 };
        let heads = HEAD_BYTES + 1 + committed + CHUNK_HEAD;
        let Some(bytes) = bytes.get(HEAD_BYTES..heads) else { return Ok(None) };
        let mut reader = Reader::new(bytes, WHAT);
        let subscription = reader.u8()?;
        reader.take(committed)?;
        let magic = reader.u8()?;
        reader.u8()?;
        let entries = reader.u16()?;
        // Number of messages, time, epoch.
        reader.take(4 + 8 + 8)?;
        let offset = reader.u64()?;
        // Checksum, bytes of entries, bytes of a trailer that is not sent.
        reader.take(4 + 4 + 4)?;
        let filter = usize::from(reader.u8()?);
        let left = (SIZE_BYTES + size as usize).checked_sub(heads).ok_or(reader.malformed())?;
        if magic != MAGIC || filter > left {
            return Err(reader.malformed());
        }
        Ok(Some((Self { subscription, offset, entries, messages: 0, left }, heads)))
    }
}

/// An entry of several messages.
pub(super) enum Several<'a> {
    /// They follow one by one.
    Plain,
    /// They are compressed.
    Packed(Packed<'a>),
}

impl Chunk {
    /// Takes a message; `None` if it is not complete.
    #[inline]
    pub(super) fn message<'a>(
        &mut self,
        input: &mut Input<'a>,
        limit: usize,
    ) -> Result<Option<Message<'a>>, ConnectionError> {
        let Some(size) = input.rest().first_chunk() else { return Ok(None) };
        let bytes = MESSAGE_HEAD.saturating_add(u32::from_be_bytes(*size) as usize);
        let Some(taken) = self.take(bytes, input, limit)? else { return Ok(None) };
        let offset = self.offset;
        self.offset = offset.wrapping_add(1);
        let bytes = &taken[MESSAGE_HEAD..];
        Ok(Some(Message { subscription: self.subscription, offset, bytes }))
    }

    /// Takes an entry of several messages, or only its head if they are not compressed; `None` if it is not complete.
    pub(super) fn several<'a>(
        &mut self,
        input: &mut Input<'a>,
        limit: usize,
    ) -> Result<Option<Several<'a>>, ConnectionError> {
        let Some(head) = input.rest().first_chunk::<SEVERAL_HEAD>() else { return Ok(None) };
        let mut reader = Reader::new(head, WHAT);
        let codec = reader.u8()? >> 4 & 7;
        let (count, size, length) = (reader.u16()?, reader.u32()?, reader.u32()? as usize);
        if codec == 0 {
            self.take(SEVERAL_HEAD, input, limit)?;
            self.messages = count;
            return Ok(Some(Several::Plain));
        }
        let bytes = SEVERAL_HEAD.saturating_add(length);
        let Some(taken) = self.take(bytes, input, limit)? else { return Ok(None) };
        let packed = Packed {
            subscription: self.subscription,
            offset: self.offset,
            count,
            codec,
            size,
            bytes: &taken[SEVERAL_HEAD..],
        };
        self.offset = self.offset.wrapping_add(count.into());
        Ok(Some(Several::Packed(packed)))
    }

    /// Takes bytes of the chunk; `None` if they have not all arrived.
    #[inline]
    fn take<'a>(
        &mut self,
        bytes: usize,
        input: &mut Input<'a>,
        limit: usize,
    ) -> Result<Option<&'a [u8]>, ConnectionError> {
        if bytes > self.left {
            return Err(Malformed { what: WHAT }.into());
        }
        if bytes > limit {
            let [size, limit] = [bytes, limit].map(|one| u32::try_from(one).unwrap_or(u32::MAX));
            return Err(ConnectionError::FrameTooLarge { size, limit });
        }
        if input.rest().len() < bytes {
            return Ok(None);
        }
        self.left -= bytes;
        Ok(Some(input.take(bytes)))
    }
}
