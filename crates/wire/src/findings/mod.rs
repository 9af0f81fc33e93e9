//! Advice: rules over the report, each with its least evidence, its threshold, its evidence and what to do.
//!
//! ```text
//! judging   all rules over a report
//! table     the rules in their order
//! rules     what a rule is, and how findings are made of what it sees
//! minimum   how much a rule has to see before it says anything
//! hit       a connection that a rule looked at
//! losses, segments, waits, windows   rules over figures
//! events    rules over what went wrong on connections
//! advice, codes   what is said and what to do, by who sends and by code
//! ```

mod advice;
mod codes;
mod events;
mod hit;
mod judging;
mod losses;
mod minimum;
mod rules;
mod segments;
mod table;
#[cfg(test)]
mod tests;
mod waits;
mod windows;

pub use judging::{judge, not_found};
