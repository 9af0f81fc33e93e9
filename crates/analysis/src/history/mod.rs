//! Trends of a metric over many runs.

mod change_points;
mod student;

pub use change_points::{ChangePoint, MIN_RUNS, change_points};
