//! aarch64. The JIT leaves the machine's stack pointer to C: x20 is the Erlang stack, x21 the process. The
//! innermost return address is in x30 until the callee has put it on a stack (`beam_asm.hpp` of the JIT for ARM).

pub(crate) mod bif_calls;
pub(crate) mod calls;
pub(crate) mod frames;
mod instructions;
pub(crate) mod registers;
pub(crate) mod schedule;
