//! How connections to the broker are made, and made again.

use std::time::Duration;

/// The part of `[broker]` that holds for every broker, whoever started it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Connecting {
    /// What happens to a connection that is lost; absent: it ends the run.
    pub recovery: Option<Recovery>,
}

/// How a lost connection is made again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovery {
    /// From the loss to the first attempt.
    pub delay: Duration,
    /// The delay doubles with each attempt up to this.
    pub max_delay: Duration,
    /// A connection that cannot be made again for so long ends the run.
    pub timeout: Duration,
}

impl Default for Recovery {
    fn default() -> Self {
        Self {
            delay: Duration::from_secs(1),
            max_delay: Duration::from_secs(10),
            timeout: Duration::from_secs(300),
        }
    }
}
