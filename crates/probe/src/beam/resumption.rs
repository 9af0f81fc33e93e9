//! `Process.i`: the address at which a process continues that was scheduled out.
//!
//! The scheduling code of the JIT ends with a jump to that address (`emit_process_main`), unless a NIF or a BIF is to
//! be called, which is marked by a number at that address:
//!
//! ```text
//!        mov  rax, [r13 + OFFSET]
//!        cmp  qword [rax], NUMBER
//!        je   ...
//!        cmp  qword [rax], NUMBER
//!        je   ...
//!        jmp  rax
//! ```
//!
//! It is no return address and therefore on no stack. For a process that waits, or that gave up the CPU at
//! the start of a function, only this field identifies the function. On a dirty scheduler the marks tell a call of a
//! NIF or BIF, whose function the VM has noted, from a collection of garbage.

use super::CodeMap;
use crate::node::ReadMemory;

/// The fragment in which a scheduler switches from one process to the next.
pub(crate) const SCHEDULE: &str = "global::process_main";

/// Limit for the size of the fragment, which has 512 bytes on OTP 25.
const MAX_BYTES: usize = 4096;

/// `mov rax, [r13 + offset]`
const LOAD: [u8; 3] = [0x49, 0x8b, 0x85];
const OFFSET_BYTES: usize = 4;
/// `cmp qword [rax], number`
const COMPARE: [u8; 3] = [0x48, 0x83, 0x38];

/// `je`, with an offset of four bytes.
const JUMP_IF_EQUAL: [u8; 2] = [0x0f, 0x84];
const COMPARE_BYTES: usize = COMPARE.len() + 1;
const JUMP_BYTES: usize = JUMP_IF_EQUAL.len() + 4;

/// Where a process continues, as the scheduling code reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Resumption {
    /// Offset of `Process.i`.
    pub(crate) offset: u32,
    /// The numbers that mark calls of NIFs and of BIFs; 0 where there is none.
    pub(crate) native_calls: [u64; 2],
}

/// Reads the code that jumps to the field's value.
pub(crate) fn resumption(memory: &impl ReadMemory, code: &CodeMap) -> Option<Resumption> {
    let span = code.span_of(SCHEDULE)?;
    let length = usize::try_from(span.end - span.start).ok()?.min(MAX_BYTES);
    let mut bytes = vec![0; length];
    memory.read(span.start, &mut bytes).ok()?;
    loaded(&bytes)
}

fn loaded(code: &[u8]) -> Option<Resumption> {
    let length = LOAD.len() + OFFSET_BYTES;
    let (at, offset) = (0..code.len()).find_map(|at| {
        let (offset, rest) = code[at..].strip_prefix(&LOAD)?.split_first_chunk()?;
        rest.starts_with(&COMPARE).then(|| (at, u32::from_le_bytes(*offset)))
    })?;
    let first = at + length;
    let second = first + COMPARE_BYTES + JUMP_BYTES;
    let native_calls = [first, second].map(|at| compared(code, at).unwrap_or(0));
    Some(Resumption { offset, native_calls })
}

/// The number that is compared by the instruction at `at`, if a jump follows.
fn compared(code: &[u8], at: usize) -> Option<u64> {
    let (&number, rest) = code.get(at..)?.strip_prefix(&COMPARE)?.split_first()?;
    rest.starts_with(&JUMP_IF_EQUAL).then_some(u64::from(number))
}

#[cfg(test)]
mod tests {
    use super::{Resumption, loaded};

    #[test]
    fn the_place_that_the_scheduler_jumps_to() {
        // Of Erlang 25.2.3: the same word is read for another purpose before.
        let code = [
            0x49, 0x8b, 0x85, 0x00, 0x01, 0, 0, 0x48, 0x89, 0x83, 0x40, 0x40, 0, 0, 0x4d, 0x8b,
            0x7d, 0x50, 0x49, 0x8b, 0x85, 0x00, 0x01, 0, 0, 0x48, 0x83, 0x38, 0x18, 0x0f, 0x84,
            0xab, 0xf0, 0xff, 0xff, 0x48, 0x83, 0x38, 0x14, 0x0f, 0x84, 0x8d, 0xf0, 0xff, 0xff,
            0xff, 0xe0,
        ];
        let found = |native_calls| Some(Resumption { offset: 0x100, native_calls });
        assert_eq!(loaded(&code), found([0x18, 0x14]));
        assert_eq!(loaded(&code[..40]), found([0x18, 0]));
        assert_eq!(loaded(&code[..28]), found([0, 0]));
        assert_eq!(loaded(&code[..24]), None);
    }
}
