//! Bodies and properties.

use super::super::{
    super::{
        error::{Problem, refuse, refuse_at},
        model::{
            BodyKind, FILTER_VALUE, JSON_BODIES, MessageProperties, Protocol, PublisherGroup,
            STAMP_HEADER, has_placeholder,
        },
    },
    fields,
};

pub(super) fn sizes(group: &PublisherGroup) -> Result<(), Problem> {
    if group.size.is_some() && group.sizes.is_some() {
        return refuse("sizes", "says the same as `size` over time: leave one of the two out");
    }
    if group.sizes.as_ref().is_some_and(Vec::is_empty) {
        return refuse("sizes", "has no step: `{ size = \"1KiB\", for = \"10s\" }`");
    }
    size_shares(group)
}

fn size_shares(group: &PublisherGroup) -> Result<(), Problem> {
    let Some(shares) = &group.size_shares else { return Ok(()) };
    if group.size.is_some() || group.sizes.is_some() {
        let reason = "has the sizes of all messages: leave `size` and `sizes` out";
        return refuse("size-shares", reason);
    }
    if group.filter_values.len() > 1 {
        let reason = "and `filter-values` would both choose the message: give one filter value for each group";
        return refuse("size-shares", reason);
    }
    fields::shares("size-shares", shares.iter().map(|share| share.share))
}

/// Checks the body, and fills in its kind and size.
pub(super) fn body(group: &mut PublisherGroup) -> Result<(), Problem> {
    let is_json = group.body == Some(BodyKind::Json);
    for (key, given) in [("json-bodies", group.json_bodies), ("json-fields", group.json_fields)] {
        if given.is_some() && !is_json {
            return refuse(key, "needs `body = \"json\"`");
        }
    }
    if group.json_fields.is_some_and(|fields| !(1..=100_000).contains(&fields)) {
        return refuse("json-fields", "must be from 1 to 100000");
    }
    let Some(files) = &group.body_files else {
        if is_json && !(1..=10_000).contains(group.json_bodies.get_or_insert(JSON_BODIES)) {
            return refuse("json-bodies", "must be from 1 to 10000");
        }
        group.body.get_or_insert_default();
        let has_several = group.sizes.is_some() || group.size_shares.is_some();
        group.size = (!has_several).then(|| group.size_bytes());
        return Ok(());
    };
    let others = [
        ("size", group.size.is_some()),
        ("sizes", group.sizes.is_some()),
        ("size-shares", group.size_shares.is_some()),
        ("body", group.body.is_some()),
    ];
    if let Some((key, _)) = others.into_iter().find(|(_, given)| *given) {
        let reason = "cannot be combined with `body-files`: a file is sent as it is";
        return refuse(key, reason);
    }
    if files.is_empty() {
        return refuse("body-files", "names no file");
    }
    Ok(())
}

pub(super) fn properties(group: &mut PublisherGroup) -> Result<(), Problem> {
    let given = group.properties.delivery_mode;
    if let (Some(mode), Some(persistent)) = (given, group.persistent)
        && persistent != (mode == 2)
    {
        let reason =
            format!("is {mode}, but `persistent` is {persistent}: leave one of the two out");
        return refuse_at(&["properties", "delivery-mode"], reason);
    }
    if group.protocol == Protocol::Amqp091 {
        group.persistent = given.is_none().then_some(group.persistent == Some(true));
        only_amqp091(&group.properties).map_err(|problem| problem.under("properties"))?;
    }
    check_properties(&group.properties).map_err(|problem| problem.under("properties"))?;
    property_shares(group)
}

/// Most bytes of a group's bodies that are encoded with each of its properties.
const MAX_ENCODED_BYTES: u64 = 64 << 20;

fn property_shares(group: &PublisherGroup) -> Result<(), Problem> {
    const KEY: &str = "property-shares";
    let Some(shares) = &group.property_shares else { return Ok(()) };
    if group.protocol != Protocol::Amqp091 {
        return refuse(KEY, "needs AMQP 0-9-1: give a group of publishers for each value");
    }
    if group.is_packed() || group.body_files.is_some() {
        let reason = "needs messages that are made before the load: leave `items-per-message`, `compression` and \
                      `body-files` out";
        return refuse(KEY, reason);
    }
    fields::shares(KEY, shares.iter().map(|share| share.share))?;
    for (place, share) in shares.iter().enumerate() {
        let under =
            |problem: Problem| problem.under("properties").under(place.to_string()).under(KEY);
        only_amqp091(&share.properties).map_err(under)?;
        check_properties(&share.properties).map_err(under)?;
        if share.properties.headers.contains_key(FILTER_VALUE) {
            let reason =
                "chooses the readers of a message: give a group of publishers for each value";
            return refuse_at(&["headers", FILTER_VALUE], reason).map_err(under);
        }
    }
    let documents = u64::from(group.json_bodies.unwrap_or(1));
    let bytes: u64 = group.body_sizes().map(|size| u64::from(size) * documents).sum();
    let encoded = bytes.saturating_mul(shares.len() as u64);
    if encoded > MAX_ENCODED_BYTES {
        let reason = format!(
            "would keep {} MiB of bodies, each with each of {} properties; at most 64 MiB: give fewer sizes, or fewer \
             properties",
            encoded >> 20,
            shares.len()
        );
        return refuse(KEY, reason);
    }
    Ok(())
}

fn only_amqp091(properties: &MessageProperties) -> Result<(), Problem> {
    let of_amqp10 = "is a property of AMQP 1.0: set `protocol = \"amqp-1.0\"`";
    let given =
        [("subject", properties.subject.is_some()), ("group-id", properties.group_id.is_some())];
    match given.into_iter().find(|(_, given)| *given) {
        Some((key, _)) => refuse(key, of_amqp10),
        None => Ok(()),
    }
}

fn check_properties(properties: &MessageProperties) -> Result<(), Problem> {
    let texts = [
        ("content-type", &properties.content_type),
        ("content-encoding", &properties.content_encoding),
        ("correlation-id", &properties.correlation_id),
        ("reply-to", &properties.reply_to),
        ("message-id", &properties.message_id),
        ("type", &properties.kind),
        ("user-id", &properties.user_id),
        ("app-id", &properties.app_id),
        ("cluster-id", &properties.cluster_id),
        ("subject", &properties.subject),
        ("group-id", &properties.group_id),
    ];
    for (key, text) in texts {
        short_strings(key, text.as_slice())?;
        if text.as_deref().is_some_and(has_placeholder) {
            return refuse(
                key,
                "`{}` is not replaced here: give a group of publishers for each value",
            );
        }
    }
    if properties.delivery_mode.is_some_and(|mode| !(1..=2).contains(&mode)) {
        return refuse("delivery-mode", "must be 1 (transient) or 2 (persistent)");
    }
    let reason = "give a group of publishers for each value";
    fields::no_placeholder("headers", &properties.headers, reason)?;
    if properties.headers.contains_key(STAMP_HEADER) {
        return refuse_at(&["headers", STAMP_HEADER], "is rabbitscope's own header");
    }
    if properties.expiration.is_some_and(|time| time.subsec_nanos() % 1_000_000 != 0) {
        return refuse("expiration", "must be a whole number of milliseconds");
    }
    Ok(())
}

/// Checks strings that AMQP limits to 255 bytes.
pub(super) fn short_strings(key: &str, texts: &[String]) -> Result<(), Problem> {
    if texts.iter().any(|text| text.len() > 255) {
        return refuse(key, "must have at most 255 bytes");
    }
    Ok(())
}
