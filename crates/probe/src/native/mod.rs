//! Native code of the node and of the kernel: names from symbol tables ([`names`]), where a
//! function begins when there is no symbol for it ([`function_starts`]), and how its caller is found
//! ([`unwind`]).

mod function_starts;
mod names;
mod recorded;
mod unwind;

pub use recorded::RecordedNames;

pub(crate) use names::{NativeName, NativeNames};
pub(crate) use unwind::{
    Alignment, Module, REG_R13, Registers, Step, Tables, UnwindRow, Update, Walker,
};

#[cfg(fuzzing)]
pub(crate) use unwind::fuzz as fuzz_unwind;
