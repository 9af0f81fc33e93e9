//! Packing of messages.

use super::super::super::{
    error::{Problem, refuse, refuse_at},
    model::{Body, ITEMS_HEADER, MAX_ITEMS, PublisherGroup},
};

/// Largest message before compression: the maximum that any release of RabbitMQ accepts.
const MAX_MESSAGE_BYTES: u64 = 512 << 20;

/// Checks the packing, after sizes and body.
pub(super) fn packing(group: &mut PublisherGroup) -> Result<(), Problem> {
    let items = group.items_per_message.unwrap_or(1);
    if !(1..=MAX_ITEMS).contains(&items) {
        return refuse("items-per-message", format!("must be from 1 to {MAX_ITEMS}"));
    }
    let largest = group.body_sizes().max().unwrap_or(0);
    if u64::from(items) * u64::from(largest) > MAX_MESSAGE_BYTES {
        let reason = "makes messages of more than 512 MiB, which RabbitMQ does not take";
        return refuse("items-per-message", reason);
    }
    if items > 1 && group.properties.headers.contains_key(ITEMS_HEADER) {
        let path = ["properties", "headers", ITEMS_HEADER];
        return refuse_at(&path, "is rabbitscope's own header");
    }
    if group.size_shares.is_some() && group.is_packed() {
        let reason =
            "are shares of messages, not of items: leave `items-per-message` and `compression` out";
        return refuse("size-shares", reason);
    }
    group.items_per_message = Some(items).filter(|items| *items > 1);
    compression(group)
}

fn compression(group: &mut PublisherGroup) -> Result<(), Problem> {
    let Some(algorithm) = group.compression else {
        return match group.compression_level {
            Some(_) => refuse("compression-level", "needs `compression`"),
            None => Ok(()),
        };
    };
    if group.body() == Body::Filler {
        let reason = "would compress zeros, which become nothing: give `body = \"json\"` or \
                      `body-files`";
        return refuse("compression", reason);
    }
    if group.properties.content_encoding.is_some() {
        let reason = "sets the property `content-encoding`: leave one of the two out";
        return refuse("compression", reason);
    }
    let (first, last, usual) = algorithm.levels();
    let level = *group.compression_level.get_or_insert(usual);
    if !(first..=last).contains(&level) {
        let name = algorithm.name();
        let reason = format!("must be from {first} to {last} for {name}; {usual} is usual");
        return refuse("compression-level", reason);
    }
    Ok(())
}
