//! The runs and experiments below a directory as far as a list needs them, and trends of their figures.
//!
//! The bytes of the records come from the callers.

mod change_points;
mod entry;
mod facts;
mod figure;
mod listing;
mod student;
mod trend;

pub use change_points::{ChangePoint, MIN_RUNS, change_points};
pub use entry::{Contents, Entry};
pub use facts::{ExperimentFacts, RunFacts};
pub use figure::{Figure, Part};
pub use listing::{Filter, Listing, Outcome};
pub use trend::{Change, Point, Trend, trends};
