//! Walks C frames in user space, with the same rows as `bpf/native.h`, for samples that have registers and
//! the inner part of the stack.

use super::tables::{RowsOfFile, Update};
use crate::kernel_interface::{CfaKind, UnwindModule, UnwindRow};

/// Callee-saved registers, in the order of the rows.
const SAVED_REGISTERS: usize = 6;

/// Place of the frame pointer (rbp) among the saved registers.
const REG_BP: usize = 1;

/// Place of r13, in which JIT code keeps the process.
pub(crate) const REG_R13: usize = 3;

/// Registers of a function that was interrupted or that called another one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Registers {
    /// The next instruction.
    pub(crate) ip: u64,
    /// The stack pointer.
    pub(crate) sp: u64,
    /// See [`REG_BP`] and [`REG_R13`].
    pub(crate) saved: [u64; SAVED_REGISTERS],
}

/// The result of one step of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The caller.
    Caller(Registers),
    /// There is no caller: this is the first function of the thread.
    End,
    /// The caller is unknown: code without rows, or a word that is not in the sample.
    Cut,
}

/// All rows of a node.
#[derive(Debug, Default)]
pub(crate) struct Walker {
    modules: Vec<UnwindModule>,
    /// In order of their first row.
    files: Vec<RowsOfFile>,
}

impl Walker {
    /// Adds what was read.
    pub(crate) fn update(&mut self, update: &Update) {
        self.files.extend(update.files.iter().cloned());
        self.modules.clone_from(&update.modules);
    }

    /// Steps from a function to its caller. `is_caller`: `from.ip` is a return address. `word_at` gives words
    /// of the stack by address.
    pub(crate) fn step(
        &self,
        from: &Registers,
        is_caller: bool,
        word_at: impl Fn(u64) -> Option<u64>,
    ) -> Step {
        // A return address may be the first instruction of the next function; the call before it is not.
        let Some(row) = self.row_at(from.ip.wrapping_sub(u64::from(is_caller))) else {
            return Step::Cut;
        };
        if row.cfa == CfaKind::End.number() {
            return Step::End;
        }
        let caller = frame_end(row, from, &word_at)
            .filter(|&end| end > from.sp)
            .and_then(|end| caller_of(row, from, end, &word_at));
        match caller {
            Some(caller) if caller.ip == 0 => Step::End,
            Some(caller) => Step::Caller(caller),
            None => Step::Cut,
        }
    }

    fn row_at(&self, pc: u64) -> Option<&UnwindRow> {
        let after = self.modules.partition_point(|module| module.start <= pc);
        let module = self.modules.get(after.checked_sub(1)?).filter(|module| pc < module.end)?;
        let after = self.files.partition_point(|file| file.first_row <= module.first_row);
        let rows = &self.files.get(after.checked_sub(1)?)?.rows;
        let offset = pc.wrapping_sub(module.base);
        let after = rows.partition_point(|row| u64::from(row.pc) <= offset);
        rows.get(after.checked_sub(1)?)
    }
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
        CfaKind::Bp => Some(beyond(from.saved[REG_BP])),
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
    use super::{Registers, Step, Walker};
    use crate::{
        kernel_interface::{CfaKind, UnwindModule, UnwindRow},
        native::unwind::{
            blocks::Blocks,
            tables::{RowsOfFile, UNUSED_MODULE, Update},
        },
    };

    const BASE: u64 = 0x7000;

    fn row(pc: u32, kind: CfaKind, cfa_offset: i32, saved: [u8; 6]) -> UnwindRow {
        UnwindRow { pc, cfa_offset, cfa: kind.number(), saved, above: 0 }
    }

    fn walker() -> Walker {
        let rows = vec![
            row(0, CfaKind::End, 0, [0; 6]),
            // Has pushed rbp and rbx.
            row(0x10, CfaKind::Sp, 24, [2, 1, 0, 0, 0, 0]),
            row(0x20, CfaKind::Bp, 16, [0, 1, 0, 0, 0, 0]),
            row(0x30, CfaKind::Plt, 11, [0; 6]),
            row(0x40, CfaKind::Unknown, 0, [0; 6]),
        ];
        let module = UnwindModule {
            start: BASE,
            end: BASE + 0x100,
            base: BASE,
            first_row: 256,
            row_count: 5,
            ..UNUSED_MODULE
        };
        let file = |first_row, rows: Vec<UnwindRow>| RowsOfFile {
            first_row,
            first_block: 0,
            blocks: Blocks::of(&rows),
            rows,
        };
        let other = file(0, vec![row(0, CfaKind::Unknown, 0, [0; 6])]);
        let mut walker = Walker::default();
        walker.update(&Update { files: vec![other, file(256, rows)], modules: vec![module] });
        walker
    }

    #[track_caller]
    fn check(ip: u64, is_caller: bool, expected: Step) {
        let from = Registers { ip: BASE + ip, sp: 1000, saved: [1, 2000, 3, 4, 5, 6] };
        let word_at = |address: u64| (address < 3000).then_some(address + 7);
        assert_eq!(walker().step(&from, is_caller, word_at), expected);
    }

    fn caller(ip: u64, sp: u64, rbx: u64, rbp: u64) -> Step {
        Step::Caller(Registers { ip, sp, saved: [rbx, rbp, 3, 4, 5, 6] })
    }

    #[test]
    fn each_rule_finds_the_caller() {
        check(0x10, false, caller(1023, 1024, 1007, 1015));
        check(0x20, false, caller(2015, 2016, 1, 2007));
        check(0x3a, false, caller(1007, 1008, 1, 2000));
        check(0x3b, false, caller(1015, 1016, 1, 2000));
    }

    #[test]
    fn the_call_is_before_its_return_address() {
        check(0x20, true, caller(1023, 1024, 1007, 1015));
        check(0x10, true, Step::End);
    }

    #[test]
    fn what_is_not_known_is_cut() {
        check(0x41, false, Step::Cut);
        check(0x100, false, Step::Cut);
        let from = Registers { ip: BASE + 0x10, sp: 1000, saved: [0; 6] };
        assert_eq!(walker().step(&from, false, |_| None), Step::Cut);
    }
}
