//! Forms of values that several tables share.

use std::{collections::BTreeMap, time::Duration};

use rabbitscope_text::display_duration;

use crate::scenario::model::FieldValue;

/// Of a queue, an exchange, a consumer: a table of AMQP values.
pub(super) type Arguments = BTreeMap<String, FieldValue>;

/// A time in the resolved form, left out when it is none.
pub(super) fn unless_zero(time: Duration) -> Option<String> {
    (!time.is_zero()).then(|| display_duration(time).to_string())
}
