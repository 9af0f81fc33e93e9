//! The sections of messages of AMQP 1.0 from the properties of a scenario.

use rabbitscope_amqp10::{Blank, Scalar, Sections};
use rabbitscope_runs::scenario::{FieldValue, PublisherGroup, STAMP_HEADER};
use rabbitscope_timing::STAMP_SIZE;

/// Start of the names of headers that are annotations of AMQP 1.0. RabbitMQ converts them in the same way.
const ANNOTATION: &str = "x-";

/// Returns the sections of a group's messages besides the body.
pub(super) fn sections(group: &PublisherGroup) -> Sections {
    let properties = &group.properties;
    let ttl = properties.expiration.map(|time| u32::try_from(time.as_millis()).unwrap_or(u32::MAX));
    let headers = properties.headers.iter();
    let headers = headers.filter_map(|(name, value)| Some((name.clone(), scalar(value)?)));
    let (annotations, application_properties) =
        headers.partition(|(name, _)| name.starts_with(ANNOTATION));
    let stamp = Blank { name: STAMP_HEADER.to_owned(), size: STAMP_SIZE };
    Sections {
        durable: group.is_persistent(),
        priority: properties.priority,
        ttl,
        annotations,
        message_id: properties.message_id.clone(),
        user_id: properties.user_id.clone(),
        to: None,
        subject: properties.subject.clone(),
        reply_to: properties.reply_to.clone(),
        correlation_id: properties.correlation_id.clone(),
        content_type: properties.content_type.clone(),
        content_encoding: properties.content_encoding.clone(),
        creation_time: properties.timestamp.map(millis),
        group_id: properties.group_id.clone(),
        application_properties,
        blank: group.has_stamp_headers().then_some(stamp),
    }
}

/// Converts a value of a scenario. Checks refuse lists and tables.
pub(crate) fn scalar(value: &FieldValue) -> Option<Scalar> {
    Some(match value {
        FieldValue::Bool(value) => Scalar::Boolean(*value),
        FieldValue::Integer(number) => Scalar::Number(*number),
        FieldValue::Float(number) => Scalar::Float(*number),
        FieldValue::Text(text) => Scalar::Text(text.clone()),
        FieldValue::Time(time) => Scalar::Timestamp(millis(time.seconds)),
        FieldValue::Array(_) | FieldValue::Table(_) => return None,
    })
}

/// Returns the milliseconds of seconds since 1970.
fn millis(seconds: u64) -> i64 {
    i64::try_from(seconds.saturating_mul(1000)).unwrap_or(i64::MAX)
}
