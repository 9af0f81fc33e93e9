//! Instructions of the fragment that switches between processes (`emit_process_main`), and of the fragment that
//! calls BIFs by name.
//!
//! A scheduler begins in the first one. Before it has a process, it reserves room for its registers on its own
//! stack and stores their address in its block:
//!
//! ```text
//!        mov  sp, x8
//!        mov  x29, sp
//!        str  x8, [x0, REGISTERS]
//! ```
//!
//! It gets the next process:
//!
//! ```text
//!        mov  x0, xzr
//!        mov  x1, x21
//!        mov  x8, ADDRESS         (movz, movk, movk)
//!        blr  x8
//!        mov  x21, x0
//! ```
//!
//! It loads the process's heap and stack pointers into the registers that keep them, and jumps to the address at
//! which the process continues. A number at that address marks the call of a NIF or a BIF instead:
//!
//! ```text
//!        ldp  x23, x20, [x21, HTOP]
//!        ldr  x0, [x21, OFFSET]
//!        ldr  x8, [x0]
//!        cmp  x8, NUMBER
//!        b.eq ...
//!        cmp  x8, NUMBER
//!        b.eq ...
//!        br   x0
//! ```

use super::instructions::{
    BYTES, X0, X1, X8, X20, X21, X23, call_target, compared, decode, immediate, is_branch_if_equal,
    is_call_of_register, is_move, load, load_pair, store,
};
use crate::{arch::Resumption, node::ReadMemory};

/// A kind of instruction that moves a register to or from memory.
pub(crate) struct Move {
    pub(crate) text: &'static str,
    offset: fn(u32) -> Option<u32>,
}

/// Stores the address of a scheduler's registers.
pub(crate) const REGISTERS: Move =
    Move { text: "str x8, [x0, OFFSET]", offset: |code| store(code, X8, X0) };

/// Loads the top of a process's stack, alone or together with the heap's before it.
pub(crate) const STOP: Move = Move {
    text: "ldr x20, [x21, OFFSET]",
    offset: |code| {
        let pair = load_pair(code, [X23, X20], X21).map(|offset| offset + 8);
        pair.or_else(|| load(code, X20, X21))
    },
};

/// Loads the top of a process's heap, alone or together with the stack's after it.
pub(crate) const HTOP: Move = Move {
    text: "ldr x23, [x21, OFFSET]",
    offset: |code| load_pair(code, [X23, X20], X21).or_else(|| load(code, X23, X21)),
};

impl Move {
    /// The offsets of all instructions of the kind.
    pub(crate) fn offsets(&self, code: &[u8]) -> Vec<u32> {
        decode(code).into_iter().filter_map(self.offset).collect()
    }
}

/// The field with the address that the fragment jumps to.
pub(crate) fn resumption(code: &[u8]) -> Option<Resumption> {
    let code = decode(code);
    code.windows(3).enumerate().find_map(|(index, three)| {
        let offset = load(three[0], X0, X21)?;
        load(three[1], X8, X0).filter(|&offset| offset == 0)?;
        let marks = code[index + 2..].chunks(2).map_while(mark).take(2);
        let mut native_calls = [0; 2];
        for (slot, mark) in native_calls.iter_mut().zip(marks) {
            *slot = mark;
        }
        compared(three[2], X8)?;
        Some(Resumption { offset, native_calls })
    })
}

/// The number in a comparison, if a branch follows.
fn mark(pair: &[u32]) -> Option<u64> {
    let &[comparison, branch] = pair else { return None };
    is_branch_if_equal(branch).then(|| compared(comparison, X8).map(u64::from)).flatten()
}

/// The address of the C function that finds the next process. `_start` is the address of `code`.
pub(crate) fn schedule_function(
    _memory: &impl ReadMemory,
    code: &[u8],
    _start: u64,
) -> Option<u64> {
    let code = decode(code);
    (1..code.len()).find_map(|index| {
        // The other argument may be set before or in between.
        is_move(code[index - 1], X1, X21).then_some(())?;
        let (mut address, mut next) = (0, index);
        while let Some(value) = immediate(*code.get(next)?, X8, address) {
            (address, next) = (value, next + 1);
        }
        let is_called =
            is_call_of_register(*code.get(next)?) && is_move(*code.get(next + 1)?, X21, X0);
        (is_called && address != 0).then_some(address)
    })
}

/// The addresses of the calls of `function` in `text`, which begins at `start`.
pub(crate) fn calls_of(function: u64, start: u64, text: &[u8]) -> impl Iterator<Item = u64> {
    let all = decode(text).into_iter().zip((start..).step_by(BYTES));
    all.filter(move |&(code, at)| call_target(code, at) == Some(function)).map(|(_, at)| at)
}

/// Offset at which the fragment notes the function that it calls: `str x1, [x21, OFFSET]`.
pub(crate) fn stored_current(code: &[u8]) -> Option<u32> {
    decode(code).into_iter().find_map(|code| store(code, X1, X21))
}

/// A fragment with these offsets.
#[cfg(any(test, fuzzing))]
pub(crate) fn fragment(registers: u32, stop: u32, htop: u32) -> Vec<u8> {
    let field = |offset: u32| (offset / 8) << 10;
    let code = [
        0xf900_0008 | field(registers),
        0xd503_201f,
        0xf940_02b4 | field(stop),
        0xf940_02b7 | field(htop),
    ];
    code.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn bytes(code: &[u32]) -> Vec<u8> {
        code.iter().flat_map(|word| word.to_le_bytes()).collect()
    }

    #[test]
    fn fields_that_a_scheduler_loads_and_stores() {
        let code = fragment(16, 88, 80);
        assert_eq!(REGISTERS.offsets(&code), [16]);
        assert_eq!((STOP.offsets(&code), HTOP.offsets(&code)), (vec![88], vec![80]));
        let pair = bytes(&[0xa945_52b7]);
        assert_eq!((STOP.offsets(&pair), HTOP.offsets(&pair)), (vec![88], vec![80]));
    }

    #[test]
    fn the_place_that_the_scheduler_jumps_to() {
        let code = [
            0xf940_82a0,
            0xf940_0008,
            0xf100_611f,
            0x5400_0040,
            0xf100_511f,
            0x5400_0040,
            0xd61f_0000,
        ];
        let found = |native_calls| Some(Resumption { offset: 256, native_calls });
        assert_eq!(resumption(&bytes(&code)), found([24, 20]));
        assert_eq!(resumption(&bytes(&code[..5])), found([24, 0]));
        assert_eq!(resumption(&bytes(&code[..2])), None);
    }
}
