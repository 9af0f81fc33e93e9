//! The protocols of clients.

use std::str::FromStr;

use serde::{
    Deserialize, Deserializer, Serialize,
    de::{Error as _, IntoDeserializer, value},
};

/// The protocol of a group's connections.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Protocol {
    /// AMQP 0-9-1
    #[default]
    #[serde(rename = "amqp-0-9-1")]
    Amqp091,
    /// AMQP 1.0
    #[serde(rename = "amqp-1.0")]
    Amqp10,
    /// RabbitMQ's stream protocol
    #[serde(rename = "stream")]
    Stream,
    /// MQTT
    #[serde(rename = "mqtt")]
    Mqtt,
}

/// A version of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub enum MqttVersion {
    /// MQTT 3.1.1, which every broker with the plugin has
    #[default]
    #[serde(rename = "3.1.1")]
    V3,
    /// MQTT 5, which RabbitMQ has since 3.13
    #[serde(rename = "5")]
    V5,
}

/// Reads the name, and also the number 5.
impl<'de> Deserialize<'de> for MqttVersion {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        const NAMES: [&str; 2] = ["3.1.1", "5"];
        let written = Written::deserialize(deserializer)?;
        let name = match written {
            Written::Number(number) => number.to_string(),
            Written::Text(text) => text,
        };
        match name.as_str() {
            "3.1.1" => Ok(Self::V3),
            "5" => Ok(Self::V5),
            _ => Err(D::Error::unknown_variant(&name, &NAMES)),
        }
    }
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Written {
    Number(u32),
    Text(String),
}

/// Reads the name in scenarios.
impl FromStr for Protocol {
    type Err = value::Error;

    fn from_str(name: &str) -> Result<Self, value::Error> {
        Self::deserialize(name.into_deserializer())
    }
}

impl Protocol {
    /// Returns whether this is the protocol of a group that names none.
    #[expect(clippy::trivially_copy_pass_by_ref, reason = "serde passes a reference")]
    pub(in crate::scenario) fn is_default(&self) -> bool {
        *self == Self::default()
    }
}
