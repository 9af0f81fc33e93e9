//! Pure computations on profiles and runs, with the same results for the terminal, the page and tests.
//!
//! This crate has stack trees, tables of functions and lines, comparisons of two profiles, rates, and sentences about
//! quality. Clocks, files, networks and drawing are elsewhere.

mod amount;
pub mod capacity;
mod cost;
mod diff;
mod expectations;
pub mod experiment;
mod faults;
mod functions;
pub mod history;
mod holders;
mod lasting;
mod lines;
mod owners;
mod quality;
mod rates;
mod service;
mod steadiness;
mod tree;
mod waiting;

pub use amount::{caution, occurrences};
pub use cost::{MessageCounts, MessagesDuring, worth};
pub use diff::{
    Change, ComparedNoise, DiffError, Evidence, FAMILY_ERROR_RATE, FAMILY_ERROR_RATE_OF_RUNS,
    ProfileDiff, RunPairing, RunProfiles, Sides, counts_per_weight,
};
pub use expectations::{end_in_words, judge, recorded_latency};
pub use faults::with_outages;
pub use functions::{FunctionRow, function_table, hottest, owners_of_samples, share};
pub use holders::{Activity, Holder, holders};
pub use lasting::FailureWatch;
pub use lines::{LineRow, line_table};
pub use owners::{Dimension, OwnerShare, owner_shares};
pub use quality::quality_sentence;
pub use rates::{ClientEffort, LoadRates};
pub use service::{ServiceRules, service_failure, service_sentences};
pub use steadiness::{has_settled, steadiness};
pub use tree::{NodeId, Recursion, StackTree, TreeNode};
pub use waiting::{WaitState, WaitTimes, quality_of_samples, shown_part};
