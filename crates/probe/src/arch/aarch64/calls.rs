//! Places of the return addresses of calls between JIT code and C.

use crate::{arch::InnermostCall, node::ReadMemory};

/// True if the machine's stack pointer points to the Erlang stack in JIT code.
pub(crate) const HAS_ERLANG_STACK: bool = false;

/// Bytes of a frame that a fragment makes below the scheduler's registers before it calls C: frame pointer and link
/// register (`emit_enter_runtime_frame`).
const FRAGMENT_FRAME_BYTES: u64 = 16;

/// Limit of nested fragments' frames, at most a few deep: `FRAGMENT_FRAMES_BYTES` of `bpf/aarch64/arch.h`.
const FRAGMENT_FRAMES_BYTES: u64 = 4 * FRAGMENT_FRAME_BYTES;

/// Greatest distance, below the registers, of the frame of a C function called by JIT code.
const SEARCHED_BYTES: usize = 1024;

/// Returns whether JIT code may call C with the stack pointer `sp`, on a scheduler with its registers at this
/// address.
pub(crate) fn calls_c_with(sp: u64, scheduler_registers: u64) -> bool {
    scheduler_registers.wrapping_sub(sp) <= FRAGMENT_FRAMES_BYTES
}

/// Returns whether JIT code has called C below the registers of a scheduler. The frame pointer then has the
/// registers' address, or that of a fragment's frame below. C functions and fragments store it, and the return
/// address next to it.
pub(crate) fn has_called_c(
    memory: &impl ReadMemory,
    scheduler_registers: u64,
    is_jit_code: impl Fn(u64) -> bool,
) -> bool {
    let mut bytes = [0; SEARCHED_BYTES];
    let Some(start) = scheduler_registers.checked_sub(SEARCHED_BYTES as u64) else { return false };
    if memory.read(start, &mut bytes).is_err() {
        return false;
    }
    let words: Vec<u64> =
        bytes.as_chunks().0.iter().map(|word| u64::from_le_bytes(*word)).collect();
    words.windows(2).any(|pair| calls_c_with(pair[0], scheduler_registers) && is_jit_code(pair[1]))
}

/// Returns whether the word from the kernel program is the return address of the innermost JIT code. The link
/// register keeps that address until it is on the stack. Afterwards the register has the leftover of the last call:
/// an address in the same function, or in a fragment. The newest call of a recursive function looks the same. It is
/// one level missing until it has put its return address on the stack.
pub(crate) fn is_call(call: InnermostCall) -> bool {
    let is_left = call.returns_to_fragment || call.is_scheduling || call.is_on_stack;
    !is_left && (call.is_in_fragment || !call.returns_to_itself)
}

/// Words with their addresses, in the form that [`has_called_c`] looks for.
#[cfg(any(test, fuzzing))]
pub(crate) fn call_of_c(scheduler_registers: u64, return_address: u64) -> Vec<(u64, u64)> {
    let frame = scheduler_registers - 96;
    vec![(frame, scheduler_registers), (frame + 8, return_address)]
}

#[cfg(test)]
mod tests {
    use super::{InnermostCall, calls_c_with, is_call};

    #[test]
    fn fragments_have_frames_below_the_registers() {
        let check = |sp, expected| assert_eq!(calls_c_with(sp, 0x1000), expected, "{sp:#x}");
        check(0x1000, true);
        check(0xff0, true);
        check(0xf00, false);
        check(0x1010, false);
    }

    #[test]
    fn a_leftover_in_the_link_register_is_no_call() {
        let of_other = InnermostCall::default();
        assert!(is_call(of_other));
        assert!(!is_call(InnermostCall { returns_to_itself: true, ..of_other }));
        assert!(!is_call(InnermostCall { returns_to_fragment: true, ..of_other }));
        assert!(!is_call(InnermostCall { is_on_stack: true, ..of_other }));
        assert!(!is_call(InnermostCall { is_scheduling: true, is_in_fragment: true, ..of_other }));
        assert!(is_call(InnermostCall { is_in_fragment: true, ..of_other }));
    }
}
