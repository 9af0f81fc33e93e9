//! Unwind rows of every file that a node has mapped, and the addresses for which they are valid.

use std::collections::HashMap;

use object::{Object, ObjectSegment};

use super::{blocks::Blocks, rows::compile};
use crate::{
    kernel_interface::{UnwindModule, UnwindRow},
    node::{MAX_VDSO_BYTES, Mapping, Process, contents},
};

/// Limit for the rows of all files of a node, at 16 bytes each in the kernel: 64 MiB, as many rows as eighty
/// emulators have.
const MAX_ROWS: u32 = 1 << 22;

/// An unused entry of the list of modules, after all others in order of address.
pub(crate) const UNUSED_MODULE: UnwindModule = UnwindModule {
    start: i64::MAX as u64,
    end: 0,
    base: 0,
    first_row: 0,
    row_count: 0,
    first_block: 0,
    last_block: 0,
    block_bits: 0,
    reserved: 0,
};

/// Changes after a read of the mappings.
#[derive(Debug, Default)]
pub(crate) struct Update {
    /// Rows of new files.
    pub(crate) files: Vec<RowsOfFile>,
    /// All modules in order of address.
    pub(crate) modules: Vec<UnwindModule>,
}

/// The rows of a file, in order, with the index of the first row among all files; likewise its blocks.
#[derive(Clone, Debug)]
pub(crate) struct RowsOfFile {
    pub(crate) first_row: u32,
    pub(crate) rows: Vec<UnwindRow>,
    pub(crate) first_block: u32,
    pub(crate) blocks: Blocks,
}

/// The files read so far, and the indices of their rows.
#[derive(Debug)]
pub(crate) struct Tables {
    files: HashMap<String, Option<File>>,
    next_row: u32,
    next_block: u32,
    alignment: Alignment,
}

/// Divisors of the first row and the first block of each file.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Alignment {
    pub(crate) rows: u32,
    pub(crate) blocks: u32,
}

#[derive(Debug)]
struct File {
    /// The file's rows, without addresses.
    rows: UnwindModule,
    segments: Vec<Segment>,
}

/// A loadable part of a file.
#[derive(Clone, Copy, Debug)]
struct Segment {
    address: u64,
    file_offset: u64,
    file_size: u64,
}

impl Tables {
    /// Tables without files.
    pub(crate) fn new(alignment: Alignment) -> Self {
        Self { files: HashMap::new(), next_row: 0, next_block: 0, alignment }
    }

    /// Reads the newly mapped files.
    pub(crate) fn refresh(&mut self, process: &Process, mappings: &[Mapping]) -> Update {
        let mut update = Update::default();
        for mapping in mappings.iter().filter(|mapping| mapping.executable) {
            if !self.files.contains_key(&mapping.path) {
                let file = self.read(process, mapping, &mut update);
                self.files.insert(mapping.path.clone(), file);
            }
            let file = self.files.get(&mapping.path).and_then(Option::as_ref);
            update.modules.extend(file.and_then(|file| file.module(mapping)));
        }
        update.modules.sort_by_key(|module| module.start);
        update
    }

    fn read(&mut self, process: &Process, mapping: &Mapping, update: &mut Update) -> Option<File> {
        let bytes = code_of(process, mapping)?;
        let rows = compile(&bytes)?;
        let segments = segments_of(&bytes)?;
        let blocks = Blocks::new(&rows);
        let (first_row, first_block) = (self.next_row, self.next_block);
        let row_count = u32::try_from(rows.len()).ok()?;
        if row_count > MAX_ROWS.saturating_sub(first_row) {
            return None;
        }
        let place = UnwindModule {
            first_row,
            row_count,
            first_block,
            last_block: blocks.last_block(),
            block_bits: blocks.bits,
            ..UNUSED_MODULE
        };
        let block_count = u32::try_from(blocks.rows.len()).ok()?;
        self.next_row = (first_row + row_count).next_multiple_of(self.alignment.rows);
        self.next_block = (first_block + block_count).next_multiple_of(self.alignment.blocks);
        update.files.push(RowsOfFile { first_row, rows, first_block, blocks });
        Some(File { rows: place, segments })
    }
}

impl File {
    fn module(&self, mapping: &Mapping) -> Option<UnwindModule> {
        let segment = self.segments.iter().find(|segment| {
            let end = segment.file_offset.saturating_add(segment.file_size);
            // A mapping begins at a page; a segment may begin within it.
            mapping.file_offset < end
                && segment.file_offset
                    < mapping.file_offset.saturating_add(mapping.end - mapping.start)
        })?;
        let address =
            mapping.file_offset.wrapping_add(segment.address).wrapping_sub(segment.file_offset);
        Some(UnwindModule {
            start: mapping.start,
            end: mapping.end,
            base: mapping.start.wrapping_sub(address),
            ..self.rows
        })
    }
}

/// The bytes of the file behind a mapping. The vdso is in no file, so that it comes from memory.
fn code_of(process: &Process, mapping: &Mapping) -> Option<Vec<u8>> {
    if mapping.path == "[vdso]" {
        return process.mapped_bytes(mapping, MAX_VDSO_BYTES);
    }
    if !mapping.path.starts_with('/') || mapping.path.starts_with("/memfd:") {
        return None;
    }
    let by_path = |_| process.file(&mapping.path);
    contents(&process.mapped_file(mapping).or_else(by_path).ok()?).ok()
}

fn segments_of(bytes: &[u8]) -> Option<Vec<Segment>> {
    let file = object::File::parse(bytes).ok()?;
    let segments = file.segments().map(|segment| {
        let (file_offset, file_size) = segment.file_range();
        Segment { address: segment.address(), file_offset, file_size }
    });
    Some(segments.collect())
}

#[cfg(test)]
mod tests {
    use super::{File, Segment, UNUSED_MODULE, UnwindModule};
    use crate::node::Mapping;

    fn file() -> File {
        let segment = |address, file_offset, file_size| Segment { address, file_offset, file_size };
        File {
            rows: UnwindModule {
                first_row: 512,
                row_count: 300,
                first_block: 1024,
                last_block: 120,
                block_bits: 8,
                ..UNUSED_MODULE
            },
            segments: vec![
                segment(0, 0, 0x5000),
                segment(0x6000, 0x5000, 0x3000),
                segment(0x1_a123, 0x9123, 0x100),
            ],
        }
    }

    #[track_caller]
    fn check(file_offset: u64, expected_base: u64) {
        let mapping = Mapping {
            start: 0x7f00_0000_0000,
            end: 0x7f00_0000_1000,
            file_offset,
            path: "/lib/x.so".into(),
            executable: true,
            writable: false,
        };
        let module = file().module(&mapping).unwrap();
        assert_eq!(module.base, expected_base);
        assert_eq!((module.first_row, module.row_count), (512, 300));
        assert_eq!((module.first_block, module.last_block, module.block_bits), (1024, 120, 8));
    }

    #[test]
    fn addresses_of_the_file_become_addresses_of_the_process() {
        check(0, 0x7f00_0000_0000);
        check(0x5000, 0x7f00_0000_0000 - 0x6000);
        check(0x9000, 0x7f00_0000_0000 - 0x1_a000);
    }
}
