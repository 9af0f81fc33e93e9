//! Objects that come and go.

use super::lines::{Lines, counted, figure, time};
use crate::{figures::Buckets, groups::Model};

/// Number of objects below which it is no churn.
const OBJECTS_MIN: u64 = 5;

pub(super) fn write(lines: &mut Lines, model: &Model) {
    let churn = &model.churn;
    if churn.short_with_messages < OBJECTS_MIN {
        objects(lines, model, "connections", &churn.connection_lives);
    } else if short(model, &churn.connection_lives).0 >= OBJECTS_MIN {
        lines.blank();
        lines.comment(&format!(
            "Not expressed: {} came and went, most of them with messages.",
            counted(churn.connection_lives.total(), "connection")
        ));
    }
    objects(lines, model, "channels", &churn.channel_lives);
    if churn.queues_deleted >= OBJECTS_MIN && churn.queues_declared >= OBJECTS_MIN {
        lines.blank();
        lines.comment(&format!(
            "{} declared, {} deleted; the time between is assumed.",
            counted(churn.queues_declared, "queue"),
            churn.queues_deleted
        ));
        table(lines, "queues", rate(model, churn.queues_deleted), 1e9);
    }
}

/// Returns the number of objects that lived for less than half of the observed time, and their median life.
fn short(model: &Model, lives: &Buckets) -> (u64, f64) {
    let half = model.seconds * 5e8;
    let mut short = 0;
    let mut sum = 0.0;
    for (first, last, count) in lives.filled().filter(|(_, last, _)| (*last as f64) < half) {
        short += count;
        sum += first.midpoint(last) as f64 * count as f64;
    }
    (short, sum / short.max(1) as f64)
}

fn objects(lines: &mut Lines, model: &Model, kind: &str, times: &Buckets) {
    let (count, mean) = short(model, times);
    if count < OBJECTS_MIN {
        return;
    }
    lines.blank();
    lines.comment(&format!("{count} {kind} came and went while the load was observed."));
    table(lines, kind, rate(model, count), mean);
}

/// Returns objects a second. Fewer clients have fewer of them, and do everything less often.
fn rate(model: &Model, count: u64) -> f64 {
    count as f64 / model.seconds.max(1e-3) * model.scale.rates * model.scale.connections
}

fn table(lines: &mut Lines, kind: &str, rate: f64, nanos: f64) {
    lines.table("churn");
    lines.text("name", kind);
    lines.text("kind", kind);
    lines.key("rate", &figure(rate.max(0.001)));
    lines.key("hold", &time(nanos));
}
