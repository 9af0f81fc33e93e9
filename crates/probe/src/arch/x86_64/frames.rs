//! Rows of the unwind tables: rules for rsp or rbp, and the places of six registers below the return address.
//!
//! A rule that does not fit (an expression, another register) becomes a row of kind `Unknown`, at which the walk
//! ends as cut. This is rare: in Debian 12's emulator it is one row of 53,806, for the linker's call stubs, which
//! have a kind of their own.

use gimli::{CfaRule, Register, RegisterRule, UnwindTableRow, X86_64};

use super::registers::{FRAME, Registers};
use crate::{
    arch::UnwindFrames,
    kernel_interface::{CfaKind, UnwindRow},
};

/// Registers in the order of `bpf/x86_64/arch.h`.
const SAVED_REGISTERS: [Register; 6] =
    [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15];

/// Limit of words between the return address and a saved register: `SAVED_WORDS` of `bpf/x86_64/arch.h` without the
/// return address itself.
const SAVED_WORDS: i64 = 7;

const WORD: i64 = 8;

/// Sections with code that no unwind table describes, and the row for all of their code: none.
pub(crate) const STUBS: [(&str, UnwindRow); 0] = [];

/// The row for a rule of the compiler.
pub(crate) fn compile_row(
    pc: u32,
    row: &UnwindTableRow<usize>,
    frames: &UnwindFrames<'_>,
) -> UnwindRow {
    let unknown = UnwindRow { pc, ..UnwindRow::default() };
    match row.register(X86_64::RA) {
        Some(RegisterRule::Offset(offset)) if offset == -WORD => {}
        Some(RegisterRule::Undefined) => {
            return UnwindRow { cfa: CfaKind::End.number(), ..unknown };
        }
        _ => return unknown,
    }
    let Some((kind, cfa_offset, above)) = cfa_of(row.cfa(), frames) else { return unknown };
    let mut saved = [0; 6];
    for (slot, register) in saved.iter_mut().zip(SAVED_REGISTERS) {
        let Some(place) = place_of(row.register(register).as_ref()) else { return unknown };
        *slot = place;
    }
    UnwindRow { pc, cfa_offset, cfa: kind.number(), saved, above }
}

fn cfa_of(rule: &CfaRule<usize>, frames: &UnwindFrames<'_>) -> Option<(CfaKind, i32, u8)> {
    match rule {
        CfaRule::RegisterAndOffset { register, offset } => {
            let offset = i32::try_from(*offset).ok()?;
            match *register {
                X86_64::RSP => Some((CfaKind::Sp, offset, 0)),
                X86_64::RBP => Some((CfaKind::Bp, offset, 0)),
                _ => None,
            }
        }
        CfaRule::Expression(expression) => {
            let bytes = expression.get(frames).ok()?.0;
            let stub = plt_threshold(bytes.slice()).map(|threshold| (CfaKind::Plt, threshold, 0));
            stub.or_else(|| {
                saved_stack(bytes.slice()).map(|(offset, above)| (CfaKind::SpSaved, offset, above))
            })
        }
    }
}

/// Threshold N of a linker's call stub, described as rsp + 8 + (rip & 15 >= N ? 8 : 0). N is 11 or 10.
fn plt_threshold(expression: &[u8]) -> Option<i32> {
    const LIT0: u8 = 0x30;
    match expression {
        [0x77, 8, 0x80, 0, 0x3f, 0x1a, literal @ 0x30..=0x4f, 0x2a, 0x33, 0x24, 0x22] => {
            Some(i32::from(literal - LIT0))
        }
        _ => None,
    }
}

/// Offset and constant of a moved stack. Assembly that moves its stack says that a word of the new one holds the
/// old stack pointer: (rsp + offset), dereferenced, plus a constant. The offset has one or two bytes (SLEB128).
fn saved_stack(expression: &[u8]) -> Option<(i32, u8)> {
    let (offset, rest) = match expression {
        [0x77, one @ 0..=0x7f, rest @ ..] => (sign_extended(i32::from(*one), 7), rest),
        [0x77, low @ 0x80..=0xff, high @ 0..=0x7f, rest @ ..] => {
            (sign_extended(i32::from(low & 0x7f) | i32::from(*high) << 7, 14), rest)
        }
        _ => return None,
    };
    match rest {
        [0x06, 0x23, above @ 0..=0x7f] => Some((offset, *above)),
        _ => None,
    }
}

fn sign_extended(value: i32, bits: u32) -> i32 {
    value << (i32::BITS - bits) >> (i32::BITS - bits)
}

/// Words below the return address, or 0 for an unchanged register.
fn place_of(rule: Option<&RegisterRule<usize>>) -> Option<u8> {
    match rule {
        None | Some(RegisterRule::Undefined | RegisterRule::SameValue) => Some(0),
        Some(&RegisterRule::Offset(offset)) => {
            let words = offset.checked_neg()? / WORD - 1;
            let fits = offset % WORD == 0 && (1..=SAVED_WORDS).contains(&words);
            fits.then(|| u8::try_from(words).expect("at most seven"))
        }
        _ => None,
    }
}

