//! The runs and experiments below a directory as far as a list needs them, trends of their figures, and
//! two runs side by side.
//!
//! The bytes of the records come from the callers.

mod change_points;
mod entry;
mod facts;
mod figure;
mod listing;
mod pair;
mod student;
mod trend;

pub use change_points::{ChangePoint, MIN_RUNS, change_points};
pub use entry::{Contents, Entry};
pub use facts::{ExperimentFacts, RunFacts};
pub use figure::{Figure, Part};
pub use listing::{Filter, Listing, Outcome};
pub use pair::{ComparedMetric, DifferingKey, ONE_PAIR_CAUTION, RunPair};
pub use trend::{Change, Point, Trend, trends};
