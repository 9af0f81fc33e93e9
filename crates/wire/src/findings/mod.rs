//! Advice: rules over the report, each with its threshold, its evidence and what to do.
//!
//! `rules` is the table; a rule finds connections that show it (`hit`), and all that show it become one finding.

mod hit;
mod losses;
mod rules;
mod segments;
#[cfg(test)]
mod tests;
mod waits;
mod windows;

pub use rules::{judge, not_found};
