//! An index for the search of a row: it divides the code into blocks of one size, and has for each block the row
//! that is valid at its beginning. A binary search through tens of thousands of rows mostly waits for memory. A
//! search within a block reads a few adjacent rows.

use crate::kernel_interface::UnwindRow;

/// Minimum size of a block, 256 bytes, as an exponent of two. Such a block has a few rows. Blocks are larger if
/// there would be more blocks than rows.
const MIN_BITS: u32 = 8;

/// The blocks of one file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Blocks {
    /// Bytes of a block, as an exponent of two. The first block begins at the file's lowest address.
    pub(super) bits: u32,
    /// For each block the index of the row that is valid at its beginning, or 0 before the first row. The last
    /// entry is the index of the last row.
    pub(crate) rows: Vec<u32>,
}

impl Blocks {
    /// The blocks of rows in order of address.
    pub(super) fn new(rows: &[UnwindRow]) -> Self {
        let last = rows.last().map_or(0, |row| row.pc);
        let is_small = |&bits: &u32| (last >> bits) as usize <= rows.len();
        let bits = (MIN_BITS..u32::BITS).find(is_small).unwrap_or(u32::BITS - 1);
        let begins = (0..=last >> bits).map(|block| {
            let after = rows.partition_point(|row| row.pc <= block << bits);
            after.saturating_sub(1)
        });
        let ends = rows.len().saturating_sub(1);
        let index = |row| u32::try_from(row).expect("fewer than 2^32 rows");
        Self { bits, rows: begins.chain([ends]).map(index).collect() }
    }

    pub(super) fn last_block(&self) -> u32 {
        u32::try_from(self.rows.len().saturating_sub(2)).expect("fewer than 2^32 blocks")
    }
}

#[cfg(test)]
mod tests {
    use super::{Blocks, UnwindRow};

    fn rows(addresses: &[u32]) -> Vec<UnwindRow> {
        addresses.iter().map(|&pc| UnwindRow { pc, ..UnwindRow::default() }).collect()
    }

    /// Finds the row for an address in the way of `bpf/native.h`.
    fn find(blocks: &Blocks, rows: &[UnwindRow], pc: u32) -> Option<usize> {
        let block = (pc >> blocks.bits).min(blocks.last_block()) as usize;
        let (first, last) = (blocks.rows[block] as usize, blocks.rows[block + 1] as usize);
        let after = rows[first..=last].partition_point(|row| row.pc <= pc);
        (first + after).checked_sub(1)
    }

    #[track_caller]
    fn check(addresses: &[u32], bits: u32) {
        let rows = rows(addresses);
        let blocks = Blocks::new(&rows);
        assert_eq!(blocks.bits, bits);
        assert!(blocks.rows.len() <= rows.len() + 2, "{}", blocks.rows.len());
        let around = |pc: u32| [pc.saturating_sub(1), pc, pc.saturating_add(1), pc ^ 0xff];
        for pc in addresses.iter().copied().flat_map(around).chain([0, u32::MAX]) {
            let expected = rows.partition_point(|row| row.pc <= pc).checked_sub(1);
            assert_eq!(find(&blocks, &rows, pc), expected, "{pc:#x}");
        }
    }

    #[test]
    fn every_address_has_its_row_in_its_block() {
        check(&(0x80..0x1000).step_by(3).collect::<Vec<_>>(), 8);
        check(&[0x100, 0x1ff, 0x200, 0x201, 0x2ff, 0x5fe], 8);
    }

    #[test]
    fn few_rows_far_apart_have_few_blocks() {
        check(&[0x100, 0x200, 0x4000_0000, u32::MAX], 30);
        check(&[7], 8);
    }
}
