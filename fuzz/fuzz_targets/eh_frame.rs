//! Unwind tables, as a section by itself and as a whole ELF file: compiled to rows in order, or not.
#![no_main]

use libfuzzer_sys::fuzz_target;
use rabbitscope_probe::fuzzing::{eh_frame, elf_unwind_tables};

fuzz_target!(|data: &[u8]| match data.split_first() {
    Some((0..=199, section)) => eh_frame(section),
    Some((_, file)) => elf_unwind_tables(file),
    None => {}
});
