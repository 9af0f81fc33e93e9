//! `find-rate`: the highest rate that a broker takes within limits. Each rate is a run on the same broker with fresh
//! queues, so that the remains of an overloaded step do not disturb the next.
//!
//! `analysis::capacity` chooses the next rate and judges each step.

mod limits;
mod steps;
mod text;

pub use limits::limit_as_override;
pub(crate) use steps::read;
pub use steps::{SearchSettings, find};
pub use text::text;
