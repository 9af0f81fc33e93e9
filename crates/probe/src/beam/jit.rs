//! Reads the VM's list of its machine code: the GDB JIT interface.
//!
//! Every JIT emulator on Linux has the list, without a flag and even when stripped (`beam_jit_metadata.cpp` of the
//! emulator). The VM may change it during a read, so every length is checked, and the caller reads again after an
//! error.

use std::collections::HashMap;

use thiserror::Error;

use crate::node::ReadMemory;

/// Limit for entries: a longer list is a cycle or damaged.
const MAX_ENTRIES: usize = 1 << 20;

/// Limit for one table, in bytes; far above the table of any module.
const MAX_BLOB: usize = 64 << 20;

/// Limit for all tables together, in bytes.
const MAX_BLOBS: usize = 512 << 20;

/// The smallest table: the emulator's own entry.
const MIN_BLOB: usize = 24;

const KIND_EMULATOR: u32 = 0;
const KIND_MODULE: u32 = 1;

/// First bytes of an entry's blob, kept to distinguish it from a later one at the same address.
pub(crate) const HEAD_BYTES: usize = 32;

/// An invalid table, mostly due to a change during the read.
#[derive(Debug, Error)]
pub(crate) enum JitError {
    #[error("cannot be read: {0}")]
    Unreadable(#[from] std::io::Error),
    #[error("an entry of {size} bytes")]
    EntrySize { size: u64 },
    #[error("more than {MAX_ENTRIES} entries")]
    Endless,
    #[error("tables of more than {MAX_BLOBS} bytes together")]
    TooMuch,
    #[error("a table of {have} bytes ends in the middle of a field at byte {at}")]
    Truncated { at: usize, have: usize },
    #[error("a table of {have} bytes holds {used}")]
    Length { used: usize, have: usize },
    #[error("an entry of unknown kind {0}")]
    Kind(u32),
    #[error("no entry for the emulator itself")]
    NoEmulator,
}

/// An element of the list. Memory has the newest first.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Entry {
    /// Address of its blob.
    pub(crate) blob: u64,
    /// Length of its blob in bytes.
    pub(crate) size: usize,
    /// The blob's first bytes.
    pub(crate) head: [u8; HEAD_BYTES],
}

/// The contents of a blob.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Blob {
    /// Facts about the emulator.
    Emulator {
        /// 0: return addresses only; 1: frame pointers as well.
        frame_layout: i32,
        /// The return address at the bottom of every process's stack.
        normal_exit: u64,
    },
    /// The code of a module, or a group of shared fragments.
    Module {
        /// Address ranges with their names.
        ranges: Vec<Range>,
        /// Source files, for [`Line::file`].
        files: Vec<String>,
    },
}

/// A function's code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Range {
    /// First address.
    pub(crate) start: u64,
    /// One past the last.
    pub(crate) end: u64,
    /// `module:function/arity` or `global::name`.
    pub(crate) name: String,
    /// Beginnings of source lines, in order of address. The first may begin before the range: it is the line of the
    /// function's head.
    pub(crate) lines: Vec<Line>,
}

/// The address at which the code of a source line begins. The VM records one for each instruction that calls or can
/// fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Line {
    /// First address.
    pub(crate) start: u64,
    /// Index of the file in the blob.
    pub(crate) file: u32,
    /// Counted from 1.
    pub(crate) number: u32,
}

/// The address of the newest entry; it changes with every load of code.
pub(crate) fn first_entry(memory: &impl ReadMemory, descriptor: u64) -> Result<u64, JitError> {
    Ok(memory.word(descriptor + 16)?)
}

/// Returns whether the first entry of a list may be at `address`. Such an entry has a table of possible length and
/// kind, and the next entry, if any, points back to it. Its own pointer to an entry before it is no criterion: the
/// VM writes it only in the oldest entry, and when it adds a newer one.
pub(super) fn is_first_entry(memory: &impl ReadMemory, address: u64) -> bool {
    let mut bytes = [0; 32];
    if memory.read(address, &mut bytes).is_err() {
        return false;
    }
    let [next, previous, blob, size] =
        [0, 1, 2, 3].map(|index| u64::from_le_bytes(bytes.as_chunks().0[index]));
    let is_size = usize::try_from(size).is_ok_and(|size| (MIN_BLOB..=MAX_BLOB).contains(&size));
    let kind = || memory.word(blob).map(|word| word & 0xffff_ffff);
    let is_linked = || match next {
        0 => previous == 0,
        next => next.checked_add(8).is_some_and(|place| {
            memory.word(place).is_ok_and(|before_next| before_next == address)
        }),
    };
    is_size
        && kind().is_ok_and(|kind| [KIND_EMULATOR, KIND_MODULE].map(u64::from).contains(&kind))
        && is_linked()
}

/// All entries, newest first.
pub(crate) fn entries(memory: &impl ReadMemory, first: u64) -> Result<Vec<Entry>, JitError> {
    let mut found = Vec::new();
    let mut left = MAX_BLOBS;
    let mut at = first;
    while at != 0 {
        if found.len() == MAX_ENTRIES {
            return Err(JitError::Endless);
        }
        let mut bytes = [0; 32];
        memory.read(at, &mut bytes)?;
        let mut cursor = Cursor { bytes: &bytes, at: 0 };
        at = cursor.u64()?;
        let _previous = cursor.u64()?;
        let (blob, size) = (cursor.u64()?, cursor.u64()?);
        let size = usize::try_from(size)
            .ok()
            .filter(|size| (MIN_BLOB..=MAX_BLOB).contains(size))
            .ok_or(JitError::EntrySize { size })?;
        left = left.checked_sub(size).ok_or(JitError::TooMuch)?;
        let mut head = [0; HEAD_BYTES];
        let head_size = HEAD_BYTES.min(size);
        memory.read(blob, &mut head[..head_size])?;
        found.push(Entry { blob, size, head });
    }
    Ok(found)
}

