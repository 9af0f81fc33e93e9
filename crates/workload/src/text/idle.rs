//! Connections without messages and readers.

use super::{
    lines::{Lines, counted},
    publishers::clients,
};
use crate::groups::Model;

pub(super) fn write(lines: &mut Lines, model: &Model) {
    by_amqp(lines, model);
    by_mqtt(lines, model);
}

fn by_mqtt(lines: &mut Lines, model: &Model) {
    if model.idle_by_mqtt == 0 {
        return;
    }
    lines.blank();
    let idle = counted(model.idle_by_mqtt, "connection");
    lines.comment(&format!(
        "{idle} of MQTT without messages and readers. The topic stands for none."
    ));
    lines.table("publishers");
    lines.text("name", "idle-clients");
    lines.text("protocol", "mqtt");
    clients(lines, kept(model, model.idle_by_mqtt));
    lines.text("topic", "none");
    lines.key("rate", "0");
}

/// Returns the connections that remain of a scaled load.
fn kept(model: &Model, idle: u64) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a count")]
    let count = (idle as f64 * model.scale.connections).ceil() as usize;
    count
}

fn by_amqp(lines: &mut Lines, model: &Model) {
    if model.idle == 0 {
        return;
    }
    lines.blank();
    let idle = counted(model.idle, "connection");
    let Some(set) = model.sets.sets.first() else {
        return lines.comment(&format!("Not expressed: {idle} without messages and readers."));
    };
    let count = kept(model, model.idle);
    lines.comment(&format!("{idle} without messages and readers. The queue stands for none."));
    lines.table("publishers");
    lines.text("name", "idle-connections");
    lines.number("count", count);
    lines.number("connections", count);
    lines.text("queue", &set.name);
    lines.key("rate", "0");
}
