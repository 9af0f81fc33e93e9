//! Decoders of the instructions that the other files look for, by their bits (Arm Architecture Reference Manual,
//! C6.2).

/// Bytes of an instruction.
pub(super) const BYTES: usize = 4;

pub(super) const X0: u32 = 0;
pub(super) const X1: u32 = 1;
pub(super) const X2: u32 = 2;
pub(super) const X3: u32 = 3;
pub(super) const X7: u32 = 7;
/// `TMP1` of the JIT.
pub(super) const X8: u32 = 8;
/// `SUPER_TMP` of the JIT.
pub(super) const X14: u32 = 14;
/// `E`: the top of the Erlang stack.
pub(super) const X20: u32 = 20;
/// `c_p`: the process.
pub(super) const X21: u32 = 21;
/// `HTOP`
pub(super) const X23: u32 = 23;

/// Whole instructions of `code`.
pub(super) fn decode(code: &[u8]) -> Vec<u32> {
    code.as_chunks().0.iter().map(|word| u32::from_le_bytes(*word)).collect()
}

/// `ldr to, [base, OFFSET]`, with a word operand.
pub(super) fn load(code: u32, to: u32, base: u32) -> Option<u32> {
    (code & 0xffc0_03ff == 0xf940_0000 | base << 5 | to).then_some((code >> 10 & 0xfff) * 8)
}

/// `str from, [base, OFFSET]`, with a word operand.
pub(super) fn store(code: u32, from: u32, base: u32) -> Option<u32> {
    (code & 0xffc0_03ff == 0xf900_0000 | base << 5 | from).then_some((code >> 10 & 0xfff) * 8)
}

/// `ldp first, second, [base, OFFSET]`, with word operands and a non-negative offset.
pub(super) fn load_pair(code: u32, [first, second]: [u32; 2], base: u32) -> Option<u32> {
    let is_so = code & 0xffe0_7fff == 0xa940_0000 | second << 10 | base << 5 | first;
    is_so.then_some((code >> 15 & 0x3f) * 8)
}

/// `mov to, from`
pub(super) fn is_move(code: u32, to: u32, from: u32) -> bool {
    code == 0xaa00_03e0 | from << 16 | to
}

/// `cmp register, NUMBER`
pub(super) fn compared(code: u32, register: u32) -> Option<u32> {
    (code & 0xffc0_03ff == 0xf100_001f | register << 5).then_some(code >> 10 & 0xfff)
}

/// `b.eq`
pub(super) fn is_branch_if_equal(code: u32) -> bool {
    code & 0xff00_001f == 0x5400_0000
}

/// `blr`, with any register.
pub(super) fn is_call_of_register(code: u32) -> bool {
    code & 0xffff_fc1f == 0xd63f_0000
}

/// `br register`
pub(super) fn is_jump_to(code: u32, register: u32) -> bool {
    code == 0xd61f_0000 | register << 5
}

/// The destination of `bl` at the address `at`.
pub(super) fn call_target(code: u32, at: u64) -> Option<u64> {
    (code & 0xfc00_0000 == 0x9400_0000).then(|| moved(at, code, 0, 26))
}

/// The destination of `b` at the address `at`.
pub(super) fn jump_target(code: u32, at: u64) -> Option<u64> {
    (code & 0xfc00_0000 == 0x1400_0000).then(|| moved(at, code, 0, 26))
}

/// `ldr to, CONSTANT` at the address `at`: register, and address of the constant.
pub(super) fn constant(code: u32, at: u64) -> Option<(u32, u64)> {
    (code & 0xff00_0000 == 0x5800_0000).then(|| (code & 31, moved(at, code, 5, 19)))
}

/// `adr to, PLACE` at the address `at`.
pub(super) fn address(code: u32, to: u32, at: u64) -> Option<u64> {
    let offset = sign_extended(code >> 5 & 0x7_ffff, 19) << 2 | i64::from(code >> 29 & 3);
    (code & 0x9f00_001f == 0x1000_0000 | to).then(|| at.wrapping_add_signed(offset))
}

/// The value of a register after `code`: `movz` sets it, `movk` sets 16 bits of it. `None` for any other
/// instruction.
pub(super) fn immediate(code: u32, to: u32, before: u64) -> Option<u64> {
    let shift = 16 * (code >> 21 & 3);
    let bits = u64::from(code >> 5 & 0xffff) << shift;
    match code & 0xff80_001f {
        opcode if opcode == 0xd280_0000 | to => Some(bits),
        opcode if opcode == 0xf280_0000 | to => Some(before & !(0xffff << shift) | bits),
        _ => None,
    }
}

/// Adds to `at` a number of instructions: the field of `count` bits of `code` that begins at bit `first`.
fn moved(at: u64, code: u32, first: u32, count: u32) -> u64 {
    let field = code >> first & ((1 << count) - 1);
    at.wrapping_add_signed(sign_extended(field, count) * 4)
}

fn sign_extended(field: u32, bits: u32) -> i64 {
    i64::from(field) << (i64::BITS - bits) >> (i64::BITS - bits)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Encodings by the assembler of binutils.
    #[test]
    fn fields_of_instructions() {
        assert_eq!(load(0xf940_56a0, X0, X21), Some(168), "ldr x0, [x21, 168]");
        assert_eq!(store(0xf900_0008, X8, X0), Some(0), "str x8, [x0]");
        assert_eq!(store(0xf900_eea1, X1, X21), Some(472), "str x1, [x21, 472]");
        assert_eq!(load_pair(0xa945_52b7, [X23, X20], X21), Some(80), "ldp x23, x20, [x21, 80]");
        assert_eq!(load_pair(0xa905_52b7, [X23, X20], X21), None, "stp x23, x20, [x21, 80]");
        assert!(is_move(0xaa15_03e1, X1, X21), "mov x1, x21");
        assert_eq!(compared(0xf100_611f, X8), Some(24), "cmp x8, 24");
        assert!(is_branch_if_equal(0x5400_0040), "b.eq .+8");
        assert!(is_call_of_register(0xd63f_0100) && is_jump_to(0xd61f_0000, X0), "blr x8; br x0");
    }

    #[test]
    fn places_relative_to_instructions() {
        assert_eq!(call_target(0x9400_0004, 0x1000), Some(0x1010), "bl .+16");
        assert_eq!(call_target(0x97ff_ffff, 0x1000), Some(0xffc), "bl .-4");
        assert_eq!(jump_target(0x1400_0004, 0x1000), Some(0x1010), "b .+16");
        assert_eq!(jump_target(0x9400_0004, 0x1000), None, "bl .+16");
        assert_eq!(constant(0x5800_0083, 0x1000), Some((X3, 0x1010)), "ldr x3, .+16");
        assert_eq!(address(0x10ff_ffc2, X2, 0x1008), Some(0x1000), "adr x2, .-8");
        assert_eq!(address(0x5000_0002, X2, 0x1000), Some(0x1002), "adr x2, .+2");
    }

    #[test]
    fn numbers_in_parts() {
        let parts = [0xd282_4688, 0xf2aa_acc8, 0xf2c0_0028];
        let value = parts.iter().fold(0, |value, &code| immediate(code, X8, value).unwrap());
        assert_eq!(value, 0x1_5566_1234);
        assert_eq!(immediate(parts[0], X7, 0), None);
    }
}
