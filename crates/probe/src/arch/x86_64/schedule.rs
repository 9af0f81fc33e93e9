//! Instructions of the fragment that switches between processes (`emit_process_main`), and of the fragment that
//! calls BIFs by name.
//!
//! A scheduler begins in the first one. Before it has a process, it reserves room for its registers on its own
//! stack and stores their address in its block:
//!
//! ```text
//!        and  rsp, -64
//!        mov  [rdi + REGISTERS], rsp
//! ```
//!
//! It gets the next process:
//!
//! ```text
//!        xor  edi, edi
//!        mov  rsi, r13
//!        call [rip + ADDRESS]
//!        mov  r13, rax
//! ```
//!
//! It loads the process's stack and heap pointers into the registers that keep them, and jumps to the address at
//! which the process continues. A number at that address marks the call of a NIF or a BIF instead:
//!
//! ```text
//!        mov  rsp, [r13 + STOP]
//!        mov  r15, [r13 + HTOP]
//!        mov  rax, [r13 + OFFSET]
//!        cmp  qword [rax], NUMBER
//!        je   ...
//!        cmp  qword [rax], NUMBER
//!        je   ...
//!        jmp  rax
//! ```

use crate::{arch::Resumption, node::ReadMemory};

/// A kind of instruction that moves a register to or from memory: its bytes for each length of the displacement.
pub(crate) struct Move {
    pub(crate) text: &'static str,
    none: [u8; 3],
    /// Bytes before a displacement of one byte; `word`: before one of four.
    byte: [u8; 3],
    word: [u8; 3],
}

/// Stores the address of a scheduler's registers.
pub(crate) const REGISTERS: Move = Move {
    text: "mov [rdi+OFFSET], rsp",
    none: [0x48, 0x89, 0x27],
    byte: [0x48, 0x89, 0x67],
    word: [0x48, 0x89, 0xa7],
};

/// Loads the top of a process's stack.
pub(crate) const STOP: Move = Move {
    text: "mov rsp, [r13+OFFSET]",
    // For r13 no form without displacement exists.
    none: [0x49, 0x8b, 0x65],
    byte: [0x49, 0x8b, 0x65],
    word: [0x49, 0x8b, 0xa5],
};

/// Loads the top of a process's heap.
pub(crate) const HTOP: Move = Move {
    text: "mov r15, [r13+OFFSET]",
    none: [0x4d, 0x8b, 0x7d],
    byte: [0x4d, 0x8b, 0x7d],
    word: [0x4d, 0x8b, 0xbd],
};

impl Move {
    /// The offsets of all instructions of the kind. Fields lie after the pointer and on whole words.
    pub(crate) fn offsets(&self, code: &[u8]) -> Vec<u32> {
        let fits = |offset: &u32| offset.is_multiple_of(8) && *offset < i32::MAX.cast_unsigned();
        (0..code.len()).filter_map(|start| self.displacement(&code[start..])).filter(fits).collect()
    }

    /// The displacement of the instruction at the beginning of `code`.
    fn displacement(&self, code: &[u8]) -> Option<u32> {
        let (instruction, rest) = code.split_first_chunk::<3>()?;
        if *instruction == self.word {
            return Some(u32::from_le_bytes(*rest.first_chunk()?));
        }
        if *instruction == self.byte {
            return Some(u32::from(*rest.first()?));
        }
        (*instruction == self.none).then_some(0)
    }
}

/// `mov rax, [r13 + offset]`
const LOAD: [u8; 3] = [0x49, 0x8b, 0x85];
const OFFSET_BYTES: usize = 4;
/// `cmp qword [rax], number`
const COMPARE: [u8; 3] = [0x48, 0x83, 0x38];
/// `je`, with an offset of four bytes.
const JUMP_IF_EQUAL: [u8; 2] = [0x0f, 0x84];
const COMPARE_BYTES: usize = COMPARE.len() + 1;
const JUMP_BYTES: usize = JUMP_IF_EQUAL.len() + 4;

