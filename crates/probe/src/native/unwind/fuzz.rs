//! Compiles arbitrary bytes, for the fuzz targets (see [`crate::fuzzing`]).

use super::{blocks::Blocks, rows};

/// Compiles an ELF file, or an `.eh_frame` section at address 0.
pub(crate) fn fuzz(bytes: &[u8], is_elf: bool) {
    let rows = if is_elf {
        rows::compile(bytes).unwrap_or_default()
    } else {
        rows::compile_section(bytes)
    };
    Blocks::new(&rows);
}
