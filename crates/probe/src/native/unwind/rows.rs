//! Compiles the `.eh_frame` section of one file to sorted rows.
//!
//! A row has the rule of the canonical frame address and the places of the callee-saved registers that the walks
//! need ([`frames`] of the architecture).

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindContext, UnwindSection};
use object::{Object, ObjectSection};

use crate::{
    arch::{
        UnwindFrames as Frames,
        machine::frames::{self, compile_row},
    },
    kernel_interface::UnwindRow,
};

/// Limit for a common information entry (CIE); real ones have about thirty bytes. Each function executes its whole
/// CIE, so that a large one would take quadratic time.
const MAX_CIE_BYTES: usize = 4096;

/// Limit for the rows of one file: the emulator has 53,806, and two bytes of a file can make a row.
const MAX_ROWS: usize = 1 << 21;

/// The rows of an ELF file, sorted; `None` if it has no unwind table.
pub(super) fn compile(bytes: &[u8]) -> Option<Vec<UnwindRow>> {
    let file = object::File::parse(bytes).ok()?;
    let section = file.section_by_name(".eh_frame")?;
    let data = section.uncompressed_data().ok()?;
    let address_of = |name: &str| file.section_by_name(name).map_or(0, |section| section.address());
    let bases = BaseAddresses::default()
        .set_eh_frame(section.address())
        .set_eh_frame_hdr(address_of(".eh_frame_hdr"))
        .set_text(address_of(".text"))
        .set_got(address_of(".got"));
    let compiler = Compiler { functions: stubs(&file) };
    let rows = compiler.compile(&EhFrame::new(&data, LittleEndian), &bases);
    (!rows.is_empty()).then_some(rows)
}

/// Functions for the code that no unwind table describes.
fn stubs(file: &object::File<'_>) -> Vec<Function> {
    let stubs = frames::STUBS.into_iter().filter_map(|(name, row): (&str, UnwindRow)| {
        let section = file.section_by_name(name)?;
        let pc = u32::try_from(section.address()).ok()?;
        let end = section.address().checked_add(section.size())?;
        Some(Function { end, rows: vec![UnwindRow { pc, ..row }] })
    });
    stubs.collect()
}

/// The rows of a section at address 0.
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
    /// Compiles all entries. Stops at a damaged entry and keeps the rows before it.
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

#[cfg(test)]
mod tests {
    use gimli::{BaseAddresses, EhFrame, LittleEndian};

    use super::{Compiler, MAX_CIE_BYTES, UnwindRow, compile, push};
    use crate::kernel_interface::CfaKind;

    #[test]
    fn a_row_with_the_same_rules_is_left_out() {
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
        // A function has at least three rows, and the gap after it one.
        assert!(known * 4 > rows.len() * 3, "{known} of {}", rows.len());
        assert_eq!(rows.last().map(|row| row.cfa), Some(CfaKind::Unknown.number()));
        assert!(rows.iter().any(|row| row.cfa == CfaKind::End.number()));
    }

    /// A section with one function. Its CIE ends with `padding` bytes of no operation.
    fn padded(padding: usize) -> Vec<u8> {
        let entry = |parts: &[&[u8]]| {
            let bytes = parts.concat();
            [&u32::try_from(bytes.len()).unwrap().to_le_bytes()[..], &bytes].concat()
        };
        // Version, no augmentation, factors 1 and -8, return address in 16. The first function of a thread, without
        // a return address, by the register numbers of x86-64 and of aarch64.
        let shared = [0, 0, 0, 0, 1, 0, 1, 0x78, 16, 0x0c, 7, 8, 0x07, 16, 0x07, 30];
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
