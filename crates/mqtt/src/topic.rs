//! The topic of messages, with their quality of service and their properties, encoded before they are sent.

use std::sync::Arc;

use rabbitscope_protocol::Write as _;

use crate::{
    codec::{Put as _, length_size},
    message_properties::Properties,
    protocol::{
        packets::{PUBLISH, QUALITY_SHIFT},
        properties::TOPIC_ALIAS,
        version::Version,
    },
};

/// Bytes of the property with the alias.
const ALIAS_SIZE: usize = 3;

/// The broker's promise about a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
pub enum QualityOfService {
    /// The broker does not acknowledge the message.
    AtMostOnce,
    /// The broker acknowledges each message by itself.
    #[default]
    AtLeastOnce,
}

impl QualityOfService {
    /// Returns the number in the protocol.
    pub(crate) fn number(self) -> u8 {
        match self {
            Self::AtMostOnce => 0,
            Self::AtLeastOnce => 1,
        }
    }
}

/// The topic of messages. With MQTT 5 it can have an alias: a number that stands for it from its second message on a
/// connection.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Topic {
    /// The name, with its length before it.
    name: Vec<u8>,
    pub(crate) quality: QualityOfService,
    version: Version,
    /// The alias; 0 for none.
    pub(crate) alias: u16,
    /// Encoded properties of MQTT 5, without their length.
    properties: Arc<[u8]>,
    /// Digits of a value to fill in, which are the last of the properties.
    pub(crate) blank: usize,
}

/// The way of naming the topic in a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Naming {
    /// By its name alone.
    Name,
    /// By its name, which the alias stands for from now on.
    Both,
    /// By its alias alone.
    Alias,
}

impl Topic {
    /// Encodes a topic without an alias.
    pub fn new(name: &str, quality: QualityOfService, version: Version) -> Self {
        let mut encoded = Vec::new();
        encoded.put_text(name);
        Self { name: encoded, quality, version, alias: 0, properties: [].into(), blank: 0 }
    }

    /// Sets the properties of the messages. MQTT 3.1.1 has none.
    #[must_use]
    pub fn with_properties(mut self, properties: &Properties) -> Self {
        if self.version == Version::V5 {
            self.properties = properties.encode().into();
            self.blank = properties.blank.as_ref().map_or(0, |blank| 2 * blank.size);
        }
        self
    }

    /// Sets the alias, from 1. MQTT 3.1.1 has none.
    #[must_use]
    pub fn with_alias(mut self, alias: u16) -> Self {
        self.alias = if self.version == Version::V5 { alias } else { 0 };
        self
    }

    /// Returns the bytes of a packet whose body has `body_size` bytes, with the name of the topic.
    pub fn packet_size(&self, body_size: usize) -> usize {
        let naming = if self.alias == 0 { Naming::Name } else { Naming::Both };
        let length = self.before_body(naming) + body_size;
        let mut head = vec![PUBLISH];
        head.put_length(length);
        head.len() + length
    }

    /// Returns the bytes between the packet's length and its body.
    fn before_body(&self, naming: Naming) -> usize {
        let name = if naming == Naming::Alias { 2 } else { self.name.len() };
        let identifier = if self.is_numbered() { 2 } else { 0 };
        let properties = match self.version {
            Version::V3 => 0,
            Version::V5 => {
                let length = self.properties_length(naming);
                length_size(length) + length
            }
        };
        name + identifier + properties
    }

    /// Returns the bytes of the properties.
    fn properties_length(&self, naming: Naming) -> usize {
        let alias = if naming == Naming::Name { 0 } else { ALIAS_SIZE };
        alias + self.properties.len()
    }

    /// Returns whether the messages have packet identifiers.
    #[inline]
    pub(crate) fn is_numbered(&self) -> bool {
        self.quality == QualityOfService::AtLeastOnce
    }

    /// Appends a packet up to its body, with an identifier of 0. Returns the position of the identifier in `out`.
    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>, naming: Naming, body_size: usize) -> usize {
        out.push(PUBLISH | self.quality.number() << QUALITY_SHIFT);
        out.put_length(self.before_body(naming) + body_size);
        match naming {
            Naming::Alias => out.put_u16(0),
            Naming::Name | Naming::Both => out.extend_from_slice(&self.name),
        }
        let identifier_at = out.len();
        if self.is_numbered() {
            out.put_u16(0);
        }
        if self.version == Version::V5 {
            out.put_length(self.properties_length(naming));
            if naming != Naming::Name {
                let [high, low] = self.alias.to_be_bytes();
                out.extend_from_slice(&[TOPIC_ALIAS, high, low]);
            }
            out.extend_from_slice(&self.properties);
        }
        identifier_at
    }
}
