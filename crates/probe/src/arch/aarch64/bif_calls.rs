//! Code that calls a BIF. For most BIFs it loads the export entry and its own address (`emit_call_light_bif` of the JIT);
//! constants lie at the end of the module or in between:
//!
//! ```text
//! call:  ldr  x3, EXPORT
//!        ldr  x7, FUNCTION
//!        adr  x2, call
//!        bl   call_light_bif_shared
//! ```
//!
//! For BIFs that are allowed in guards it loads the C function only (`emit_i_bif`):
//!
//! ```text
//!        ldr  x3, FUNCTION
//!        bl   i_bif_body_shared
//! ```

use super::instructions::{
    BYTES, X2, X3, X7, X14, address, call_target, constant, decode, immediate, is_jump_to,
    jump_target as jumped_to,
};
use crate::node::ReadMemory;

/// Instructions searched before a return address. Constants may lie between them.
const CALL_INSTRUCTIONS: usize = 12;

/// Instructions of a jump: an address in four parts, and the jump.
const JUMP_INSTRUCTIONS: usize = 5;

/// The instructions before a return address.
pub(crate) struct CallCode {
    code: Vec<u32>,
    start: u64,
}

impl CallCode {
    /// Reads the instructions before `return_address`; `None` if they are unreadable.
    pub(crate) fn before(memory: &impl ReadMemory, return_address: u64) -> Option<Self> {
        let mut bytes = [0; CALL_INSTRUCTIONS * BYTES];
        let start = return_address.checked_sub(bytes.len() as u64)?;
        memory.read(start, &mut bytes).ok()?;
        Some(Self { code: decode(&bytes), start })
    }

    /// The destination of the call.
    pub(crate) fn target(&self, _memory: &impl ReadMemory) -> Option<u64> {
        let (code, at) = self.backwards().next()?;
        call_target(code, at)
    }

    /// The export entry and the C function of a BIF, if the call has the first form.
    pub(crate) fn light(&self, memory: &impl ReadMemory) -> Option<(u64, u64)> {
        let (begin, _) =
            self.backwards().find_map(|(code, at)| Some((address(code, X2, at)?, at)))?;
        Some((self.loaded(memory, X3, begin)?, self.loaded(memory, X7, begin)?))
    }

    /// The C function of a BIF, if the call has the second form.
    pub(crate) fn function(&self, memory: &impl ReadMemory) -> Option<u64> {
        self.loaded(memory, X3, self.start)
    }

    /// The constant that the code loads last, from the address `from` on.
    fn loaded(&self, memory: &impl ReadMemory, register: u32, from: u64) -> Option<u64> {
        let place = self.backwards().take_while(|&(_, at)| at >= from).find_map(|(code, at)| {
            constant(code, at).filter(|&(to, _)| to == register).map(|(_, place)| place)
        });
        memory.word(place?).ok()
    }

    /// Instructions with their addresses, last to first.
    fn backwards(&self) -> impl Iterator<Item = (u32, u64)> {
        (0..self.code.len())
            .rev()
            .map(|index| (self.code[index], self.start + (index * BYTES) as u64))
    }
}

/// The destination of a jump at `at`, in one of three forms: a branch; a jump to a constant loaded before it; a
/// jump to an address composed before it. All calls of fragments go through such a jump (`_dispatchTable` of the
/// JIT).
pub(crate) fn jump_target(memory: &impl ReadMemory, at: u64) -> Option<u64> {
    let mut bytes = [0; JUMP_INSTRUCTIONS * BYTES];
    let mut length = bytes.len();
    while memory.read(at, &mut bytes[..length]).is_err() {
        // The end of the memory may be near.
        length = length.checked_sub(BYTES).filter(|&left| left > 0)?;
    }
    let code = decode(&bytes[..length]);
    let constant_at = |place: u64| memory.word(place).ok();
    jumped_to(code[0], at)
        .or_else(|| {
            let (register, place) = constant(code[0], at)?;
            is_jump_to(*code.get(1)?, register).then(|| constant_at(place)).flatten()
        })
        .or_else(|| put_together(&code))
}

/// The destination of a jump whose address the code composes in the JIT's register for that.
fn put_together(code: &[u32]) -> Option<u64> {
    let mut address = 0;
    for &instruction in code {
        if is_jump_to(instruction, X14) {
            return (address != 0).then_some(address);
        }
        address = immediate(instruction, X14, address)?;
    }
    None
}

#[cfg(test)]
mod tests {
    use std::io;

    use super::{CallCode, ReadMemory, jump_target};

    const START: u64 = 0x1000;

    /// Instructions from [`START`] on.
    struct Code(Vec<u32>);

    impl ReadMemory for Code {
        fn read(&self, address: u64, bytes: &mut [u8]) -> io::Result<()> {
            let all: Vec<u8> = self.0.iter().flat_map(|word| word.to_le_bytes()).collect();
            let at = usize::try_from(address - START).unwrap();
            let found = all.get(at..at + bytes.len()).ok_or(io::ErrorKind::InvalidInput)?;
            bytes.copy_from_slice(found);
            Ok(())
        }
    }

    /// A call of a BIF in the first form at 0x1030, followed by the constants 0x7001 and 0x7002.
    fn code() -> Code {
        let mut code = vec![0xd503_201f; 12];
        // ldr x3, .+16; ldr x7, .+20; adr x2, .-8; bl .-48
        code.extend([0x5800_0083, 0x5800_00a7, 0x10ff_ffc2, 0x97ff_fff4]);
        code.extend([0x7001, 0, 0x7002, 0]);
        Code(code)
    }

    #[test]
    fn the_export_entry_and_the_c_function_before_a_call() {
        let call = CallCode::before(&code(), 0x1040).unwrap();
        assert_eq!(call.target(&code()), Some(0x100c));
        assert_eq!(call.light(&code()), Some((0x7001, 0x7002)));
        assert_eq!(call.function(&code()), Some(0x7001));
    }

    #[test]
    fn code_that_does_not_load_its_own_address_is_no_such_call() {
        let mut other = code();
        other.0[14] = 0xd503_201f;
        assert_eq!(CallCode::before(&other, 0x1040).unwrap().light(&other), None);
        assert!(CallCode::before(&other, 8).is_none());
    }

    #[test]
    fn destinations_of_jumps() {
        // b .+16; ldr x14, .+8; br x14
        let code = Code(vec![0x1400_0004, 0x5800_004e, 0xd61f_01c0, 0x7003, 0]);
        assert_eq!(jump_target(&code, 0x1000), Some(0x1010));
        assert_eq!(jump_target(&code, 0x1004), Some(0x7003));
        assert_eq!(jump_target(&code, 0x1008), None);
        // mov x14, 0x1234; movk x14, 0x5566, lsl 16; br x14
        let code = Code(vec![0xd282_468e, 0xf2aa_acce, 0xd61f_01c0]);
        assert_eq!(jump_target(&code, 0x1000), Some(0x5566_1234));
        assert_eq!(jump_target(&code, 0x1008), None);
    }
}
