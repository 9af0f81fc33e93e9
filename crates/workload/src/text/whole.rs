//! The file as a whole.

use super::{
    churn,
    head::{self, Origin},
    lines::Lines,
    objects, publishers, readers,
};
use crate::groups::Model;

/// Returns the model as a scenario. `duration` is the length of its run, in seconds.
pub fn scenario(model: &Model, origin: &Origin, duration: u64) -> String {
    let mut lines = Lines::default();
    head::write(&mut lines, model, origin);
    lines.blank();
    lines.line("[run]");
    lines.key("duration", &format!("\"{}s\"", duration.max(1)));
    objects::write(&mut lines, model);
    publishers::write(&mut lines, model);
    readers::write(&mut lines, model);
    churn::write(&mut lines, model);
    lines.into_text()
}
