//! `find-rate`: the highest rate that a broker takes within limits. One broker, a run for each rate,
//! with fresh queues, so that what an overloaded step left behind is not in the way of the next.
//!
//! What does not live here: which rate comes next and whether one passed (`analysis::capacity`).

mod limits;
mod steps;
mod text;

pub use limits::limit_as_override;
pub(crate) use steps::read;
pub use steps::{SearchSettings, find};
pub use text::text;
