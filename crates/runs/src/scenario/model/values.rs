//! Written forms of times, sizes and dates, for serde's `with`. Each works for a value and for an `Option` of it.

use std::{collections::BTreeMap, fmt::Display};

use rabbitscope_text::UnitError;
use serde::{Serializer, de::Error};

use super::FieldValue;
use crate::scenario::error::quoted;

/// A table of AMQP values of a queue, an exchange, a binding or a consumer.
pub(super) type Arguments = BTreeMap<String, FieldValue>;

/// A number that was not given and follows from other keys. Checks replace it.
pub(in crate::scenario) const UNSET: u32 = u32::MAX;

/// The largest message that RabbitMQ 3.8 and later accepts by default, in bytes.
const MESSAGE_MAX: u64 = 128 << 20;

pub(super) fn unset() -> u32 {
    UNSET
}

pub(super) fn one() -> u32 {
    1
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_zero(value: &u64) -> bool {
    *value == 0
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_one(value: &u32) -> bool {
    *value == 1
}

pub(super) fn yes() -> bool {
    true
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_true(value: &bool) -> bool {
    *value
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
pub(super) fn is_false(value: &bool) -> bool {
    !*value
}

/// Times that may be zero.
pub(crate) mod time {
    use std::time::Duration;

    use rabbitscope_text::{display_duration, parse_duration};
    use serde::{Deserialize, Deserializer, Serializer};

    use super::{refused, write};

    pub(crate) fn serialize<S: Serializer, T: Copy + Into<Option<Duration>>>(
        time: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        write((*time).into().map(display_duration), serializer)
    }

    pub(crate) fn deserialize<'de, D: Deserializer<'de>, T: From<Duration>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let time = parse_duration(&String::deserialize(deserializer)?);
        time.map(T::from).map_err(|error| refused(&error))
    }
}

/// Times above zero.
pub(super) mod span {
    use std::time::Duration;

    use serde::{Deserializer, de::Error};

    use super::time;
    pub(in crate::scenario) use super::time::serialize;

    pub(in crate::scenario) fn deserialize<'de, D: Deserializer<'de>, T: From<Duration>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let span: Duration = time::deserialize(deserializer)?;
        if span.is_zero() {
            Err(D::Error::custom("must be longer than 0s"))
        } else {
            Ok(span.into())
        }
    }
}

/// Sizes of bodies and buffers in bytes.
pub(super) mod size {
    use rabbitscope_text::{display_size, parse_size};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::{MESSAGE_MAX, refused, write};

    pub(in crate::scenario) fn serialize<S: Serializer, T: Copy + Into<Option<u32>>>(
        bytes: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        write((*bytes).into().map(|bytes| display_size(u64::from(bytes))), serializer)
    }

    pub(in crate::scenario) fn deserialize<'de, D: Deserializer<'de>, T: From<u32>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let bytes =
            parse_size(&String::deserialize(deserializer)?).map_err(|error| refused(&error))?;
        let size = u32::try_from(bytes).ok().filter(|_| bytes <= MESSAGE_MAX);
        let reason = "must be at most 128MiB, the largest message that RabbitMQ accepts";
        size.map(T::from).ok_or_else(|| D::Error::custom(reason))
    }
}

/// Points in time, as time since 1970-01-01 UTC.
pub(super) mod instant {
    use std::time::Duration;

    use rabbitscope_text::{display_utc, parse_utc};
    use serde::{Deserialize, Deserializer, Serializer, de::Error};

    use super::write;
    use crate::scenario::error::quoted;

    pub(in crate::scenario) fn serialize<S: Serializer, T: Copy + Into<Option<Duration>>>(
        instant: &T,
        serializer: S,
    ) -> Result<S::Ok, S::Error> {
        write((*instant).into().map(display_utc), serializer)
    }

    pub(in crate::scenario) fn deserialize<'de, D: Deserializer<'de>, T: From<Duration>>(
        deserializer: D,
    ) -> Result<T, D::Error> {
        let text = String::deserialize(deserializer)?;
        let form = "is not a point in time such as `2026-01-01T12:00:00Z`";
        let wrong = || D::Error::custom(format!("{} {form}", quoted(&text)));
        parse_utc(&text).map(T::from).ok_or_else(wrong)
    }
}

fn write<S: Serializer>(value: Option<impl Display>, serializer: S) -> Result<S::Ok, S::Error> {
    match value {
        Some(value) => serializer.collect_str(&value),
        None => serializer.serialize_none(),
    }
}

/// Returns the refusal of a text that is not a time or a size.
pub(super) fn refused<E: Error>(error: &UnitError) -> E {
    E::custom(format!("{} is not {}", quoted(&error.text), error.expected))
}
