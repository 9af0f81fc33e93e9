//! Properties of MQTT 5: their identifiers, and the layouts of their values.

use crate::{codec::Reader, error::Malformed};

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
/// `Maximum Packet Size` in bytes.
pub const MAXIMUM_PACKET_SIZE: u8 = 0x27;

/// A property that a client needs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Property<'a> {
    Number(u32),
    Text(&'a [u8]),
    /// Any other value.
    Other,
}

/// Reads the properties at the front of `content`, and passes each to `on_property`.
pub(crate) fn read<'a>(
    content: &mut Reader<'a>,
    mut on_property: impl FnMut(u8, Property<'a>),
) -> Result<(), Malformed> {
    let size = content.length()?;
    let mut properties = content.part(size)?;
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
        0x02 | 0x11 | 0x18 | MAXIMUM_PACKET_SIZE => Property::Number(properties.u32()?),
        0x03 | 0x08 | 0x09 | 0x12 | 0x15 | 0x16 | 0x1a | 0x1c | REASON_STRING => {
            Property::Text(properties.text()?)
        }
        0x0b => {
            properties.length()?;
            Property::Other
        }
        0x26 => {
            properties.text()?;
            properties.text()?;
            Property::Other
        }
        _ => return Err(properties.malformed()),
    })
}
