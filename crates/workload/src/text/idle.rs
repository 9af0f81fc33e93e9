//! Connections without messages and readers.

use super::lines::{Lines, counted};
use crate::groups::Model;

pub(super) fn write(lines: &mut Lines, model: &Model) {
    if model.idle == 0 {
        return;
    }
    lines.blank();
    let idle = counted(model.idle, "connection");
    let Some(set) = model.sets.sets.first() else {
        return lines.comment(&format!("Not expressed: {idle} without messages and readers."));
    };
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let count = (model.idle as f64 * model.scale.connections).ceil() as usize;
    lines.comment(&format!("{idle} without messages and readers. The queue stands for none."));
    lines.table("publishers");
    lines.text("name", "idle-connections");
    lines.number("count", count);
    lines.number("connections", count);
    lines.text("queue", &set.name);
    lines.key("rate", "0");
}
