//! Conversion of TOML values to the types of a scenario, with errors that state their path and the allowed values.
//!
//! `toml`'s own deserialiser reports text. This one keeps the structure that serde offers (the unknown field and the
//! known ones, the type found and the type expected).

use std::fmt;

use serde::{
    Deserialize, Deserializer,
    de::{
        self, DeserializeSeed, Expected, IntoDeserializer, Unexpected, Visitor,
        value::StrDeserializer,
    },
    forward_to_deserialize_any,
};
use toml::Value;

use super::error::{Problem, allowed, quoted};

/// Reads the whole document.
pub(crate) fn read<'de, T: Deserialize<'de>>(root: &'de Value) -> Result<T, Problem> {
    T::deserialize(Node(root))
}

impl de::Error for Problem {
    fn custom<T: fmt::Display>(message: T) -> Self {
        Self::new(message.to_string())
    }

    fn invalid_type(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::new(format!("is {}, but {} is expected", describe(found), plain(expected)))
    }

    fn invalid_value(found: Unexpected<'_>, expected: &dyn Expected) -> Self {
        Self::invalid_type(found, expected)
    }

    fn unknown_variant(variant: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!(
            "{} is unknown; allowed are {}",
            quoted(variant),
            allowed(variant, expected)
        ))
    }

    fn unknown_field(field: &str, expected: &'static [&'static str]) -> Self {
        Self::new(format!("is an unknown key; allowed are {}", allowed(field, expected)))
            .under(field)
    }

    fn missing_field(field: &'static str) -> Self {
        Self::new("is missing").under(field)
    }
}

fn describe(found: Unexpected<'_>) -> String {
    match found {
        Unexpected::Str(text) => format!("the text {}", quoted(text)),
        Unexpected::Signed(number) => format!("the number {number}"),
        Unexpected::Unsigned(number) => format!("the number {number}"),
        Unexpected::Float(number) => format!("the number {number}"),
        Unexpected::Bool(value) => format!("`{value}`"),
        Unexpected::Map => "a table".to_owned(),
        Unexpected::Seq => "an array".to_owned(),
        // `Node` turns a date into this.
        Unexpected::NewtypeStruct => "a date".to_owned(),
        other => other.to_string(),
    }
}

fn plain(expected: &dyn Expected) -> String {
    let expected = expected.to_string();
    match expected.as_str() {
        "u8" => format!("a whole number from 0 to {}", u8::MAX),
        "i64" => "a whole number".to_owned(),
        "u16" => format!("a whole number from 0 to {}", u16::MAX),
        "u32" => format!("a whole number from 0 to {}", u32::MAX),
        "u64" => "a whole number, 0 or more,".to_owned(),
        "f64" => "a number".to_owned(),
        "a boolean" => "`true` or `false`".to_owned(),
        "a string" => "a text in quotes".to_owned(),
        "a sequence" => "an array".to_owned(),
        "a map" => "a table".to_owned(),
        other if other.starts_with("struct ") => "a table".to_owned(),
        _ => expected,
    }
}

#[derive(Clone, Copy)]
struct Node<'de>(&'de Value);

impl<'de> Deserializer<'de> for Node<'de> {
    type Error = Problem;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.0 {
            Value::String(text) => visitor.visit_borrowed_str(text),
            Value::Integer(number) => visitor.visit_i64(*number),
            Value::Float(number) => visitor.visit_f64(*number),
            Value::Boolean(value) => visitor.visit_bool(*value),
            Value::Datetime(time) => {
                visitor.visit_newtype_struct(time.to_string().into_deserializer())
            }
            Value::Array(items) => visitor.visit_seq(Items(items.iter().enumerate())),
            Value::Table(table) => visitor.visit_map(Entries { rest: table.iter(), value: None }),
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        visitor.visit_some(self)
    }

    fn deserialize_enum<V: Visitor<'de>>(
        self,
        _name: &'static str,
        variants: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Problem> {
        match self.0 {
            Value::String(text) => visitor.visit_enum(text.as_str().into_deserializer()),
            _ => Err(Problem::new(format!("must be one of {}", allowed("", variants)))),
        }
    }

    /// Accepts a date in place of a text.
    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Problem> {
        match self.0 {
            Value::Datetime(date) => visitor.visit_string(date.to_string()),
            _ => self.deserialize_any(visitor),
        }
    }

    forward_to_deserialize_any! {
        bool i8 i16 i32 i64 i128 u8 u16 u32 u64 u128 f32 f64 char str bytes byte_buf unit
        unit_struct newtype_struct seq tuple tuple_struct map struct identifier ignored_any
    }
}

struct Items<'de>(std::iter::Enumerate<std::slice::Iter<'de, Value>>);

impl<'de> de::SeqAccess<'de> for Items<'de> {
    type Error = Problem;

    fn next_element_seed<T: DeserializeSeed<'de>>(
        &mut self,
        seed: T,
    ) -> Result<Option<T::Value>, Problem> {
        let Some((index, item)) = self.0.next() else { return Ok(None) };
        let element = seed.deserialize(Node(item));
        element.map(Some).map_err(|problem| problem.under(index.to_string()))
    }
}

struct Entries<'de> {
    rest: toml::map::Iter<'de, String, Value>,
    value: Option<(&'de str, &'de Value)>,
}

impl<'de> de::MapAccess<'de> for Entries<'de> {
    type Error = Problem;

    fn next_key_seed<K: DeserializeSeed<'de>>(
        &mut self,
        seed: K,
    ) -> Result<Option<K::Value>, Problem> {
        let Some((key, value)) = self.rest.next() else { return Ok(None) };
        self.value = Some((key, value));
        let key: StrDeserializer<'de, Problem> = key.as_str().into_deserializer();
        seed.deserialize(key).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Problem> {
        let (key, value) = self.value.take().expect("serde asks for the key first");
        seed.deserialize(Node(value)).map_err(|problem| problem.under(key))
    }
}
