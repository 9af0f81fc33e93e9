//! Places of the return addresses of calls between JIT code and C.

use crate::{arch::InnermostCall, node::ReadMemory};

/// True if the machine's stack pointer points to the Erlang stack in JIT code.
pub(crate) const HAS_ERLANG_STACK: bool = true;

/// Returns whether JIT code may call C with the stack pointer `sp`, on a scheduler with its registers at this
/// address.
pub(crate) fn calls_c_with(sp: u64, scheduler_registers: u64) -> bool {
    sp == scheduler_registers
}

/// Returns whether JIT code has called C below the registers of a scheduler. The call leaves its return address
/// right there.
pub(crate) fn has_called_c(
    memory: &impl ReadMemory,
    scheduler_registers: u64,
    is_jit_code: impl Fn(u64) -> bool,
) -> bool {
    memory.word(scheduler_registers - 8).is_ok_and(is_jit_code)
}

/// Returns whether the word from the kernel program is the return address of the innermost JIT code. Only calls of
/// fragments leave one that the walk takes for a term. In a function the word may be left from an earlier call.
pub(crate) fn is_call(call: InnermostCall) -> bool {
    call.is_in_fragment
}

/// Words with their addresses, in the form that [`has_called_c`] looks for.
#[cfg(any(test, fuzzing))]
pub(crate) fn call_of_c(scheduler_registers: u64, return_address: u64) -> Vec<(u64, u64)> {
    vec![(scheduler_registers - 8, return_address)]
}
