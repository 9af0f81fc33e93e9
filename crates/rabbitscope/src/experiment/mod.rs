//! `experiment` and `sweep`: arms against each other, in rounds whose order is drawn.
//!
//! ```text
//! plan ─► directory, journal ─► a run for each arm in each round ─► measured ─► analysis ─► results
//! ```
//!
//! Every run is an ordinary run with a broker and a run directory of its own. What does not live here: what rounds
//! say together (`analysis::experiment`), and how a run goes (`run`).

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
