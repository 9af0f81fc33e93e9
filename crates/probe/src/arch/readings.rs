//! Results of reading instructions and tables, the same for every architecture.

use gimli::{EhFrame, EndianSlice, LittleEndian};

/// A section of unwind tables.
pub(crate) type UnwindFrames<'a> = EhFrame<EndianSlice<'a, LittleEndian>>;

/// Place of a process's resumption address, read from the scheduling code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resumption {
    /// Offset of `Process.i`.
    pub(crate) offset: u32,
    /// The numbers that mark calls of NIFs and of BIFs; 0 for none.
    pub(crate) native_calls: [u64; 2],
}

/// Facts about a word that may be the return address of the innermost JIT code.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "independent facts; each architecture judges by different ones"
)]
pub(crate) struct InnermostCall {
    /// The innermost JIT code is a fragment.
    pub(crate) is_in_fragment: bool,
    /// It is the fragment that schedules.
    pub(crate) is_scheduling: bool,
    /// The word is an address in a fragment.
    pub(crate) returns_to_fragment: bool,
    /// The word is an address in the function that is the innermost JIT code.
    pub(crate) returns_to_itself: bool,
    /// The walk found the same word as the innermost return address on the stack.
    pub(crate) is_on_stack: bool,
}
