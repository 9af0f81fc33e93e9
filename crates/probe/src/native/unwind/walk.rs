//! Walks C frames in user space, with the same rows as `bpf/native.h`, for samples that have registers and the inner
//! part of the stack.

use super::tables::{RowsOfFile, Update};
use crate::{
    arch::machine::{frames, registers::Registers},
    kernel_interface::{CfaKind, UnwindModule, UnwindRow},
};

/// The result of one step of the walk.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Step {
    /// The caller.
    Caller(Registers),
    /// No caller: this is the first function of the thread.
    End,
    /// An unknown caller: code without rows, or a word that is not in the sample.
    Cut,
}

/// All rows of a node.
#[derive(Debug, Default)]
pub(crate) struct Walker {
    modules: Vec<UnwindModule>,
    /// Rows of files, in order of their first row.
    files: Vec<RowsOfFile>,
}

impl Walker {
    /// Adds the rows of new files, and replaces the modules.
    pub(crate) fn update(&mut self, update: &Update) {
        self.files.extend(update.files.iter().cloned());
        self.modules.clone_from(&update.modules);
    }

    /// Steps from a function to its caller. `is_caller`: `from.ip` is a return address. `word_at` reads words of
    /// the stack by address.
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
        match frames::caller(row, from, is_caller, word_at) {
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

#[cfg(test)]
mod tests {
    use super::{Registers, Step, Walker};
    use crate::{
        arch::machine::registers::SAVED_REGISTERS,
        kernel_interface::{CfaKind, UnwindModule, UnwindRow},
        native::unwind::{
            blocks::Blocks,
            tables::{RowsOfFile, UNUSED_MODULE, Update},
        },
    };

    const BASE: u64 = 0x7000;

    fn row(pc: u32, kind: CfaKind, cfa_offset: i32) -> UnwindRow {
        // The first place of a register on any architecture.
        UnwindRow { pc, cfa_offset, cfa: kind.number(), saved: [1; 6], above: 0 }
    }

    fn walker() -> Walker {
        let rows = vec![
            row(0, CfaKind::End, 0),
            row(0x10, CfaKind::Sp, 4096),
            row(0x20, CfaKind::End, 0),
            row(0x40, CfaKind::Unknown, 0),
        ];
        let module = UnwindModule {
            start: BASE,
            end: BASE + 0x100,
            base: BASE,
            first_row: 256,
            row_count: 4,
            ..UNUSED_MODULE
        };
        let file = |first_row, rows: Vec<UnwindRow>| RowsOfFile {
            first_row,
            first_block: 0,
            blocks: Blocks::new(&rows),
            rows,
        };
        let other = file(0, vec![row(0, CfaKind::Unknown, 0)]);
        let mut walker = Walker::default();
        walker.update(&Update { files: vec![other, file(256, rows)], modules: vec![module] });
        walker
    }

    fn step(ip: u64, is_caller: bool, word: Option<u64>) -> Step {
        let from = Registers { ip: BASE + ip, sp: 8192, saved: [2000; SAVED_REGISTERS] };
        walker().step(&from, is_caller, |_| word)
    }

    #[test]
    fn the_call_is_before_its_return_address() {
        assert_eq!(step(0x10, true, Some(7)), Step::End);
        let Step::Caller(caller) = step(0x20, true, Some(7)) else { panic!("no caller") };
        assert_eq!((caller.ip, caller.sp), (7, 8192 + 4096));
        assert_eq!(step(0x10, false, Some(7)), Step::Caller(caller));
        assert_eq!(step(0x10, false, Some(0)), Step::End);
    }

    #[test]
    fn an_unknown_caller_is_cut() {
        assert_eq!(step(0x41, false, Some(7)), Step::Cut);
        assert_eq!(step(0x100, false, Some(7)), Step::Cut);
        assert_eq!(step(0x10, false, None), Step::Cut);
    }
}
