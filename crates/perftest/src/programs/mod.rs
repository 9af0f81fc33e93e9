//! The words of a command line that belong to PerfTest, however it is started.
//!
//! `shell` separates words, `call` finds the command, `found` is what it finds, `wrappers` what stands before a program (`sudo`, `timeout`),
//! `containers` docker and kubectl, `builds` Java, Maven and make, `names` PerfTest's own names.

mod builds;
mod call;
mod containers;
mod flags;
mod found;
mod names;
mod shell;
#[cfg(test)]
mod tests;
mod wrappers;

pub(super) use call::call;
pub(super) use names::multi;
