//! Pure numbers: what a profile says, computed the same way for the terminal, the page and tests.
//!
//! What lives here: stack trees, tables of functions and of lines, differences of two profiles,
//! sentences about quality, rates. What deliberately does not: clocks, files, networks, and any idea of how a figure is drawn.

pub mod capacity;
mod diff;
mod expectations;
mod functions;
mod lasting;
mod lines;
mod owners;
mod quality;
mod rates;
mod steadiness;
mod tree;

pub use diff::{Change, DiffError, Evidence, NOISE_ERRORS, ProfileDiff, Sides, counts_per_weight};
pub use expectations::judge;
pub use functions::{FunctionRow, function_table, hottest, share};
pub use lasting::FailureWatch;
pub use lines::{LineRow, line_table};
pub use owners::{Dimension, OwnerShare, owner_shares};
pub use quality::quality_sentence;
pub use rates::{ClientEffort, LoadRates};
pub use steadiness::{has_settled, steadiness};
pub use tree::{NodeId, Recursion, StackTree, TreeNode};
