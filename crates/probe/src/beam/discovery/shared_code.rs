//! Offsets in the instructions of shared JIT code: which fields it loads and stores.
//!
//! A scheduler begins in the fragment that switches between processes (`emit_process_main`). It makes room for its
//! registers on its own stack and leaves their address in its block, before a process is there:
//!
//! ```text
//!        and  rsp, -64
//!        mov  [rdi + REGISTERS], rsp
//! ```
//!
//! Before it continues a process it loads the process's stack and heap into the registers that hold them from then on:
//!
//! ```text
//!        mov  rsp, [r13 + STOP]
//!        mov  r15, [r13 + HTOP]
//! ```

use super::evidence::{Evidence, Unclear, only};
use crate::{
    beam::{CodeMap, SCHEDULE},
    node::ReadMemory,
};

/// Limit for the size of the fragment, which has about 500 bytes.
const MAX_BYTES: usize = 4096;

/// The registers' address is stored this early.
const BEGINNING: usize = 64;

/// Offsets of the fields that the fragment uses.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SharedCode {
    /// In the block of a scheduler: the address of its registers.
    pub(super) registers: u32,
    /// In a process: the top of its stack.
    pub(super) stop: u32,
    /// In a process: the first free word of its heap.
    pub(super) htop: u32,
}

/// A kind of instruction that moves a register to or from memory: its bytes for each length of the displacement.
struct Move {
    what: &'static str,
    text: &'static str,
    none: [u8; 3],
    /// A displacement of one byte follows, or one of four.
    byte: [u8; 3],
    word: [u8; 3],
}

const REGISTERS: Move = Move {
    what: "registers of a scheduler",
    text: "mov [rdi+OFFSET], rsp",
    none: [0x48, 0x89, 0x27],
    byte: [0x48, 0x89, 0x67],
    word: [0x48, 0x89, 0xa7],
};

const STOP: Move = Move {
    what: "top of a process's stack",
    text: "mov rsp, [r13+OFFSET]",
    // There is no form without displacement for r13.
    none: [0x49, 0x8b, 0x65],
    byte: [0x49, 0x8b, 0x65],
    word: [0x49, 0x8b, 0xa5],
};

const HTOP: Move = Move {
    what: "top of a process's heap",
    text: "mov r15, [r13+OFFSET]",
    none: [0x4d, 0x8b, 0x7d],
    byte: [0x4d, 0x8b, 0x7d],
    word: [0x4d, 0x8b, 0xbd],
};

/// Reads the offsets out of the fragment.
pub(super) fn read(
    memory: &impl ReadMemory,
    code: &CodeMap,
) -> Result<(SharedCode, Vec<Evidence>), Unclear> {
    let bytes = fragment(memory, code)
        .ok_or_else(|| Unclear::new("shared code", format!("{SCHEDULE} cannot be read")))?;
    let beginning = &bytes[..bytes.len().min(BEGINNING)];
    let found = SharedCode {
        registers: offset(&REGISTERS, beginning)?,
        stop: offset(&STOP, &bytes)?,
        htop: offset(&HTOP, &bytes)?,
    };
    let evidence = |kind: &Move, offset: u32| {
        let instruction = kind.text.replace("OFFSET", &offset.to_string());
        Evidence::new(kind.what, format!("at {offset}: `{instruction}` in {SCHEDULE}"))
    };
    let evidence = vec![
        evidence(&REGISTERS, found.registers),
        evidence(&STOP, found.stop),
        evidence(&HTOP, found.htop),
    ];
    Ok((found, evidence))
}

fn fragment(memory: &impl ReadMemory, code: &CodeMap) -> Option<Vec<u8>> {
    let span = code.span_of(SCHEDULE)?;
    let length = usize::try_from(span.end - span.start).ok()?.min(MAX_BYTES);
    let mut bytes = vec![0; length];
    memory.read(span.start, &mut bytes).ok()?;
    Some(bytes)
}

/// The one offset that all instructions of the kind have.
fn offset(kind: &Move, code: &[u8]) -> Result<u32, Unclear> {
    let mut offsets: Vec<u32> =
        (0..code.len()).filter_map(|at| displacement(kind, &code[at..])).collect();
    offsets.sort_unstable();
    offsets.dedup();
    let none = format!("{SCHEDULE} has no `{}`", kind.text);
    only(kind.what, offsets, &none, u32::to_string)
}

/// The displacement of the instruction at the beginning of `code`. Fields lie behind the pointer and on whole words.
fn displacement(kind: &Move, code: &[u8]) -> Option<u32> {
    let (instruction, rest) = code.split_first_chunk::<3>()?;
    let found = if *instruction == kind.word {
        u32::from_le_bytes(*rest.first_chunk()?)
    } else if *instruction == kind.byte {
        u32::from(*rest.first()?)
    } else if *instruction == kind.none {
        0
    } else {
        return None;
    };
    (found.is_multiple_of(8) && found < i32::MAX.cast_unsigned()).then_some(found)
}

#[cfg(test)]
mod tests {
    use super::{HTOP, REGISTERS, STOP, offset};

    /// The beginning of the fragment of Erlang 29.1.1, and the instructions before a process continues.
    const BEGINNING: [u8; 19] = [
        0x48, 0x81, 0xec, 0xd0, 0x40, 0, 0, 0x48, 0x83, 0xe4, 0xc0, 0x48, 0x89, 0x27, 0x48, 0x8d,
        0x5c, 0x24, 0x40,
    ];
    const CONTINUING: [u8; 15] =
        [0x49, 0x8b, 0x65, 0x58, 0x4d, 0x8b, 0x7d, 0x50, 0x49, 0x8b, 0x85, 0xf8, 0, 0, 0];

    #[test]
    fn what_a_scheduler_loads_and_stores() {
        assert_eq!(offset(&REGISTERS, &BEGINNING), Ok(0));
        assert_eq!(offset(&STOP, &CONTINUING), Ok(0x58));
        assert_eq!(offset(&HTOP, &CONTINUING), Ok(0x50));
    }

    #[test]
    fn every_length_of_a_displacement() {
        assert_eq!(offset(&REGISTERS, &[0x48, 0x89, 0x67, 0x10]), Ok(16));
        assert_eq!(offset(&REGISTERS, &[0x48, 0x89, 0xa7, 0, 1, 0, 0]), Ok(256));
        assert_eq!(offset(&STOP, &[0x90, 0x49, 0x8b, 0xa5, 0x80, 0, 0, 0]), Ok(128));
    }

    #[test]
    fn two_offsets_are_refused_and_none_as_well() {
        let twice = [CONTINUING, CONTINUING].concat();
        assert_eq!(offset(&STOP, &twice), Ok(0x58));
        let mut other = twice.clone();
        other[CONTINUING.len() + 3] = 0x60;
        let refused = offset(&STOP, &other).unwrap_err().sentence();
        assert!(refused.contains("2 readings: 88; 96"), "{refused}");
        let refused = offset(&STOP, &BEGINNING).unwrap_err().sentence();
        assert!(refused.contains("has no `mov rsp"), "{refused}");
    }
}
