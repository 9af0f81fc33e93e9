//! Where calls between JIT code and C leave their return addresses.

use crate::{arch::InnermostCall, node::ReadMemory};

/// Whether the machine's stack pointer points to the Erlang stack in JIT code.
pub(crate) const HAS_ERLANG_STACK: bool = true;

/// Whether JIT code may call C with the stack pointer `sp`, on a scheduler with its registers at this address.
pub(crate) fn calls_c_with(sp: u64, scheduler_registers: u64) -> bool {
    sp == scheduler_registers
}

/// Whether JIT code has called C below the registers of a scheduler. The call leaves its return address right there.
pub(crate) fn has_called_c(
    memory: &impl ReadMemory,
    scheduler_registers: u64,
    is_jit_code: impl Fn(u64) -> bool,
) -> bool {
    memory.word(scheduler_registers - 8).is_ok_and(is_jit_code)
}

/// Whether the word that the kernel program gave is the return address of the innermost JIT code. Only calls of fragments
/// leave one that the walk takes for a term; in a function the word may be left from an earlier call.
pub(crate) fn is_call(call: InnermostCall) -> bool {
    call.is_in_fragment
}

/// Words with their addresses, as [`has_called_c`] looks for them.
#[cfg(any(test, fuzzing))]
pub(crate) fn call_of_c(scheduler_registers: u64, return_address: u64) -> Vec<(u64, u64)> {
    vec![(scheduler_registers - 8, return_address)]
}
