//! The head of the file: sources, assumptions, everything that cannot be expressed.

use super::lines::{Lines, counted, figure};
use crate::groups::{Model, Scale, is_changed};

/// The origin of a model, in words.
#[derive(Clone, Debug, Default)]
pub struct Origin {
    /// Name of the scenario: letters, digits, `-`, `_`, `.`.
    pub name: String,
    /// Each source, with its state.
    pub sources: Vec<String>,
    /// Things that the sources do not show.
    pub notes: Vec<String>,
}

pub(super) fn write(lines: &mut Lines, model: &Model, origin: &Origin) {
    let seconds = figure(model.seconds);
    lines.comment(&format!(
        "A load as it was observed for {seconds} s: {} of {}. Written by `rabbitscope workload`.",
        counted(model.groups() as u64, "group"),
        counted(model.connections, "connection"),
    ));
    list(lines, "Sources", &origin.sources);
    list(lines, "Broker", &broker(model));
    list(lines, "Scaled", &scaled(model.scale));
    list(lines, "Assumed", &model.assumptions);
    let mut missing = origin.notes.clone();
    if model.encrypted > 0 {
        missing.push(format!("left out: {} with TLS", counted(model.encrypted, "connection")));
    }
    missing.extend(model.missing.iter().cloned());
    list(lines, "Not expressed", &missing);
    lines.line(&format!("name = {}", super::lines::quoted(&origin.name)));
    let description = format!("The load of a running node, observed for {seconds} s.");
    lines.text("description", &description);
    lines.text("seed", "random");
}

/// Describes the observed node.
fn broker(model: &Model) -> Vec<String> {
    let Some(node) = &model.node else { return Vec::new() };
    let settings: Vec<String> =
        node.unusual().iter().map(|(key, value)| format!("{key} = {value}")).collect();
    let settings = match &settings[..] {
        [] => None,
        settings => {
            Some(format!("settings with unusual values, as below: {}", settings.join(", ")))
        }
    };
    [node.title()].into_iter().chain(settings).collect()
}

/// Describes another size of the load.
fn scaled(scale: Scale) -> Vec<String> {
    let mut scaled = Vec::new();
    if is_changed(scale.rates) {
        scaled.push(format!(
            "rates × {}: other intervals of timers, fewer or more independent messages, other sizes of bursts at \
             their period, other times between questions; processing times stay",
            figure(scale.rates)
        ));
        if scale.rates > 1.0 {
            scaled.push("closed loops have no rate, and are not made faster".to_owned());
        }
    }
    if is_changed(scale.connections) {
        scaled.push(format!(
            "connections × {}: fewer clients with unchanged behaviour; rates make up for parts of clients, and each \
             queue that was read keeps a reader",
            figure(scale.connections)
        ));
    }
    scaled
}

fn list(lines: &mut Lines, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    lines.line("#");
    lines.comment(&format!("{title}:"));
    for item in items.iter().take(ITEMS_MAX) {
        lines.comment(&format!("- {item}"));
    }
    if items.len() > ITEMS_MAX {
        lines.comment(&format!("- and {} more of this kind", items.len() - ITEMS_MAX));
    }
}

/// Maximum of items of a list.
const ITEMS_MAX: usize = 12;
