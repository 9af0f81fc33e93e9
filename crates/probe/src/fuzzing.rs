//! Entry points for the fuzz targets, which cannot call private functions. Compiled for fuzzing only.

use crate::{beam, native};

/// An entry of the VM's table of JIT code.
pub fn symbol_blob(bytes: &[u8]) {
    drop(beam::parse_blob(bytes));
}

/// Places and values to alter in the memory of a small VM.
pub fn memory_image(bytes: &[u8]) {
    beam::altered_memory(bytes);
}

/// The unwind tables of an ELF file.
pub fn elf_unwind_tables(bytes: &[u8]) {
    native::fuzz_unwind(bytes, true);
}

/// The bytes of an `.eh_frame` section alone.
pub fn eh_frame(bytes: &[u8]) {
    native::fuzz_unwind(bytes, false);
}
