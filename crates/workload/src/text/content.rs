//! Sizes and properties of messages.

use super::lines::{Lines, figure, percent, quoted, size, time};
use crate::groups::{PublisherGroup, Sizes};

/// Share of messages from which on a difference is worth a comment.
const SHARE_MIN: f64 = 0.02;
/// Share of messages below which a size is left out.
const RARE: f64 = 0.001;

/// Says which messages differ from most.
pub(super) fn comments(lines: &mut Lines, group: &PublisherGroup) {
    let mut others = Vec::new();
    for (share, thing) in [
        (group.other_priority, "priority"),
        (group.other_expiration, "expiration"),
        (group.other_headers, "headers"),
    ] {
        if share > SHARE_MIN {
            others.push(format!("{} have another {thing}", percent(share)));
        }
    }
    let persistent = group.persistent_share;
    if persistent > SHARE_MIN && persistent < 1.0 - SHARE_MIN {
        others.push(format!("{} are persistent", percent(persistent)));
    }
    if group.settings.is_unanswered {
        lines.comment("Messages name a queue for replies, but nobody answered: they are taken for no requests.");
    }
    if !others.is_empty() {
        lines.comment(&format!("Not expressed: {}.", others.join("; ")));
    }
}

/// Writes that each frame of a message goes by itself, if the clients do so.
pub(super) fn way_of_writing(lines: &mut Lines, group: &PublisherGroup) {
    if group.frame_by_frame > 0.5 {
        lines.text("write", "per-frame");
    }
}

/// Writes one size, or sizes with their shares of the messages.
pub(super) fn sizes(lines: &mut Lines, group: &PublisherGroup) {
    if let Some(bytes) = group.sizes.single() {
        return lines.key("size", &size(bytes));
    }
    let mut weighted = group.sizes.weighted();
    weighted.retain(|(_, share)| *share >= RARE);
    if weighted.len() < 2 {
        let only = weighted.first().map_or(0, |(bytes, _)| *bytes);
        return lines.key("size", &size(only));
    }
    lines.comment(&format!("Sizes: {}. Their order is random here.", describe(&group.sizes)));
    let entry = |(bytes, share)| format!("{{ size = {}, share = {} }}", size(bytes), figure(share));
    lines.list("size-shares", weighted.into_iter().map(entry));
}

/// Returns a distribution of sizes for a comment.
pub(super) fn describe(sizes: &Sizes) -> String {
    let exact: f64 = sizes.atoms.iter().map(|(_, share)| share).sum();
    let mean = figure(sizes.mean);
    match sizes.atoms.len() {
        0 => format!("mean {mean} B"),
        atoms => format!("{atoms} exact ones are {}, mean {mean} B", percent(exact)),
    }
}

/// Writes properties of the same number and size as the observed ones.
pub(super) fn properties(lines: &mut Lines, group: &PublisherGroup) {
    let settings = &group.settings;
    let mut entries = Vec::new();
    if let Some(priority) = settings.priority {
        entries.push(format!("priority = {priority}"));
    }
    let mut text_bytes = group.text_bytes;
    if let Some(millis) = settings.expiration.filter(|millis| *millis > 0) {
        entries.push(format!("expiration = {}", time(millis as f64 * 1e6)));
        text_bytes -= millis.to_string().len() as f64;
    }
    if text_bytes >= 4.0 && !settings.is_request {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most 255")]
        let bytes = text_bytes.min(255.0) as usize;
        entries.push(format!("app-id = {}", quoted(&"0".repeat(bytes))));
    }
    if let Some(headers) = settings.headers.and_then(headers) {
        entries.push(format!("headers = {headers}"));
    }
    if !entries.is_empty() {
        if text_bytes >= 4.0 || settings.headers.is_some() {
            lines.comment(
                "Properties have the number and the size of the observed ones, not their values.",
            );
        }
        lines.key("properties", &format!("{{ {} }}", entries.join(", ")));
    }
}

/// Returns as many headers of the same size; none if they are too small for texts.
fn headers((count, bytes): (u16, u32)) -> Option<String> {
    let keys: Vec<String> = (1..=count).map(|number| format!("h{number}")).collect();
    // Length and text of the key, a letter, and the length of the value.
    let overhead: usize = keys.iter().map(|key| 1 + key.len() + 1 + 4).sum();
    let values = usize::try_from(bytes).ok()?.checked_sub(overhead)?;
    let each = values.checked_div(keys.len())?;
    let rest = values - each * keys.len();
    let entry = |(place, key): (usize, &String)| {
        let bytes = each + if place == 0 { rest } else { 0 };
        format!("{key} = {}", quoted(&"0".repeat(bytes)))
    };
    let entries: Vec<String> = keys.iter().enumerate().map(entry).collect();
    (values < 100_000).then(|| format!("{{ {} }}", entries.join(", ")))
}
