//! Compiles the `.eh_frame` section of one file to sorted rows.
//!
//! A row has the rule of the canonical frame address and the places of the six callee-saved registers. A
//! rule that does not fit (an expression, another register) becomes a row of kind `Unknown`, at which the
//! walk ends as cut. This is rare: in Debian 12's emulator it is one row of 53,806, for the linker's call
//! stubs, and those have a kind of their own.

use gimli::{
    BaseAddresses, CfaRule, CieOrFde, EhFrame, LittleEndian, Register, RegisterRule, UnwindContext,
    UnwindSection, UnwindTableRow, X86_64,
};
use object::{Object, ObjectSection};

use crate::kernel_interface::{CfaKind, UnwindRow};

/// In the order of `bpf/arch.h`.
const SAVED_REGISTERS: [Register; 6] =
    [X86_64::RBX, X86_64::RBP, X86_64::R12, X86_64::R13, X86_64::R14, X86_64::R15];

/// Saved registers lie within this many words below the return address: `SAVED_WORDS` of `bpf/maps.h`
/// without the return address itself.
const SAVED_WORDS: i64 = 7;

const WORD: i64 = 8;

/// Limit for a common information entry (CIE); real ones have about thirty bytes. Each function executes
/// all of its CIE, so that a large one would take quadratic time.
const MAX_CIE_BYTES: usize = 4096;

/// Limit for the rows of one file: the emulator has 53,806, and two bytes of a file can make a row.
const MAX_ROWS: usize = 1 << 21;

type Frames<'a> = EhFrame<gimli::EndianSlice<'a, LittleEndian>>;

/// The rows of an ELF file, sorted; none when it has no unwind table.
pub(super) fn compile(bytes: &[u8]) -> Option<Vec<UnwindRow>> {
    let file = object::File::parse(bytes).ok()?;
    let section = file.section_by_name(".eh_frame")?;
    let data = section.uncompressed_data().ok()?;
    let address_of = |name: &str| file.section_by_name(name).map_or(0, |it| it.address());
    let bases = BaseAddresses::default()
        .set_eh_frame(section.address())
        .set_eh_frame_hdr(address_of(".eh_frame_hdr"))
        .set_text(address_of(".text"))
        .set_got(address_of(".got"));
    let rows = Compiler::default().compile(&EhFrame::new(&data, LittleEndian), &bases);
    (!rows.is_empty()).then_some(rows)
}

/// The bytes of a section that lies at address 0.
#[cfg(fuzzing)]
pub(super) fn compile_section(data: &[u8]) -> Vec<UnwindRow> {
    let bases = BaseAddresses::default().set_eh_frame(0);
    let rows = Compiler::default().compile(&EhFrame::new(data, LittleEndian), &bases);
    assert!(rows.is_sorted_by_key(|row| row.pc), "the search in the kernel needs order");
    rows
}

/// The rows of one function and its end.
struct Function {
    end: u64,
    rows: Vec<UnwindRow>,
}

#[derive(Default)]
struct Compiler {
    functions: Vec<Function>,
}

impl Compiler {
    /// Compiles all entries. A damaged entry ends this; the rows before it are kept.
    fn compile(mut self, frames: &Frames<'_>, bases: &BaseAddresses) -> Vec<UnwindRow> {
        let mut context = UnwindContext::new();
        let mut entries = frames.entries(bases);
        let mut left = MAX_ROWS;
        while left > 0
            && let Ok(Some(entry)) = entries.next()
        {
            let CieOrFde::Fde(partial) = entry else { continue };
            let Ok(function) = partial.parse(Frames::cie_from_offset) else { continue };
            if function.cie().entry_len() > MAX_CIE_BYTES {
                continue;
            }
            let mut rows = Vec::new();
            let Ok(mut table) = function.rows(frames, bases, &mut context) else { continue };
            while rows.len() < left
                && let Ok(Some(row)) = table.next_row()
            {
                let Ok(pc) = u32::try_from(row.start_address()) else { break };
                rows.push(compile_row(pc, row, frames));
            }
            left -= rows.len();
            if !rows.is_empty() {
                self.functions.push(Function { end: function.end_address(), rows });
            }
        }
        self.joined()
    }

    /// All rows in order, with a row of kind `Unknown` in each gap between functions.
    fn joined(mut self) -> Vec<UnwindRow> {
        self.functions.sort_by_key(|function| function.rows[0].pc);
        let mut joined: Vec<UnwindRow> = Vec::new();
        let mut end = 0;
        for function in self.functions {
            let start = function.rows[0].pc;
            if !joined.is_empty() && end < start {
                push(&mut joined, UnwindRow { pc: end, ..UnwindRow::default() });
            }
            for row in function.rows {
                push(&mut joined, row);
            }
            end = u32::try_from(function.end).unwrap_or(u32::MAX);
        }
        push(&mut joined, UnwindRow { pc: end, ..UnwindRow::default() });
        joined
    }
}

