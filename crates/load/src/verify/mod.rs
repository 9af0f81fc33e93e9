//! `run.verify`: was every message that the broker accepted delivered, once, and in order?
//!
//! Load threads record observations in batches (`report/recorder.rs`); the aggregator passes the
//! batches to one [`Checker`], which alone knows publishers and consumers. It keeps a bit for each
//! of the latest messages of a publisher, so that its memory is bounded however long the run. Older
//! messages are counted, and what cannot be decided is reported as not judged.
//!
//! Nothing here knows sockets or clocks.

mod checker;
mod delivery_order;
mod destinations;
mod findings;
mod queue_index;
#[cfg(test)]
mod sequence_tests;
mod sequence_tracker;
mod shortfall;
mod verdict;
mod window;

pub(crate) use checker::Checker;
pub(crate) use queue_index::QueueIndex;
