//! `run.verify`: checks that every accepted message was delivered, once and in order.
//!
//! Load threads record observations in batches (`report/recorder.rs` in `measurements`). The aggregator passes the batches to one
//! [`Checker`], which alone knows publishers and consumers. The checker keeps a bit for each of the latest messages of
//! a publisher, so that its memory is bounded however long the run. Older messages are only counted. Cases that it
//! cannot decide are reported as not judged.
//!
//! Nothing here uses sockets, clocks or files.

mod checker;
mod delivery_order;
mod destinations;
mod findings;
mod observation;
mod queue_index;
#[cfg(test)]
mod sequence_tests;
mod sequence_tracker;
mod shortfall;
mod verdict;
mod wants;
mod window;

pub use checker::Checker;
pub use queue_index::QueueIndex;

pub use findings::DeliveryFindings;
pub use observation::{Observation, Reader, TraceStep, TraceStepKind};
