//! The file as a whole.

use super::{
    churn,
    head::{self, Origin},
    idle,
    lines::Lines,
    objects, publishers, readers,
};
use crate::groups::Model;

/// Length of the run of a scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RunLength {
    /// Length of the load.
    pub seconds: u64,
    /// The part at its beginning without figures; 0 for none.
    pub warm_up_seconds: u64,
}

impl RunLength {
    /// Creates the length of a run without a warm-up.
    pub const fn from_seconds(seconds: u64) -> Self {
        Self { seconds, warm_up_seconds: 0 }
    }
}

/// Returns the model as a scenario.
pub fn scenario(model: &Model, origin: &Origin, length: RunLength) -> String {
    let mut lines = Lines::default();
    head::write(&mut lines, model, origin);
    lines.blank();
    lines.line("[run]");
    lines.key("duration", &format!("\"{}s\"", length.seconds.max(1)));
    if length.warm_up_seconds > 0 {
        lines.key("warm-up", &format!("\"{}s\"", length.warm_up_seconds));
    }
    objects::write(&mut lines, model);
    publishers::write(&mut lines, model);
    readers::write(&mut lines, model);
    idle::write(&mut lines, model);
    churn::write(&mut lines, model);
    lines.into_text()
}
