//! How to find the caller of a C function: the compiler's unwind tables (`.eh_frame`), which every
//! distribution keeps in its binaries, compiled to rows of one size that the program in the kernel
//! can search ([`rows`], [`blocks`]), for every file that the node has mapped ([`tables`]). Where the walk is not the kernel's it is in [`walk`].

mod blocks;
mod rows;
mod tables;
mod walk;

pub(crate) use rows::UnwindRow;
pub(crate) use tables::{Alignment, Module, Tables, Update};
pub(crate) use walk::{REG_R13, Registers, Step, Walker};

/// See [`crate::fuzzing`].
#[cfg(fuzzing)]
pub(crate) fn fuzz(bytes: &[u8], is_elf: bool) {
    let rows = if is_elf {
        rows::compile(bytes).unwrap_or_default()
    } else {
        rows::compile_section(bytes)
    };
    blocks::Blocks::of(&rows);
}
