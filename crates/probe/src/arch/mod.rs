//! What depends on the machine's architecture, with the same names for each: how JIT code uses registers and calls C
//! ([`registers`](machine::registers), [`calls`](machine::calls)), the instructions of its fragments
//! ([`schedule`](machine::schedule), [`bif_calls`](machine::bif_calls)), and what the compiler's unwind tables say
//! ([`frames`](machine::frames)). `bpf/x86_64` and `bpf/aarch64` have the kernel program's part of it.
//!
//! Everything here is pure: memory is handed in. So the tests of all architectures run on each.

#[cfg(any(test, target_arch = "aarch64"))]
#[cfg_attr(not(target_arch = "aarch64"), allow(dead_code, reason = "tests use parts of it"))]
pub(crate) mod aarch64;
mod readings;
#[cfg(any(test, not(target_arch = "aarch64")))]
#[cfg_attr(target_arch = "aarch64", allow(dead_code, reason = "tests use parts of it"))]
pub(crate) mod x86_64;

#[cfg(target_arch = "aarch64")]
pub(crate) use aarch64 as machine;
pub(crate) use readings::{InnermostCall, Resumption, UnwindFrames};
#[cfg(not(target_arch = "aarch64"))]
pub(crate) use x86_64 as machine;
