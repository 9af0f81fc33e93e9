//! Rows of the unwind tables: rules for sp or x29, and the places of four registers. The link register is one of
//! them, because a call does not write its return address to memory. Compilers store them next to each other, near
//! the lower or the upper end of a frame. A rule that does not fit becomes a row of kind `Unknown`, at which the
//! walk ends as cut.

use gimli::{AArch64, CfaRule, Register, RegisterRule, UnwindTableRow};

use super::registers::{ADDRESS_BITS, FRAME, LINK, Registers, SAVED_REGISTERS};
use crate::{
    arch::UnwindFrames,
    kernel_interface::{CfaKind, UnwindRow},
};

/// Registers in the order of `bpf/aarch64/arch.h`.
const REGISTERS: [Register; SAVED_REGISTERS] =
    [AArch64::X29, AArch64::X30, AArch64::X20, AArch64::X21];

const WORD: i64 = 8;

/// Number of words that a row may name: `SAVED_WORDS` of `bpf/aarch64/arch.h`.
const SAVED_WORDS: i64 = 16;

/// Unit of the distance of these words from the canonical frame address.
const DISTANCE_BYTES: i64 = 16;

/// The row of a function without a frame: its caller's frame ends at the stack pointer.
const WITHOUT_FRAME: UnwindRow =
    UnwindRow { pc: 0, cfa_offset: 0, cfa: CfaKind::Sp as u8, saved: [0; 6], above: 0 };

/// Sections with code that no unwind table describes, and the row for all of their code: the linker's call stubs,
/// which jump and store nothing.
pub(crate) const STUBS: [(&str, UnwindRow); 2] =
    [(".plt", WITHOUT_FRAME), (".iplt", WITHOUT_FRAME)];

/// The row for a rule of the compiler.
pub(crate) fn compile_row(
    pc: u32,
    row: &UnwindTableRow<usize>,
    _frames: &UnwindFrames<'_>,
) -> UnwindRow {
    let unknown = UnwindRow { pc, ..UnwindRow::default() };
    if row.register(AArch64::X30) == Some(RegisterRule::Undefined) {
        return UnwindRow { cfa: CfaKind::End.number(), ..unknown };
    }
    let Some((kind, cfa_offset)) = cfa_of(row.cfa()) else { return unknown };
    let mut offsets = [None; SAVED_REGISTERS];
    for (offset, register) in offsets.iter_mut().zip(REGISTERS) {
        let Ok(known) = offset_of(row.register(register).as_ref()) else { return unknown };
        *offset = known;
    }
    let Some(saved) = places_of(offsets) else { return unknown };
    UnwindRow { pc, cfa_offset, cfa: kind.number(), saved, above: 0 }
}

fn cfa_of(rule: &CfaRule<usize>) -> Option<(CfaKind, i32)> {
    let CfaRule::RegisterAndOffset { register, offset } = rule else { return None };
    let offset = i32::try_from(*offset).ok()?;
    match *register {
        AArch64::SP => Some((CfaKind::Sp, offset)),
        AArch64::X29 => Some((CfaKind::Bp, offset)),
        _ => None,
    }
}

/// A rule that does not fit into a row.
struct Unfit;

/// The place of a stored register, relative to the canonical frame address; `None` for an unchanged one.
fn offset_of(rule: Option<&RegisterRule<usize>>) -> Result<Option<i64>, Unfit> {
    match rule {
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => Ok(None),
        Some(&RegisterRule::Offset(offset)) if offset % WORD == 0 => Ok(Some(offset)),
        _ => Err(Unfit),
    }
}

