//! Native code of the node and of the kernel: names from symbol tables ([`names`], [`debug_file`]), where a
//! function begins when there is no symbol for it ([`function_starts`]), and how its caller is found
//! ([`unwind`]).

mod debug_file;
mod function_starts;
mod names;
mod recorded;
mod unwind;

pub use recorded::RecordedNames;

/// Largest file of code that is read: the emulator has 4 MB, with debug information some 30.
pub(crate) const MOST_CODE_BYTES: u64 = 512 << 20;

pub(crate) use names::{NativeName, NativeNames};
pub(crate) use unwind::{
    Alignment, Module, REG_R13, Registers, Step, Tables, UnwindRow, Update, Walker,
};

#[cfg(fuzzing)]
pub(crate) use unwind::fuzz as fuzz_unwind;
