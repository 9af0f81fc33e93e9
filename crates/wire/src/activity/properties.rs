//! Size and properties of a message, without the values of applications.

use rabbitscope_amqp::protocol::properties::{
    APP_ID, BYTES_BEFORE_FLAGS, CLUSTER_ID, CONTENT_ENCODING, CONTENT_TYPE, CORRELATION_ID,
    DELIVERY_MODE, EXPIRATION, HEADERS, KIND, MESSAGE_ID, MORE_FLAGS, PRIORITY, REPLY_TO,
    TIMESTAMP, USER_ID,
};

use super::{
    links::{OfAmqp10, OfStream},
    table::entries,
};
use crate::protocols::{ArgumentBytes, ContentHeader};

/// The content of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Content {
    /// Size, persistence and the properties of requests and replies.
    pub header: ContentHeader,
    /// The other properties; none if they are longer than the captured part.
    pub properties: Option<Properties>,
    /// Settings of MQTT; absent with other protocols.
    pub mqtt: Option<OfMqtt>,
    /// Settings of AMQP 1.0; absent with other protocols.
    pub amqp10: Option<OfAmqp10>,
    /// Settings of the stream protocol; absent with other protocols.
    pub stream: Option<OfStream>,
}

/// Settings of a message of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct OfMqtt {
    /// Level of the protocol: 3, 4 for MQTT 3.1.1, 5; absent if it is unknown.
    pub level: Option<u8>,
    /// The quality of service that the sender asks for: 0, 1 or 2.
    pub quality_of_service: u8,
    /// True if the broker shall keep the message for later subscribers, or has kept it.
    pub is_retained: bool,
}

/// Properties of a message. Texts are represented by their lengths.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Flags of the present properties, as [`rabbitscope_amqp::protocol::properties`] has them; 0 with other protocols.
    pub flags: u16,
    /// The table of headers.
    pub headers: Option<Headers>,
    /// `delivery-mode`
    pub delivery_mode: Option<u8>,
    /// `priority`
    pub priority: Option<u8>,
    /// `expiration` in milliseconds; none also if its text is no number.
    pub expiration: Option<u64>,
    /// Bytes of all properties that are texts, without their lengths.
    pub text_bytes: u16,
}

/// Bytes that AMQP 0-9-1 has beside the texts of a header: two lengths and a type.
pub(super) const HEADER_BYTES: usize = 1 + 4 + 1;

/// A table of headers.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Headers {
    /// Number of headers.
    pub count: u16,
    /// Bytes of the table, without its length. Entries of other protocols count as a table with the same texts.
    pub bytes: u32,
}

/// Reads the properties from a content header's payload.
pub(super) fn properties(payload: &[u8]) -> Option<Properties> {
    let mut rest = ArgumentBytes::new(payload.get(BYTES_BEFORE_FLAGS..)?);
    let flags = rest.u16()?;
    let mut more = flags;
    while more & MORE_FLAGS != 0 {
        more = rest.u16()?;
    }
    let mut read = Properties { flags, ..Properties::default() };
    let mut flag = CONTENT_TYPE;
    while flag >= CLUSTER_ID {
        if flags & flag != 0 {
            property(flag, &mut rest, &mut read)?;
        }
        flag >>= 1;
    }
    Some(read)
}

fn property(flag: u16, rest: &mut ArgumentBytes<'_>, read: &mut Properties) -> Option<()> {
    match flag {
        HEADERS => {
            let table = rest.long()?;
            let bytes = u32::try_from(table.len()).ok()?;
            read.headers = Some(Headers { count: entries(table)?, bytes });
        }
        DELIVERY_MODE => read.delivery_mode = Some(rest.u8()?),
        PRIORITY => read.priority = Some(rest.u8()?),
        TIMESTAMP => drop(rest.u64()?),
        EXPIRATION => {
            let text = rest.short()?;
            read.expiration = core::str::from_utf8(text).ok().and_then(|text| text.parse().ok());
            read.text_bytes += u16::try_from(text.len()).ok()?;
        }
        CONTENT_TYPE | CONTENT_ENCODING | CORRELATION_ID | REPLY_TO | MESSAGE_ID | KIND
        | USER_ID | APP_ID | CLUSTER_ID => {
            read.text_bytes += u16::try_from(rest.short()?.len()).ok()?;
        }
        _ => return None,
    }
    Some(())
}
