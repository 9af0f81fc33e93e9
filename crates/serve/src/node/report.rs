//! Reports of the threads that observe a node.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use rabbitscope_diagnosis::MessageRates;
use rabbitscope_profiles::Profile;
use rabbitscope_runs::record::NodeFigures;
use rabbitscope_web::NodeLook;

/// A report of one thread.
pub(super) enum Report {
    /// A window of the profile.
    Window(Box<Profile>),
    /// Figures from inside the node.
    Answer(Box<Answer>),
    /// The result of a look.
    Look(Box<Look>),
    /// The state of a source: the obstacle, or none once it is passed.
    Obstacle(Origin, Option<String>),
}

/// Sources with obstacles of their own. Those of a look are in its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Origin {
    /// The process of the node.
    Process,
    /// Questions to the node.
    Node,
    /// The recording.
    Recording,
}

/// Figures from inside the node.
pub(super) struct Answer {
    /// Time of the answer.
    pub(super) at: Instant,
    pub(super) figures: NodeFigures,
    pub(super) rates: MessageRates,
    pub(super) memory_limit_bytes: Option<u64>,
}

/// The result of a look with its time.
pub(super) struct Look {
    pub(super) result: NodeLook,
    pub(super) from: Duration,
    pub(super) to: Duration,
}

/// Returns the time since 1970.
pub(super) fn now() -> Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}
