//! Advice: rules over the report, each with its minimum of evidence, threshold, evidence and remedy.
//!
//! ```text
//! judging   all rules over a report
//! table     the rules in their order
//! rules     the type of a rule, which makes findings from cases
//! minimum   the evidence that a rule needs before it judges
//! hit       a connection that a rule examined
//! losses, segments, waits, windows   rules over figures
//! events    rules over errors on connections
//! advice, codes   sentences and remedies, by sender and by code
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
