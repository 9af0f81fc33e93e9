//! Code that calls a BIF. For most BIFs it loads the export entry and its own address (`emit_call_light_bif` of the JIT):
//!
//! ```text
//! call:  movabs rcx, EXPORT
//!        movabs rax, FUNCTION
//!        lea    rdx, [rip + call]
//!        call   call_light_bif_shared
//! ```
//!
//! For BIFs that are allowed in guards it loads the C function only (`emit_i_bif1`):
//!
//! ```text
//!        movabs rcx, FUNCTION
//!        call   i_bif_body_shared
//! ```
//!
//! Where the fragment is out of reach, as with `+JPperf true`, the call takes its address from a word of the module.

use crate::node::ReadMemory;

/// Limit for the length of these instructions with padding, in bytes.
const CALL_BYTES: usize = 48;

const MOVABS_RCX: [u8; 2] = [0x48, 0xb9];
const MOVABS_RAX: [u8; 2] = [0x48, 0xb8];
const LEA_RDX_RIP: [u8; 3] = [0x48, 0x8d, 0x15];
const CALL: u8 = 0xe8;
const JUMP: u8 = 0xe9;
const CALL_THROUGH_WORD: [u8; 2] = [0xff, 0x15];
const FAR_BYTES: usize = 6;
const MOVABS_BYTES: usize = 10;
const LEA_BYTES: usize = 7;
const NEAR_BYTES: usize = 5;

/// A prefix that pads a call or a jump.
const PADDING: [u8; 1] = [0x40];

/// The instructions before a return address.
pub(crate) struct CallCode {
    bytes: [u8; CALL_BYTES],
    return_address: u64,
}

impl CallCode {
    /// Reads the instructions before `return_address`; `None` if they are unreadable.
    pub(crate) fn before(memory: &impl ReadMemory, return_address: u64) -> Option<Self> {
        let mut bytes = [0; CALL_BYTES];
        let start = return_address.checked_sub(CALL_BYTES as u64)?;
        memory.read(start, &mut bytes).ok()?;
        Some(Self { bytes, return_address })
    }

    /// The destination of the call.
    pub(crate) fn target(&self, memory: &impl ReadMemory) -> Option<u64> {
        let near = call_target(&self.bytes, self.return_address);
        near.or_else(|| memory.word(call_word(&self.bytes, self.return_address)?).ok())
    }

    /// The export entry and the C function of a BIF, if the call has the first form.
    pub(crate) fn light(&self, _memory: &impl ReadMemory) -> Option<(u64, u64)> {
        light_loaded(&self.bytes)
    }

    /// The C function of a BIF, if the call has the second form.
    pub(crate) fn function(&self, _memory: &impl ReadMemory) -> Option<u64> {
        function_loaded(&self.bytes)
    }
}

/// The destination of a jump at `at`.
pub(crate) fn jump_target(memory: &impl ReadMemory, at: u64) -> Option<u64> {
    let mut bytes = [0; PADDING.len() + NEAR_BYTES];
    memory.read(at, &mut bytes).ok()?;
    let prefix = if bytes.starts_with(&PADDING) { PADDING.len() } else { 0 };
    let jump = &bytes[prefix..prefix + NEAR_BYTES];
    near_target(jump, JUMP, at + (prefix + NEAR_BYTES) as u64)
}

/// The destination of the call at the end of `code`.
fn call_target(code: &[u8], return_address: u64) -> Option<u64> {
    near_target(code.last_chunk::<NEAR_BYTES>()?, CALL, return_address)
}

/// The address of the word that holds the destination of the call at the end of `code`.
fn call_word(code: &[u8], return_address: u64) -> Option<u64> {
    let displacement = code.last_chunk::<FAR_BYTES>()?.strip_prefix(&CALL_THROUGH_WORD)?;
    let displacement = i32::from_le_bytes(*displacement.first_chunk()?);
    Some(return_address.wrapping_add_signed(displacement.into()))
}

/// The destination of a call or jump that ends at `end`.
fn near_target(instruction: &[u8], opcode: u8, end: u64) -> Option<u64> {
    let displacement = instruction.strip_prefix(&[opcode])?.first_chunk()?;
    Some(end.wrapping_add_signed(i32::from_le_bytes(*displacement).into()))
}

/// The addresses that code loads into rcx and rax before it loads its own address into rdx.
fn light_loaded(code: &[u8]) -> Option<(u64, u64)> {
    (0..code.len().checked_sub(2 * MOVABS_BYTES)?).rev().find_map(|start| {
        let export = loaded(&code[start..], MOVABS_RCX)?;
        let function = loaded(&code[start + MOVABS_BYTES..], MOVABS_RAX)?;
        refers_back(code, start).then_some((export, function))
    })
}

/// The address that the instruction at the beginning of `code` loads.
fn loaded(code: &[u8], instruction: [u8; 2]) -> Option<u64> {
    code.strip_prefix(&instruction)?.first_chunk().map(|bytes| u64::from_le_bytes(*bytes))
}