/// The field with the address that the fragment jumps to.
pub(crate) fn resumption(code: &[u8]) -> Option<Resumption> {
    let length = LOAD.len() + OFFSET_BYTES;
    let (at, offset) = (0..code.len()).find_map(|index| {
        let (offset, rest) = code[index..].strip_prefix(&LOAD)?.split_first_chunk()?;
        rest.starts_with(&COMPARE).then(|| (index, u32::from_le_bytes(*offset)))
    })?;
    let first = at + length;
    let second = first + COMPARE_BYTES + JUMP_BYTES;
    let native_calls = [first, second].map(|start| compared(code, start).unwrap_or(0));
    Some(Resumption { offset, native_calls })
}

/// The number in the comparison at `at`, if a jump follows.
fn compared(code: &[u8], at: usize) -> Option<u64> {
    let (&number, rest) = code.get(at..)?.strip_prefix(&COMPARE)?.split_first()?;
    rest.starts_with(&JUMP_IF_EQUAL).then_some(u64::from(number))
}

/// `xor edi, edi; mov rsi, r13; call [rip + displacement]`
const BEFORE: [u8; 7] = [0x31, 0xff, 0x4c, 0x89, 0xee, 0xff, 0x15];
const DISPLACEMENT_BYTES: usize = 4;
/// `mov r13, rax`
const AFTER: [u8; 3] = [0x49, 0x89, 0xc5];

/// The address of the C function that finds the next process. `start` is the address of `code`.
pub(crate) fn schedule_function(memory: &impl ReadMemory, code: &[u8], start: u64) -> Option<u64> {
    memory.word(pointer_in(code, start)?).ok()
}

/// The address of the word with the destination of the call.
fn pointer_in(code: &[u8], start: u64) -> Option<u64> {
    (0..code.len()).find_map(|index| {
        let (displacement, rest) = code[index..].strip_prefix(&BEFORE)?.split_first_chunk()?;
        let next = start + (index + BEFORE.len() + DISPLACEMENT_BYTES) as u64;
        let displacement = i64::from(i32::from_le_bytes(*displacement));
        rest.starts_with(&AFTER).then(|| next.wrapping_add_signed(displacement))
    })
}

/// `call`, with a displacement of four bytes.
const CALL: u8 = 0xe8;
const CALL_BYTES: usize = 5;

/// The addresses of the calls of `function` in `text`, which begins at `start`.
pub(crate) fn calls_of(function: u64, start: u64, text: &[u8]) -> impl Iterator<Item = u64> {
    text.windows(CALL_BYTES).zip(start..).filter_map(move |(bytes, address)| {
        let displacement = bytes.strip_prefix(&[CALL])?.first_chunk()?;
        let displacement = i64::from(i32::from_le_bytes(*displacement));
        let target = (address + CALL_BYTES as u64).wrapping_add_signed(displacement);
        (target == function).then_some(address)
    })
}

/// `mov [r13 + offset], rsi`, by which `call_bif_shared` stores the function that it calls.
const STORE_CURRENT: [u8; 3] = [0x49, 0x89, 0xb5];

/// Offset at which the fragment notes the function that it calls.
pub(crate) fn stored_current(code: &[u8]) -> Option<u32> {
    let at = code.windows(STORE_CURRENT.len()).position(|bytes| bytes == STORE_CURRENT)?;
    code[at + STORE_CURRENT.len()..].first_chunk().map(|bytes| u32::from_le_bytes(*bytes))
}

/// A fragment with these offsets.
#[cfg(any(test, fuzzing))]
pub(crate) fn fragment(registers: u32, stop: u32, htop: u32) -> Vec<u8> {
    let mut code = vec![0x48, 0x83, 0xe4, 0xc0];
    for (kind, offset) in [(REGISTERS, registers), (STOP, stop), (HTOP, htop)] {
        match u8::try_from(offset) {
            Ok(short) if short < 0x80 => code.extend(kind.byte.into_iter().chain([short])),
            _ => code.extend(kind.word.into_iter().chain(offset.to_le_bytes())),
        }
        code.extend([0x90; 16]);
    }
    code
}