/// One more than the index of each register among the words that the row names, and the distance of these words.
fn places_of(offsets: [Option<i64>; SAVED_REGISTERS]) -> Option<[u8; 6]> {
    let lowest = offsets.into_iter().flatten().min().unwrap_or(0);
    let distance =
        u16::try_from(lowest.checked_neg()?.checked_add(DISTANCE_BYTES - 1)? / DISTANCE_BYTES)
            .ok()?;
    let [low, high] = distance.to_le_bytes();
    let mut saved = [0, 0, 0, 0, low, high];
    for (place, offset) in saved.iter_mut().zip(offsets) {
        let Some(offset) = offset else { continue };
        let word = (offset + DISTANCE_BYTES * i64::from(distance)) / WORD;
        *place = u8::try_from(word + 1).ok().filter(|&place| i64::from(place) <= SAVED_WORDS)?;
    }
    Some(saved)
}

/// The registers of the caller, by a row of the function. `word_at` reads words of the stack by address.
pub(crate) fn caller(
    row: &UnwindRow,
    from: &Registers,
    is_caller: bool,
    word_at: impl Fn(u64) -> Option<u64>,
) -> Option<Registers> {
    let base = match CfaKind::from_number(row.cfa)? {
        CfaKind::Sp => from.sp,
        CfaKind::Bp => from.saved[FRAME],
        _ => return None,
    };
    let end = base.wrapping_add_signed(row.cfa_offset.into());
    // Only the interrupted function may lack a frame or still have its return address in the register.
    let is_frame = if is_caller { end > from.sp && row.saved[LINK] != 0 } else { end >= from.sp };
    let distance = u64::from(u16::from_le_bytes([row.saved[4], row.saved[5]]));
    let words = end.checked_sub(16 * distance).filter(|_| is_frame)?;
    let mut saved = from.saved;
    for (register, &place) in saved.iter_mut().zip(&row.saved).filter(|&(_, &place)| place > 0) {
        *register = word_at(words + 8 * (u64::from(place) - 1))?;
    }
    Some(Registers { ip: saved[LINK] & ADDRESS_BITS, sp: end, saved })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn registers_lie_next_to_each_other() {
        let check = |offsets: [Option<i64>; 4], expected| assert_eq!(places_of(offsets), expected);
        check([None; 4], Some([0; 6]));
        check([Some(-64), Some(-56), None, Some(-40)], Some([1, 2, 0, 4, 4, 0]));
        check([Some(-24), Some(-16), None, None], Some([2, 3, 0, 0, 2, 0]));
        check([Some(-4160), Some(-4152), Some(-4144), None], Some([1, 2, 3, 0, 4, 1]));
        check([Some(-4160), Some(-8), None, None], None);
        check([Some(16), None, None, None], Some([3, 0, 0, 0, 0, 0]));
        check([Some(i64::MIN), None, None, None], None);
    }

    #[track_caller]
    fn check(row: UnwindRow, is_caller: bool, expected: Option<[u64; 4]>) {
        let from = Registers { ip: 0x40, sp: 1024, saved: [2048, 0x7f_0000_1234_5678, 3, 4] };
        let word_at = |address: u64| (address < 3000).then_some(address + 7);
        let expected =
            expected.map(|[ip, sp, frame, link]| Registers { ip, sp, saved: [frame, link, 3, 4] });
        assert_eq!(caller(&row, &from, is_caller, word_at), expected);
    }

    #[test]
    fn each_rule_finds_the_caller() {
        let signed = 0x7f_0000_1234_5678;
        check(WITHOUT_FRAME, false, Some([0x1234_5678, 1024, 2048, signed]));
        check(WITHOUT_FRAME, true, None);
        let stored = UnwindRow { cfa_offset: 64, saved: [1, 2, 0, 0, 4, 0], ..WITHOUT_FRAME };
        check(stored, true, Some([1039, 1088, 1031, 1039]));
        check(
            UnwindRow { cfa: CfaKind::Bp.number(), ..stored },
            true,
            Some([2063, 2112, 2055, 2063]),
        );
        check(UnwindRow { cfa: CfaKind::Plt.number(), ..stored }, true, None);
        check(UnwindRow { cfa_offset: -64, ..stored }, true, None);
    }
}
