//! Code that depends on the machine's architecture, with the same names for each:
//!
//! * The JIT's use of registers and its calls of C: [`registers`](machine::registers), [`calls`](machine::calls).
//! * The instructions of its fragments: [`schedule`](machine::schedule), [`bif_calls`](machine::bif_calls).
//! * The rows of the compiler's unwind tables: [`frames`](machine::frames).
//!
//! `bpf/x86_64` and `bpf/aarch64` have the kernel program's part. All functions are pure, with memory as an
//! argument, so that the tests of all architectures run on each.

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
