//! Properties of AMQP 0-9-1 from those of a scenario.

use rabbitscope_amqp::{Properties, Table, Value};
use rabbitscope_runs::scenario::{ITEMS_HEADER, MessageProperties, PublisherGroup};
use rabbitscope_topology::field_table;

/// Returns the properties of a group's messages with their shares.
pub(super) fn all_properties(group: &PublisherGroup) -> Vec<(f64, Properties)> {
    let all = group.all_properties().into_iter();
    all.map(|(share, of_share)| (share, properties(group, of_share))).collect()
}

fn properties(group: &PublisherGroup, of_message: MessageProperties) -> Properties {
    let MessageProperties {
        content_type,
        content_encoding,
        delivery_mode,
        priority,
        correlation_id,
        reply_to,
        expiration,
        message_id,
        timestamp,
        kind,
        user_id,
        app_id,
        cluster_id,
        headers,
        // Of AMQP 1.0.
        subject: _,
        group_id: _,
    } = of_message;
    let mut table: Table = field_table(&headers);
    let packing = group.packing();
    if packing.items > 1 {
        table.0.push((ITEMS_HEADER.to_owned(), Value::Integer(packing.items.into())));
    }
    Properties {
        content_type,
        content_encoding: match packing.compression {
            Some(compression) => Some(compression.algorithm.name().to_owned()),
            None => content_encoding,
        },
        delivery_mode: delivery_mode.or(group.is_persistent().then_some(2)),
        headers: (!table.0.is_empty()).then_some(table),
        priority,
        correlation_id,
        reply_to,
        expiration: expiration.map(|time| time.as_millis().to_string()),
        message_id,
        timestamp,
        kind,
        user_id,
        app_id,
        cluster_id,
    }
}
