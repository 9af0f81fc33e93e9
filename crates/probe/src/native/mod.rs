//! Native code of the node and of the kernel: names from symbol tables ([`names`], [`debug_file`]; of foreign
//! recordings [`recorded`]), starts of functions without a symbol ([`function_starts`]), and unwinding
//! ([`unwind`]).

mod debug_file;
mod function_starts;
mod limits;
mod names;
mod recorded;
mod unwind;

pub use recorded::RecordedNames;

pub(crate) use names::{NativeName, NativeNames};
pub(crate) use unwind::{
    Alignment, REG_R13, Registers, Step, Tables, UNUSED_MODULE, Update, Walker,
};

#[cfg(fuzzing)]
pub(crate) use unwind::fuzz as fuzz_unwind;
