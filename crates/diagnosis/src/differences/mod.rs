//! The largest differences between two checks.
//!
//! * `conditions`: reasons why the two are not comparable in all;
//! * `judgements`: the limit, and findings that came or went;
//! * `single`, `cpu`, `clients`: differences of single figures, of CPU time, of clients;
//! * `noise`: the test of counts, and the thresholds of figures whose noise is unknown;
//! * `compare`: all of them, the largest first; `text`: at most twelve lines.

mod clients;
mod compare;
mod conditions;
mod cpu;
mod judgements;
mod model;
mod noise;
mod single;
#[cfg(test)]
mod tests;
mod text;

pub use compare::compare;
pub use model::{Difference, DifferenceKind, Differences, Noise};
