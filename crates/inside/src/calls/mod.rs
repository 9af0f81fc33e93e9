//! The agent's recordings of function calls, as tables, profiles and notes.

mod functions;
mod notes;
mod tree_profile;

pub use functions::{FunctionLine, counted_table, function_table};
pub use notes::{call_notes, counter_notes, tree_notes};
pub use tree_profile::{profile_of_samples, profile_of_tree, slowest_of_tree};
