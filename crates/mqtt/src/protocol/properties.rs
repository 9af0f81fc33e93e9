//! Properties of MQTT 5: their identifiers, and the layouts of their values.

use rabbitscope_protocol::{Malformed, Reader};

use crate::codec::read_length;

/// `Message Expiry Interval` in seconds.
pub const MESSAGE_EXPIRY_INTERVAL: u8 = 0x02;
/// `Content Type`
pub const CONTENT_TYPE: u8 = 0x03;
/// `Response Topic`
pub const RESPONSE_TOPIC: u8 = 0x08;
/// `Correlation Data`
pub const CORRELATION_DATA: u8 = 0x09;
/// `Server Keep Alive` in seconds.
pub const SERVER_KEEP_ALIVE: u8 = 0x13;
/// `Reason String`
pub const REASON_STRING: u8 = 0x1f;
/// `Receive Maximum`: messages without an acknowledgement.
pub const RECEIVE_MAXIMUM: u8 = 0x21;
/// `Topic Alias Maximum`
pub const TOPIC_ALIAS_MAXIMUM: u8 = 0x22;
/// `Topic Alias`
pub const TOPIC_ALIAS: u8 = 0x23;
/// `User Property`: a name and a value.
pub const USER_PROPERTY: u8 = 0x26;
/// `Maximum Packet Size` in bytes.
pub const MAXIMUM_PACKET_SIZE: u8 = 0x27;

/// A property that a client needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property<'a> {
    Number(u32),
    Text(&'a [u8]),
    Pair(&'a [u8], &'a [u8]),
    /// Any other value.
    Other,
}

/// Reads the properties at the front of `content`, and passes each to `on_property`.
pub(crate) fn read<'a>(
    content: &mut Reader<'a>,
    on_property: impl FnMut(u8, Property<'a>),
) -> Result<(), Malformed> {
    let size = read_length(content)?;
    read_all(content.part(size)?, on_property)
}

/// Returns the value of the first user property of this name among encoded properties.
pub(crate) fn user_property<'a>(properties: &'a [u8], name: &str) -> Option<&'a [u8]> {
    let mut found = None;
    let read = read_all(Reader::new(properties, "properties"), |_, property| {
        if let Property::Pair(key, value) = property
            && key == name.as_bytes()
        {
            found = found.or(Some(value));
        }
    });
    read.ok().and(found)
}

fn read_all<'a>(
    mut properties: Reader<'a>,
    mut on_property: impl FnMut(u8, Property<'a>),
) -> Result<(), Malformed> {
    while !properties.is_empty() {
        let identifier = properties.u8()?;
        on_property(identifier, value(identifier, &mut properties)?);
    }
    Ok(())
}

/// Reads the value of a property. Its layout follows from its identifier (MQTT 5, table 2-4).
fn value<'a>(identifier: u8, properties: &mut Reader<'a>) -> Result<Property<'a>, Malformed> {
    Ok(match identifier {
        0x01 | 0x17 | 0x19 | 0x24 | 0x25 | 0x28..=0x2a => Property::Number(properties.u8()?.into()),
        SERVER_KEEP_ALIVE | RECEIVE_MAXIMUM | TOPIC_ALIAS_MAXIMUM | TOPIC_ALIAS => {
            Property::Number(properties.u16()?.into())
        }
        MESSAGE_EXPIRY_INTERVAL | 0x11 | 0x18 | MAXIMUM_PACKET_SIZE => {
            Property::Number(properties.u32()?)
        }
        CONTENT_TYPE | RESPONSE_TOPIC | CORRELATION_DATA | 0x12 | 0x15 | 0x16 | 0x1a | 0x1c
        | REASON_STRING => Property::Text(properties.sized()?),
        0x0b => {
            read_length(properties)?;
            Property::Other
        }
        USER_PROPERTY => Property::Pair(properties.sized()?, properties.sized()?),
        _ => return Err(properties.malformed()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_user_property_is_found_by_its_name() {
        let encoded = b"\x03\x00\x01t\x26\x00\x01a\x00\x02bc\x26\x00\x01a\x00\x01d";
        assert_eq!(user_property(encoded, "a"), Some(&b"bc"[..]));
        assert_eq!(user_property(encoded, "t"), None);
        assert_eq!(user_property(&encoded[..encoded.len() - 1], "a"), None, "cut off");
    }
}
