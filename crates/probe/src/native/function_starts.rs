//! Starts of functions, from the unwind tables that a stripped binary still has. They give all samples of a
//! function without a symbol the same frame.
//!
//! `.eh_frame_hdr` holds a sorted table of (function start, unwind entry). Its format is in the Linux Standard
//! Base, section "Exception Frame Header".

use std::{fs::File, io::Seek};

use object::{Object, ObjectSection, ObjectSegment};

use super::limits::MAX_CODE_BYTES;

/// `DW_EH_PE_datarel | DW_EH_PE_sdata4`, the only table encoding that linkers write.
const TABLE_ENCODING: u8 = 0x3b;
/// `DW_EH_PE_udata4`
const COUNT_ENCODING: u8 = 0x03;
const HEADER_BYTES: usize = 12;
const ENTRY_BYTES: usize = 8;

/// The first instruction of a function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FunctionStart {
    /// Offset in the file.
    pub(super) offset: u64,
    /// Address in the sense of the file's symbols.
    pub(super) address: u64,
}

/// Sorted starts of the functions of one file.
#[derive(Debug, Default)]
pub(super) struct FunctionStarts(Vec<FunctionStart>);

impl FunctionStarts {
    /// Reads the table of `file`; empty if the file has none.
    pub(super) fn read(file: &File) -> Self {
        let bytes = read_from_start(file);
        bytes.and_then(|bytes| Self::parse(&bytes)).unwrap_or_default()
    }

    fn parse(bytes: &[u8]) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let section = file.section_by_name(".eh_frame_hdr")?;
        let addresses = table(section.data().ok()?, section.address())?;
        let segments: Vec<(u64, u64, u64)> = file
            .segments()
            .map(|segment| (segment.address(), segment.size(), segment.file_range().0))
            .collect();
        let to_start = |address: u64| {
            let &(start, _, offset) = segments
                .iter()
                .find(|&&(start, size, _)| (start..start.wrapping_add(size)).contains(&address))?;
            Some(FunctionStart { offset: address - start + offset, address })
        };
        let mut starts: Vec<FunctionStart> = addresses.into_iter().filter_map(to_start).collect();
        starts.sort_unstable();
        Some(Self(starts))
    }

    /// The start of the function at `offset`.
    pub(super) fn at(&self, offset: u64) -> Option<FunctionStart> {
        let after = self.0.partition_point(|start| start.offset <= offset);
        self.0.get(after.checked_sub(1)?).copied()
    }
}

/// Reads the file from its beginning, from any position.
fn read_from_start(mut file: &File) -> Option<Vec<u8>> {
    file.rewind().ok()?;
    rabbitscope_files::read_all(file.try_clone().ok()?, MAX_CODE_BYTES).ok()
}

/// Function addresses of a header at `base`. Entries are relative to the header itself.
fn table(header: &[u8], base: u64) -> Option<Vec<u64>> {
    let &[1, _, COUNT_ENCODING, TABLE_ENCODING, ..] = header else { return None };
    let count = u32::from_le_bytes(header.get(8..HEADER_BYTES)?.try_into().ok()?) as usize;
    let entries = header.get(HEADER_BYTES..)?.get(..count.checked_mul(ENTRY_BYTES)?)?;
    Some(
        entries
            .chunks_exact(ENTRY_BYTES)
            .map(|entry| {
                let relative = i32::from_le_bytes([entry[0], entry[1], entry[2], entry[3]]);
                base.wrapping_add_signed(i64::from(relative))
            })
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::{FunctionStart, FunctionStarts, table};

    fn header(count: u32, starts: &[i32]) -> Vec<u8> {
        let mut bytes = vec![1, 0x1b, 0x03, 0x3b, 0, 0, 0, 0];
        bytes.extend(count.to_le_bytes());
        for start in starts {
            bytes.extend(start.to_le_bytes());
            bytes.extend([0; 4]);
        }
        bytes
    }

    #[test]
    fn starts_are_relative_to_the_header() {
        assert_eq!(table(&header(2, &[-0x100, 0x20]), 0x1000), Some(vec![0xf00, 0x1020]));
    }

    #[test]
    fn a_count_beyond_the_table_is_refused() {
        assert_eq!(table(&header(3, &[1, 2]), 0), None);
        assert_eq!(table(&header(u32::MAX, &[1, 2]), 0), None);
        assert_eq!(table(&[1, 0x1b], 0), None);
    }

    #[test]
    fn the_function_that_holds_an_offset() {
        let start = |offset| FunctionStart { offset, address: 100 + offset };
        let starts = FunctionStarts([10, 20, 30].map(start).to_vec());
        assert_eq!(starts.at(9), None);
        assert_eq!(starts.at(10), Some(start(10)));
        assert_eq!(starts.at(29), Some(start(20)));
        assert_eq!(starts.at(99), Some(start(30)));
    }

    #[test]
    fn our_own_binary_has_a_table() {
        let own = std::fs::File::open(std::env::current_exe().unwrap()).unwrap();
        assert!(FunctionStarts::read(&own).0.len() > 100);
        assert!(FunctionStarts::read(&own).0.len() > 100, "wherever the file stands");
    }
}