/// The registers of the caller, by a row of the function. `word_at` reads words of the stack by address.
pub(crate) fn caller(
    row: &UnwindRow,
    from: &Registers,
    _is_caller: bool,
    word_at: impl Fn(u64) -> Option<u64>,
) -> Option<Registers> {
    let end = frame_end(row, from, &word_at).filter(|&end| end > from.sp)?;
    caller_of(row, from, end, &word_at)
}

/// The canonical frame address: the stack pointer before the call of the function.
fn frame_end(
    row: &UnwindRow,
    from: &Registers,
    word_at: &impl Fn(u64) -> Option<u64>,
) -> Option<u64> {
    let beyond = |base: u64| base.wrapping_add_signed(row.cfa_offset.into());
    match CfaKind::from_number(row.cfa)? {
        CfaKind::Sp => Some(beyond(from.sp)),
        CfaKind::Bp => Some(beyond(from.saved[FRAME])),
        CfaKind::SpSaved => Some(word_at(beyond(from.sp))? + u64::from(row.above)),
        CfaKind::Plt => {
            let is_late = i64::try_from(from.ip & 15).ok()? >= i64::from(row.cfa_offset);
            Some(from.sp + 8 + 8 * u64::from(is_late))
        }
        CfaKind::Unknown | CfaKind::End => None,
    }
}

fn caller_of(
    row: &UnwindRow,
    from: &Registers,
    end: u64,
    word_at: &impl Fn(u64) -> Option<u64>,
) -> Option<Registers> {
    let mut saved = from.saved;
    for (register, &place) in saved.iter_mut().zip(&row.saved).filter(|&(_, &place)| place > 0) {
        *register = word_at(end.checked_sub(8 * (1 + u64::from(place)))?)?;
    }
    Some(Registers { ip: word_at(end.checked_sub(8)?)?, sp: end, saved })
}

#[cfg(test)]
mod tests {
    use gimli::RegisterRule;

    use super::{CfaKind, Registers, UnwindRow, caller, place_of, plt_threshold, saved_stack};

    fn row(kind: CfaKind, cfa_offset: i32, saved: [u8; 6]) -> UnwindRow {
        UnwindRow { cfa_offset, cfa: kind.number(), saved, ..UnwindRow::default() }
    }

    #[track_caller]
    fn check(ip: u64, row: UnwindRow, expected: [u64; 4]) {
        let from = Registers { ip, sp: 1000, saved: [1, 2000, 3, 4, 5, 6] };
        let word_at = |address: u64| (address < 3000).then_some(address + 7);
        let [ip, sp, rbx, rbp] = expected;
        let expected = Registers { ip, sp, saved: [rbx, rbp, 3, 4, 5, 6] };
        assert_eq!(caller(&row, &from, false, word_at), Some(expected));
        assert_eq!(caller(&row, &from, false, |_| None), None);
    }

    #[test]
    fn each_rule_finds_the_caller() {
        // The function has pushed rbp and rbx.
        check(0x10, row(CfaKind::Sp, 24, [2, 1, 0, 0, 0, 0]), [1023, 1024, 1007, 1015]);
        check(0x20, row(CfaKind::Bp, 16, [0, 1, 0, 0, 0, 0]), [2015, 2016, 1, 2007]);
        check(0x3a, row(CfaKind::Plt, 11, [0; 6]), [1007, 1008, 1, 2000]);
        check(0x3b, row(CfaKind::Plt, 11, [0; 6]), [1015, 1016, 1, 2000]);
    }

    #[test]
    fn registers_lie_below_the_return_address() {
        let check = |offset: i64, expected: Option<u8>| {
            assert_eq!(place_of(Some(&RegisterRule::Offset(offset))), expected, "{offset}");
        };
        check(-16, Some(1));
        check(-64, Some(7));
        check(-72, None);
        check(-8, None);
        check(-20, None);
        check(16, None);
        check(i64::MIN, None);
        assert_eq!(place_of(None), Some(0));
    }

    #[test]
    fn the_expression_of_call_stubs() {
        let mut stub = [0x77, 8, 0x80, 0, 0x3f, 0x1a, 0x3b, 0x2a, 0x33, 0x24, 0x22];
        assert_eq!(plt_threshold(&stub), Some(11));
        stub[6] = 0x3a;
        assert_eq!(plt_threshold(&stub), Some(10));
        stub[0] = 0x76;
        assert_eq!(plt_threshold(&stub), None);
    }

    #[test]
    fn the_expression_of_a_moved_stack() {
        assert_eq!(saved_stack(&[0x77, 0x38, 0x06, 0x23, 8]), Some((56, 8)));
        assert_eq!(saved_stack(&[0x77, 0xd8, 0x00, 0x06, 0x23, 8]), Some((88, 8)));
        assert_eq!(saved_stack(&[0x77, 0xd8, 0x01, 0x06, 0x23, 8]), Some((216, 8)));
        assert_eq!(saved_stack(&[0x77, 0x78, 0x06, 0x23, 8]), Some((-8, 8)));
        assert_eq!(saved_stack(&[0x76, 0x38, 0x06, 0x23, 8]), None);
    }
}
