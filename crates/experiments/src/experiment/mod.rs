//! `experiment` and `sweep`: comparisons of arms, in rounds with a random order.
//!
//! ```text
//! plan ─► directory, journal ─► a run for each arm in each round ─► measured ─► analysis ─► results
//! ```
//!
//! Every run is an ordinary run with its own broker and run directory. `analysis::experiment` evaluates the rounds
//! together, and `run` executes a run.

mod directory;
mod explanations;
mod journal;
mod live;
mod measured;
mod plan;
mod results;
mod rounds;
mod single;
mod steps;
mod text;

pub use plan::{Plan, PlannedArm};
pub use steps::{Concluded, conduct};
pub use text::text;
