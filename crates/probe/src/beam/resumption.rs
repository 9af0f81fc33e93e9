//! `Process.i`: the address at which a scheduled-out process continues.
//!
//! The scheduling code of the JIT ends with a jump to that address (`emit_process_main`). A number at that address
//! marks the call of a NIF or a BIF instead.
//!
//! The address is no return address and therefore on no stack. For a process that waits, or that yielded the CPU at
//! the start of a function, only this field identifies the function. On a dirty scheduler the marks distinguish a
//! call of a NIF or BIF, whose function the VM has noted, from a garbage collection.

use super::CodeMap;
use crate::{arch::machine::schedule, node::ReadMemory};

pub(crate) use crate::arch::Resumption;

/// The fragment in which a scheduler switches from one process to the next.
pub(crate) const SCHEDULE: &str = "global::process_main";

/// Limit for the size of the fragment, which has 512 bytes on OTP 25.
const MAX_BYTES: usize = 4096;

/// Reads the code that jumps to the field's value.
pub(crate) fn resumption(memory: &impl ReadMemory, code: &CodeMap) -> Option<Resumption> {
    let span = code.span_of(SCHEDULE)?;
    let length = usize::try_from(span.end - span.start).ok()?.min(MAX_BYTES);
    let mut bytes = vec![0; length];
    memory.read(span.start, &mut bytes).ok()?;
    schedule::resumption(&bytes)
}
