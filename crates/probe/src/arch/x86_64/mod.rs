//! x86-64. The JIT's stack pointer is the machine's: in JIT code rsp points to the Erlang stack.

pub(crate) mod bif_calls;
pub(crate) mod calls;
pub(crate) mod frames;
pub(crate) mod registers;
pub(crate) mod schedule;
