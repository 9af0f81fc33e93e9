//! Forms of values that several tables share.

use std::{collections::BTreeMap, time::Duration};

use rabbitscope_text::display_duration;

use crate::scenario::model::FieldValue;

/// A table of AMQP values of a queue, an exchange or a consumer.
pub(super) type Arguments = BTreeMap<String, FieldValue>;

/// Writes a time in the resolved form; absent if it is zero.
pub(super) fn unless_zero(time: Duration) -> Option<String> {
    (!time.is_zero()).then(|| display_duration(time).to_string())
}
