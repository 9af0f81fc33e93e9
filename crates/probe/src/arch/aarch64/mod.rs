//! aarch64. The JIT leaves the machine's stack pointer to C: the Erlang stack has x20, the process x21, and the innermost
//! return address is in x30 until what was called has put it on a stack (`beam_asm.hpp` of the JIT for ARM).

pub(crate) mod bif_calls;
pub(crate) mod calls;
pub(crate) mod frames;
mod instructions;
pub(crate) mod registers;
pub(crate) mod schedule;