/// Adds a row, unless it has the same rules as the row before.
fn push(rows: &mut Vec<UnwindRow>, row: UnwindRow) {
    match rows.last_mut() {
        Some(last) if row.pc < last.pc => {}
        Some(last) if row.pc == last.pc => *last = row,
        Some(last) if UnwindRow { pc: last.pc, ..row } == *last => {}
        _ => rows.push(row),
    }
}

fn compile_row(pc: u32, row: &UnwindTableRow<usize>, frames: &Frames<'_>) -> UnwindRow {
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

fn cfa_of(rule: &CfaRule<usize>, frames: &Frames<'_>) -> Option<(CfaKind, i32, u8)> {
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

/// Linkers describe their call stubs as rsp + 8 + (rip & 15 >= N ? 8 : 0), N being 11 or 10.
fn plt_threshold(expression: &[u8]) -> Option<i32> {
    const LIT0: u8 = 0x30;
    match expression {
        [0x77, 8, 0x80, 0, 0x3f, 0x1a, literal @ 0x30..=0x4f, 0x2a, 0x33, 0x24, 0x22] => {
            Some(i32::from(literal - LIT0))
        }
        _ => None,
    }
}

/// Assembly that moves its stack says that the old stack pointer is in a word of the new one:
/// (rsp + offset), dereferenced, plus a constant. The offset has one or two bytes (SLEB128).
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

/// Words below the return address, 0 for a register that is unchanged.
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

#[cfg(test)]
mod tests {
    use gimli::{BaseAddresses, EhFrame, LittleEndian, RegisterRule};

    use super::{
        CfaKind, Compiler, MAX_CIE_BYTES, UnwindRow, compile, place_of, plt_threshold, push,
        saved_stack,
    };

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

    #[test]
    fn a_row_that_says_nothing_new_is_left_out() {
        let mut rows = Vec::new();
        let row = |pc: u32, cfa_offset: i32| UnwindRow { pc, cfa_offset, ..UnwindRow::default() };
        for new in [row(0, 8), row(4, 8), row(5, 16), row(5, 24), row(2, 99), row(9, 8)] {
            push(&mut rows, new);
        }
        assert_eq!(rows, [row(0, 8), row(5, 24), row(9, 8)]);
    }

    #[test]
    fn our_own_binary_has_rows() {
        let own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        let rows = compile(&own).unwrap();
        assert!(rows.len() > 1000, "{}", rows.len());
        assert!(rows.is_sorted_by(|a, b| a.pc < b.pc));
        let known = rows.iter().filter(|row| row.cfa != CfaKind::Unknown.number()).count();
        assert!(known * 10 > rows.len() * 8, "{known} of {}", rows.len());
        assert_eq!(rows.last().map(|row| row.cfa), Some(CfaKind::Unknown.number()));
        assert!(rows.iter().any(|row| row.cfa == CfaKind::End.number()));
    }

    /// A section with one function, whose shared description ends with so many bytes of nothing.
    fn padded(padding: usize) -> Vec<u8> {
        let entry = |parts: &[&[u8]]| {
            let bytes = parts.concat();
            [&u32::try_from(bytes.len()).unwrap().to_le_bytes()[..], &bytes].concat()
        };
        // Version, no augmentation, factors 1 and -8, return address in 16; CFA is rsp + 8.
        let shared = [0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x90, 1];
        let shared = entry(&[&shared, &vec![0; padding]]);
        let back = u32::try_from(shared.len() + 4).unwrap().to_le_bytes();
        let function = entry(&[&back, &0x1000_u64.to_le_bytes(), &0x10_u64.to_le_bytes()]);
        [shared, function].concat()
    }

    #[test]
    fn a_shared_description_of_any_length_is_not_believed() {
        let rows = |padding| {
            let bytes = padded(padding);
            let bases = BaseAddresses::default().set_eh_frame(0);
            Compiler::default().compile(&EhFrame::new(&bytes, LittleEndian), &bases)
        };
        assert_eq!(rows(10).iter().map(|row| row.pc).collect::<Vec<_>>(), [0x1000, 0x1010]);
        assert!(rows(MAX_CIE_BYTES).iter().all(|row| row.cfa == CfaKind::Unknown.number()));
    }

    #[test]
    fn damaged_bytes_are_no_panic() {
        let mut own = std::fs::read(std::env::current_exe().unwrap()).unwrap();
        own.truncate(own.len() / 2);
        let _ = compile(&own);
        assert_eq!(compile(b"\x7fELF"), None);
        assert_eq!(compile(&[]), None);
    }
}