fn refers_back(code: &[u8], to: usize) -> bool {
    (to + MOVABS_BYTES..code.len()).any(|index| {
        let displacement = code[index..].strip_prefix(&LEA_RDX_RIP).and_then(<[u8]>::first_chunk);
        displacement.is_some_and(|bytes| {
            let back = usize::try_from(-i64::from(i32::from_le_bytes(*bytes)));
            back == Ok(index + LEA_BYTES - to)
        })
    })
}

/// The address that code loads into rcx right before the call at its end.
fn function_loaded(code: &[u8]) -> Option<u64> {
    let is_far = code.last_chunk::<FAR_BYTES>()?.starts_with(&CALL_THROUGH_WORD);
    let call_bytes = if is_far { FAR_BYTES } else { NEAR_BYTES };
    let before = &code[..code.len().checked_sub(call_bytes)?];
    let before = before.strip_suffix(&PADDING).unwrap_or(before);
    loaded(before.last_chunk::<MOVABS_BYTES>()?, MOVABS_RCX)
}

#[cfg(test)]
mod tests {
    use super::{CALL, JUMP, call_target, call_word, function_loaded, light_loaded, near_target};

    /// Code of `rabbit_amqqueue:lookup/1` on Erlang 25.2.3, up to the return address.
    const LOOKUP: [u8; 36] = [
        0x48, 0xb9, 0xa8, 0x29, 0x13, 0xd0, 0xdb, 0x7f, 0x00, 0x00, 0x48, 0xb8, 0xa0, 0xd5, 0xc0,
        0x78, 0xf0, 0x55, 0x00, 0x00, 0x48, 0x8d, 0x15, 0xe5, 0xff, 0xff, 0xff, 0x0f, 0x1f, 0x00,
        0x40, 0xe8, 0x48, 0xbf, 0x9e, 0xff,
    ];

    /// The same for `supervisor:del_child/2`.
    const GUARD: [u8; 19] = [
        0x48, 0x89, 0x7e, 0x48, 0xb9, 0xc0, 0x84, 0xa8, 0xcd, 0x93, 0x55, 0x00, 0x00, 0x40, 0xe8,
        0xfd, 0x97, 0xde, 0xff,
    ];

    /// The same for a function that calls `ets:select/2` on Erlang 25.2.3 with `+JPperf true`.
    const FAR: [u8; 36] = [
        0x48, 0xb9, 0xb8, 0x3a, 0x33, 0xb1, 0x7f, 0x7f, 0x00, 0x00, 0x48, 0xb8, 0x50, 0xd2, 0xae,
        0xfb, 0x6d, 0x55, 0x00, 0x00, 0x48, 0x8d, 0x15, 0xe5, 0xff, 0xff, 0xff, 0x0f, 0x1f, 0x00,
        0xff, 0x15, 0xbc, 0x05, 0x00, 0x00,
    ];

    #[test]
    fn a_call_may_take_its_destination_from_a_word() {
        assert_eq!(light_loaded(&FAR), Some((0x7f7f_b133_3ab8, 0x556d_fbae_d250)));
        assert_eq!(call_target(&FAR, 0x7f7f_6e1d_67a4), None);
        assert_eq!(call_word(&FAR, 0x7f7f_6e1d_67a4), Some(0x7f7f_6e1d_6d60));
        assert_eq!(call_word(&LOOKUP, 0x7f7f_6e1d_67a4), None);
        let guard = [&GUARD[3..13], &FAR[30..]].concat();
        assert_eq!(function_loaded(&guard), Some(0x5593_cda8_84c0));
    }

    #[test]
    fn the_export_entry_and_the_c_function_before_a_call() {
        assert_eq!(light_loaded(&LOOKUP), Some((0x7fdb_d013_29a8, 0x55f0_78c0_d5a0)));
    }

    #[test]
    fn code_that_does_not_load_its_own_address_is_no_such_call() {
        let mut other = LOOKUP;
        other[23] = 0;
        assert_eq!(light_loaded(&other), None);
        assert_eq!(light_loaded(&LOOKUP[2..]), None);
        assert_eq!(light_loaded(&[]), None);
    }

    #[test]
    fn the_c_function_before_a_call() {
        assert_eq!(function_loaded(&GUARD), Some(0x5593_cda8_84c0));
        assert_eq!(function_loaded(&LOOKUP), None);
        assert_eq!(function_loaded(&GUARD[5..]), None);
    }

    #[test]
    fn destinations_of_jumps() {
        // At the end of a module on Erlang 27.3.4.
        let jump = [0xe9, 0x5e, 0x82, 0x8b, 0xff];
        assert_eq!(near_target(&jump, JUMP, 0x7f8f_ff94_7c2a), Some(0x7f8f_ff1f_fe88));
        assert_eq!(near_target(&jump, CALL, 0x7f8f_ff94_7c2a), None);
    }

    #[test]
    fn destinations_of_calls() {
        assert_eq!(call_target(&GUARD, 0x1000_0000), Some(0x0fde_97fd));
        assert_eq!(call_target(&GUARD[..18], 0x1000_0000), None);
        assert_eq!(call_target(&[], 0), None);
    }
}