#[cfg(test)]
mod tests {
    use super::{
        HTOP, REGISTERS, Resumption, STOP, calls_of, pointer_in, resumption, stored_current,
    };

    /// The beginning of the fragment of Erlang 29.1.1, and the instructions before a process continues.
    const BEGINNING: [u8; 19] = [
        0x48, 0x81, 0xec, 0xd0, 0x40, 0, 0, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x89, 0x27, 0x48, 0x8d,
        0x5c, 0x24, 0x40,
    ];
    const CONTINUING: [u8; 15] =
        [0x49, 0x8b, 0x65, 0x58, 0x4d, 0x8b, 0x7d, 0x50, 0x49, 0x8b, 0x85, 0xf8, 0, 0, 0];

    #[test]
    fn fields_that_a_scheduler_loads_and_stores() {
        assert_eq!(REGISTERS.offsets(&BEGINNING), [0]);
        assert_eq!(STOP.offsets(&CONTINUING), [0x58]);
        assert_eq!(HTOP.offsets(&CONTINUING), [0x50]);
    }

    #[test]
    fn every_length_of_a_displacement() {
        assert_eq!(REGISTERS.offsets(&[0x48, 0x89, 0x67, 0x10]), [16]);
        assert_eq!(REGISTERS.offsets(&[0x48, 0x89, 0xa7, 0, 1, 0, 0]), [256]);
        assert_eq!(STOP.offsets(&[0x90, 0x49, 0x8b, 0xa5, 0x80, 0, 0, 0]), [128]);
    }

    #[test]
    fn the_place_that_the_scheduler_jumps_to() {
        // Code of Erlang 25.2.3: an earlier instruction reads the same word for another purpose.
        let code = [
            0x49, 0x8b, 0x85, 0x00, 0x01, 0, 0, 0x48, 0x89, 0x83, 0x40, 0x40, 0, 0, 0x4d, 0x8b,
            0x7d, 0x50, 0x49, 0x8b, 0x85, 0x00, 0x01, 0, 0, 0x48, 0x83, 0x38, 0x18, 0x0f, 0x84,
            0xab, 0xf0, 0xff, 0xff, 0x48, 0x83, 0x38, 0x14, 0x0f, 0x84, 0x8d, 0xf0, 0xff, 0xff,
            0xff, 0xe0,
        ];
        let found = |native_calls| Some(Resumption { offset: 0x100, native_calls });
        assert_eq!(resumption(&code), found([0x18, 0x14]));
        assert_eq!(resumption(&code[..40]), found([0x18, 0]));
        assert_eq!(resumption(&code[..28]), found([0, 0]));
        assert_eq!(resumption(&code[..24]), None);
    }

    #[test]
    fn the_function_that_finds_the_next_process() {
        // Code of Erlang 29.1.1, at 0x7f36_4e20_1bca.
        let code =
            [0x31, 0xff, 0x4c, 0x89, 0xee, 0xff, 0x15, 0x23, 0x05, 0, 0, 0x49, 0x89, 0xc5, 0x48];
        assert_eq!(pointer_in(&code, 0x7f36_4e20_1bca), Some(0x7f36_4e20_20f8));
        assert_eq!(pointer_in(&code[..13], 0), None);
        assert_eq!(pointer_in(&code[1..], 0), None);
    }

    #[test]
    fn calls_of_a_function() {
        let text = [0x90, 0xe8, 0x0a, 0, 0, 0, 0xe8, 0xf5, 0xff, 0xff, 0xff, 0x90];
        assert_eq!(calls_of(0x1010, 0x1000, &text).collect::<Vec<_>>(), [0x1001]);
        assert_eq!(calls_of(0x1000, 0x1000, &text).collect::<Vec<_>>(), [0x1006]);
    }

    #[test]
    fn the_field_that_notes_the_called_function() {
        let code = [0x49, 0x89, 0xb5, 0xd8, 0x01, 0, 0, 0x4c, 0x8b, 0x46, 0x10];
        assert_eq!(stored_current(&code), Some(0x1d8));
        assert_eq!(stored_current(&code[1..]), None);
        assert_eq!(stored_current(&code[..5]), None);
    }
}
