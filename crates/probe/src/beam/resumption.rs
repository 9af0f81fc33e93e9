//! The offset of `Process.i`: the address at which a process continues that was scheduled out.
//!
//! The scheduling code of the JIT ends with a jump to that address (`emit_process_main`):
//!
//! ```text
//!        mov  rax, [r13 + OFFSET]
//!        cmp  qword [rax], NUMBER
//!        ...
//!        jmp  rax
//! ```
//!
//! It is no return address and therefore on no stack. For a process that waits, or that gave up the CPU at
//! the start of a function, only this field identifies the function.

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

/// The offset of `Process.i`, from the code that jumps to its value.
pub(crate) fn offset_of_resumption(memory: &impl ReadMemory, code: &CodeMap) -> Option<u32> {
    let span = code.span_of(SCHEDULE)?;
    let length = usize::try_from(span.end - span.start).ok()?.min(MAX_BYTES);
    let mut bytes = vec![0; length];
    memory.read(span.start, &mut bytes).ok()?;
    loaded_offset(&bytes)
}

fn loaded_offset(code: &[u8]) -> Option<u32> {
    code.windows(LOAD.len() + OFFSET_BYTES + COMPARE.len()).find_map(|bytes| {
        let (offset, rest) = bytes.strip_prefix(&LOAD)?.split_first_chunk()?;
        (rest == COMPARE).then(|| u32::from_le_bytes(*offset))
    })
}

#[cfg(test)]
mod tests {
    use super::loaded_offset;

    #[test]
    fn the_place_that_the_scheduler_jumps_to() {
        // Of Erlang 25.2.3: the same word is read for another purpose before.
        let code = [
            0x49, 0x8b, 0x85, 0x00, 0x01, 0, 0, 0x48, 0x89, 0x83, 0x40, 0x40, 0, 0, 0x4d, 0x8b,
            0x7d, 0x50, 0x49, 0x8b, 0x85, 0x00, 0x01, 0, 0, 0x48, 0x83, 0x38, 0x18, 0x0f, 0x84,
        ];
        assert_eq!(loaded_offset(&code), Some(0x100));
        assert_eq!(loaded_offset(&code[..14]), None);
        assert_eq!(loaded_offset(&code[..24]), None);
    }
}
