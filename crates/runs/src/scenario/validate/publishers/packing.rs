//! Packing of messages.

use super::super::super::{
    error::{Problem, refuse},
    model::{Body, Compression, ITEMS_HEADER, MAX_ITEMS, Packing},
    wire,
};

/// Largest message before compression: the maximum that any release of RabbitMQ accepts.
const MAX_MESSAGE_BYTES: u64 = 512 << 20;

/// Checks the packing. `largest` is the largest size in bytes.
pub(super) fn packing(
    wire: &wire::Publishers,
    body: &Body,
    largest: u32,
) -> Result<Packing, Problem> {
    let items = wire.items_per_message.unwrap_or(1);
    if !(1..=MAX_ITEMS).contains(&items) {
        return refuse("items-per-message", format!("must be from 1 to {MAX_ITEMS}"));
    }
    if u64::from(items) * u64::from(largest) > MAX_MESSAGE_BYTES {
        let reason = "makes messages of more than 512 MiB, which RabbitMQ does not take";
        return refuse("items-per-message", reason);
    }
    if items > 1 && wire.properties.headers.contains_key(ITEMS_HEADER) {
        let refused: Result<(), Problem> = refuse(ITEMS_HEADER, "is rabbitscope's own header");
        refused.map_err(|problem| problem.under("headers").under("properties"))?;
    }
    Ok(Packing { items, compression: compression(wire, body)? })
}

fn compression(wire: &wire::Publishers, body: &Body) -> Result<Option<Compression>, Problem> {
    let Some(algorithm) = wire.compression else {
        return match wire.compression_level {
            Some(_) => refuse("compression-level", "needs `compression`"),
            None => Ok(None),
        };
    };
    if *body == Body::Filler {
        let reason = "would compress zeros, which become nothing: give `body = \"json\"` or \
                      `body-files`";
        return refuse("compression", reason);
    }
    if wire.properties.content_encoding.is_some() {
        let reason = "sets the property `content-encoding`: leave one of the two out";
        return refuse("compression", reason);
    }
    let (first, last, usual) = algorithm.levels();
    let level = wire.compression_level.unwrap_or(usual);
    if !(first..=last).contains(&level) {
        let name = algorithm.name();
        let reason = format!("must be from {first} to {last} for {name}; {usual} is usual");
        return refuse("compression-level", reason);
    }
    Ok(Some(Compression { algorithm, level }))
}
