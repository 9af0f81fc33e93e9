//! Search for the words that belong to PerfTest, for all ways of starting it.
//!
//! `shell` separates words, `call` finds the command, and `found` has the results. `wrappers` handles programs before
//! PerfTest (`sudo`, `timeout`), `containers` docker and kubectl, and `builds` Java, Maven and make. `names` has
//! PerfTest's own names.

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
pub(super) use found::Call;
pub(super) use names::multi;