/// Reads and parses the blob of `entry`.
pub(crate) fn read_blob(memory: &impl ReadMemory, entry: &Entry) -> Result<Blob, JitError> {
    let mut bytes = vec![0; entry.size];
    memory.read(entry.blob, &mut bytes)?;
    parse(&bytes)
}

/// Parses a blob. Fields are unaligned and little-endian; lengths of names include a NUL.
pub(crate) fn parse(bytes: &[u8]) -> Result<Blob, JitError> {
    let mut cursor = Cursor { bytes, at: 0 };
    match cursor.u32()? {
        KIND_EMULATOR => {
            cursor.skip(4)?;
            let frame_layout = cursor.u32()?.cast_signed();
            cursor.skip(4)?;
            Ok(Blob::Emulator { frame_layout, normal_exit: cursor.u64()? })
        }
        KIND_MODULE => parse_module(cursor),
        kind => Err(JitError::Kind(kind)),
    }
}

fn parse_module(mut cursor: Cursor<'_>) -> Result<Blob, JitError> {
    cursor.skip(4)?;
    let base = cursor.u64()?;
    let range_count = cursor.u32()?;
    let _code_size = cursor.u32()?;
    let _module = cursor.text()?;
    cursor.skip(6)?;
    let mut ranges = Vec::with_capacity((range_count as usize).min(cursor.bytes.len() / 14));
    let mut files = Files::default();
    for _ in 0..range_count {
        ranges.push(parse_range(&mut cursor, base, &mut files)?);
    }
    if cursor.at != cursor.bytes.len() {
        return Err(JitError::Length { used: cursor.at, have: cursor.bytes.len() });
    }
    Ok(Blob::Module { ranges, files: files.names })
}

fn parse_range<'a>(
    cursor: &mut Cursor<'a>,
    base: u64,
    files: &mut Files<'a>,
) -> Result<Range, JitError> {
    let start = cursor.u32()?;
    let end = cursor.u32()?;
    let line_count = cursor.u32()?;
    let name = cursor.text()?;
    cursor.skip(2)?;
    let mut lines = Vec::with_capacity((line_count as usize).min(cursor.bytes.len() / 12));
    for _ in 0..line_count {
        let start = base.wrapping_add(u64::from(cursor.u32()?));
        let number = cursor.u32()?;
        lines.push(Line { start, number, file: files.index_of(cursor.name()?) });
        cursor.skip(2)?;
    }
    lines.sort_by_key(|line| line.start);
    Ok(Range {
        start: base.wrapping_add(u64::from(start)),
        end: base.wrapping_add(u64::from(end)),
        name: function_name(&name),
        lines,
    })
}

/// The files of a module, each once.
#[derive(Default)]
struct Files<'a> {
    names: Vec<String>,
    index: HashMap<&'a [u8], u32>,
}

impl<'a> Files<'a> {
    fn index_of(&mut self, name: &'a [u8]) -> u32 {
        let names = &mut self.names;
        *self.index.entry(name).or_insert_with(|| {
            names.push(String::from_utf8_lossy(name).into_owned());
            u32::try_from(names.len() - 1).expect("a blob has fewer than 2^32 bytes")
        })
    }
}

/// The function's name without the suffix that the VM appends for the part of the function.
fn function_name(raw: &str) -> String {
    ["-CodeInfoPrologue", "::codeHeader", "::codeFooter"]
        .iter()
        .find_map(|suffix| raw.strip_suffix(suffix))
        .unwrap_or(raw)
        .to_owned()
}

struct Cursor<'a> {
    bytes: &'a [u8],
    at: usize,
}

impl<'a> Cursor<'a> {
    fn take(&mut self, count: usize) -> Result<&'a [u8], JitError> {
        let truncated = JitError::Truncated { at: self.at, have: self.bytes.len() };
        let end = self.at.checked_add(count).ok_or(JitError::Endless)?;
        let taken = self.bytes.get(self.at..end).ok_or(truncated)?;
        self.at = end;
        Ok(taken)
    }

    fn skip(&mut self, count: usize) -> Result<(), JitError> {
        self.take(count).map(|_| ())
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], JitError> {
        Ok(self.take(N)?.try_into().expect("take returns as many bytes as asked for"))
    }

    fn u16(&mut self) -> Result<u16, JitError> {
        Ok(u16::from_le_bytes(self.array()?))
    }

    fn u32(&mut self) -> Result<u32, JitError> {
        Ok(u32::from_le_bytes(self.array()?))
    }

    fn u64(&mut self) -> Result<u64, JitError> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    fn text(&mut self) -> Result<String, JitError> {
        Ok(String::from_utf8_lossy(self.name()?).into_owned())
    }

    /// Reads a name: a length in two bytes, then that many bytes, the last of them NUL.
    fn name(&mut self) -> Result<&'a [u8], JitError> {
        let length = usize::from(self.u16()?);
        let bytes = self.take(length)?;
        Ok(bytes.strip_suffix(&[0]).unwrap_or(bytes))
    }
}

#[cfg(test)]
#[path = "jit_tests.rs"]
mod tests;
