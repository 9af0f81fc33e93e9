//! Keys that only publishers and readers of streams have.

use rabbitscope_wire::activity::Start;

use super::lines::Lines;
use crate::{
    groups::{PublisherGroup, ReaderGroup},
    observe::Protocol,
};

/// Writes references, and entries of several messages.
pub(super) fn publishing(lines: &mut Lines, group: &PublisherGroup) {
    if group.settings.protocol != Protocol::Stream {
        return;
    }
    let stream = group.settings.stream;
    if stream.has_reference && stream.codec.is_none() {
        lines.key("reference", "true");
    }
    let Some(codec) = stream.codec else { return };
    if stream.has_reference {
        lines.comment(
            "Not expressed: the stream remembers the numbers of entries of several messages.",
        );
    }
    lines.key("sub-entry-size", &group.most_of_entry.max(1).to_string());
    let compression = match codec {
        1 => "gzip",
        3 => "lz4",
        4 => "zstd",
        _ => return,
    };
    lines.comment("Documents stand for the bodies; how far they shrink depends on the contents.");
    lines.text("body", "json");
    lines.text("compression", compression);
}

/// Returns whether the messages of a group are compressed, so that they can have one size only.
pub(super) fn is_compressed(group: &PublisherGroup) -> bool {
    matches!(group.settings.stream.codec, Some(1 | 3 | 4))
}

/// Writes the begin of a reader of a stream.
pub(super) fn offset(lines: &mut Lines, group: &ReaderGroup) {
    match group.settings.stream.start {
        Some(Start::First) => lines.text("offset", "first"),
        Some(Start::Last) => lines.text("offset", "last"),
        Some(Start::Other) => {
            lines.comment("Not expressed: the number or time at which they began.");
            lines.text("offset", "first");
        }
        Some(Start::Next) | None => {}
    }
}

/// Writes credit and stored offsets of a reader.
pub(super) fn reading(lines: &mut Lines, group: &ReaderGroup) {
    let stream = &group.settings.stream;
    match stream.credit {
        Some(credit) => lines.key("credit", &credit.max(1).to_string()),
        None if group.most_unsettled > 0 => {
            lines.comment("Assumed: the capture does not show the credit, only the most chunks that were held.");
            lines.key("credit", &group.most_unsettled.clamp(1, 65_535).to_string());
        }
        None => {}
    }
    if stream.name.is_empty() {
        return;
    }
    lines.text("consumer-name", &stream.name);
    if let Some(every) = group.deliveries.checked_div(group.stored_offsets) {
        lines.key("store-every", &every.max(1).to_string());
    }
    if stream.is_single_active {
        lines.key("single-active-consumer", "true");
    }
}
