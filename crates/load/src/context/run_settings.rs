//! Settings of a run that every load thread reads while it serves its connections.

use crate::{clock::RunClock, message::Numbering};

/// The same for all threads, and constant during the run.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RunSettings {
    pub(crate) clock: RunClock,
    /// Of the run, in the stamps of its messages.
    pub(crate) tag: u16,
    pub(crate) numbering: Numbering,
    /// The run has consumers, which measure end-to-end latencies.
    pub(crate) is_consumed: bool,
}
