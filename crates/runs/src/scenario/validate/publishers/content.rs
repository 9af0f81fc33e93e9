//! Bodies and properties.

use super::super::{
    super::{
        error::{Problem, refuse},
        model::{Body, MessageProperties, STAMP_HEADER, SizeStep, has_placeholder},
        wire,
    },
    fields,
};
use crate::scenario::validate::context::each;

pub(super) struct Sizes {
    pub(super) first: u32,
    pub(super) steps: Vec<SizeStep>,
}

impl Sizes {
    pub(super) fn largest(&self) -> u32 {
        self.steps.iter().map(|step| step.size_bytes).fold(self.first, u32::max)
    }
}

pub(super) fn sizes(wire: &wire::Publishers) -> Result<Sizes, Problem> {
    if wire.size.is_some() && wire.sizes.is_some() {
        return refuse("sizes", "says the same as `size` over time: leave one of the two out");
    }
    let size = fields::size("size", wire.size.as_deref().unwrap_or("12B"))?;
    let Some(steps) = &wire.sizes else { return Ok(Sizes { first: size, steps: Vec::new() }) };
    let steps = each("sizes", steps.iter().collect(), |_, step| {
        let size_bytes = fields::size("size", &step.size)?;
        let lasts = fields::duration("for", Some(&step.lasts))?.unwrap_or_default();
        Ok(SizeStep { size_bytes, lasts })
    })?;
    match steps.first() {
        None => refuse("sizes", "has no step: `{ size = \"1KiB\", for = \"10s\" }`"),
        Some(first) => Ok(Sizes { first: first.size_bytes, steps }),
    }
}

pub(super) fn body(wire: &wire::Publishers) -> Result<Body, Problem> {
    let is_json = wire.body == Some(wire::BodyKind::Json);
    for (key, given) in [("json-bodies", wire.json_bodies), ("json-fields", wire.json_fields)] {
        if given.is_some() && !is_json {
            return refuse(key, "needs `body = \"json\"`");
        }
    }
    if wire.json_fields.is_some_and(|fields| !(1..=100_000).contains(&fields)) {
        return refuse("json-fields", "must be from 1 to 100000");
    }
    let Some(files) = &wire.body_files else {
        let documents = wire.json_bodies.unwrap_or(100);
        if !(1..=10_000).contains(&documents) {
            return refuse("json-bodies", "must be from 1 to 10000");
        }
        let json = Body::Json { documents, fields: wire.json_fields };
        return Ok(if is_json { json } else { Body::Filler });
    };
    let others = [
        ("size", wire.size.is_some()),
        ("sizes", wire.sizes.is_some()),
        ("body", wire.body.is_some()),
    ];
    if let Some((key, _)) = others.into_iter().find(|(_, given)| *given) {
        let reason = "cannot be combined with `body-files`: a file is sent as it is";
        return refuse(key, reason);
    }
    if files.is_empty() {
        return refuse("body-files", "names no file");
    }
    Ok(Body::Files(files.clone()))
}

pub(super) fn properties(
    wire: wire::Properties,
    persistent: Option<bool>,
) -> Result<MessageProperties, Problem> {
    if let (Some(mode), Some(persistent)) = (wire.delivery_mode, persistent)
        && persistent != (mode == 2)
    {
        let reason =
            format!("is {mode}, but `persistent` is {persistent}: leave one of the two out");
        let refused: Result<(), Problem> = refuse("delivery-mode", reason);
        refused.map_err(|problem| problem.under("properties"))?;
    }
    read_properties(wire).map_err(|problem| problem.under("properties"))
}

fn read_properties(wire: wire::Properties) -> Result<MessageProperties, Problem> {
    let texts = [
        ("content-type", &wire.content_type),
        ("content-encoding", &wire.content_encoding),
        ("correlation-id", &wire.correlation_id),
        ("reply-to", &wire.reply_to),
        ("message-id", &wire.message_id),
        ("type", &wire.kind),
        ("user-id", &wire.user_id),
        ("app-id", &wire.app_id),
        ("cluster-id", &wire.cluster_id),
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
    if wire.delivery_mode.is_some_and(|mode| !(1..=2).contains(&mode)) {
        return refuse("delivery-mode", "must be 1 (transient) or 2 (persistent)");
    }
    let reason = "give a group of publishers for each value";
    fields::no_placeholder("headers", &wire.headers, reason)?;
    if wire.headers.contains_key(STAMP_HEADER) {
        let refused: Result<(), Problem> = refuse(STAMP_HEADER, "is rabbitscope's own header");
        refused.map_err(|problem| problem.under("headers"))?;
    }
    let expiration = fields::duration("expiration", wire.expiration.as_deref())?;
    if expiration.is_some_and(|time| time.subsec_nanos() % 1_000_000 != 0) {
        return refuse("expiration", "must be a whole number of milliseconds");
    }
    Ok(MessageProperties {
        content_type: wire.content_type,
        content_encoding: wire.content_encoding,
        delivery_mode: wire.delivery_mode,
        priority: wire.priority,
        correlation_id: wire.correlation_id,
        reply_to: wire.reply_to,
        expiration,
        message_id: wire.message_id,
        timestamp: wire.timestamp,
        kind: wire.kind,
        user_id: wire.user_id,
        app_id: wire.app_id,
        cluster_id: wire.cluster_id,
        headers: wire.headers,
    })
}

/// Checks strings that AMQP limits to 255 bytes.
pub(super) fn short_strings(key: &str, texts: &[String]) -> Result<(), Problem> {
    if texts.iter().any(|text| text.len() > 255) {
        return refuse(key, "must have at most 255 bytes");
    }
    Ok(())
}
