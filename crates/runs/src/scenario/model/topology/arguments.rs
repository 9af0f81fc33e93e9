//! Values of arguments, headers and other tables.

use std::{collections::BTreeMap, fmt, time::Duration};

use serde::{
    Deserialize, Deserializer, Serialize, Serializer,
    de::{self, MapAccess, Visitor},
};
use toml::value::Datetime;

use rabbitscope_text::{display_utc, parse_offset_time};

/// A value in an AMQP field table, as far as TOML can express it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum FieldValue {
    /// `t`
    Bool(bool),
    /// `l`
    Integer(i64),
    /// `d`
    Float(f64),
    /// `S`
    Text(String),
    /// `A`
    Array(Vec<FieldValue>),
    /// `T`, from a date and time with its offset.
    Time(Time),
    /// `F`
    Table(BTreeMap<String, FieldValue>),
}

impl FieldValue {
    /// Returns a text; `None` for other values.
    pub fn text(&self) -> Option<&str> {
        match self {
            Self::Text(text) => Some(text),
            _ => None,
        }
    }
}

/// Whole seconds since 1970-01-01 UTC, written as a TOML date and time with its offset.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Time {
    /// Number of seconds.
    pub seconds: u64,
}

impl Serialize for Time {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let text = display_utc(Duration::from_secs(self.seconds)).to_string();
        let time: Datetime = text.parse().expect("it was written as a date and time");
        time.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_newtype_struct("Time", TimeVisitor)
    }
}

/// Scenarios provide a newtype of a text (`reader`). In other formats, serde's data model turns TOML's dates into a map
/// with one entry.
struct TimeVisitor;

impl<'de> Visitor<'de> for TimeVisitor {
    type Value = Time;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a time with its offset, such as 2026-01-01T12:00:00Z")
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Time, E> {
        let time = parse_offset_time(text);
        let wrong = || E::invalid_value(de::Unexpected::Str(text), &self);
        time.map(|time| Time { seconds: time.as_secs() }).ok_or_else(wrong)
    }

    fn visit_newtype_struct<D: Deserializer<'de>>(self, inner: D) -> Result<Time, D::Error> {
        inner.deserialize_any(self)
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<Time, A::Error> {
        let time = Datetime::deserialize(de::value::MapAccessDeserializer::new(map))?;
        self.visit_str(&time.to_string())
    }
}
