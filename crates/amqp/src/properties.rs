//! Properties of a message: flags of the present ones, then their values.

use rabbitscope_protocol::Write as _;

use crate::{
    error::Malformed,
    protocol::properties::{self as flag, PERSISTENT},
    table::Table,
    wire::{Reader, WriteStrings as _},
};

/// Properties of a message of class `basic`.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Properties {
    /// MIME type.
    pub content_type: Option<String>,
    /// MIME encoding.
    pub content_encoding: Option<String>,
    /// Headers.
    pub headers: Option<Table>,
    /// Delivery mode: 1 transient, 2 persistent.
    pub delivery_mode: Option<u8>,
    /// Priority, 0 to 255.
    pub priority: Option<u8>,
    /// Identifier that ties a reply to its request.
    pub correlation_id: Option<String>,
    /// Queue for replies.
    pub reply_to: Option<String>,
    /// Time to live in milliseconds, as text.
    pub expiration: Option<String>,
    /// Message identifier.
    pub message_id: Option<String>,
    /// Timestamp in seconds since 1970-01-01 UTC.
    pub timestamp: Option<u64>,
    /// Type name.
    pub kind: Option<String>,
    /// User id, which the broker checks.
    pub user_id: Option<String>,
    /// Application id.
    pub app_id: Option<String>,
    /// Cluster id, which AMQP 0-9-1 reserves and RabbitMQ passes on.
    pub cluster_id: Option<String>,
}

impl Properties {
    /// Properties with only a delivery mode: 2 (`persistent`) or 1.
    pub fn with_delivery_mode(persistent: bool) -> Self {
        Self { delivery_mode: Some(if persistent { PERSISTENT } else { 1 }), ..Self::default() }
    }

    /// Parses the field `properties` of a delivery.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u16()?;
        if flags & flag::MORE_FLAGS != 0 {
            return Err(Malformed("more than 15 property flags"));
        }
        let has = |flag: u16| flags & flag != 0;
        let text =
            |flag: u16, reader: &mut Reader<'_>| has(flag).then(|| reader.short_text()).transpose();
        let reader = &mut reader;
        Ok(Self {
            content_type: text(flag::CONTENT_TYPE, reader)?,
            content_encoding: text(flag::CONTENT_ENCODING, reader)?,
            headers: has(flag::HEADERS).then(|| Table::read(reader)).transpose()?,
            delivery_mode: has(flag::DELIVERY_MODE).then(|| reader.u8()).transpose()?,
            priority: has(flag::PRIORITY).then(|| reader.u8()).transpose()?,
            correlation_id: text(flag::CORRELATION_ID, reader)?,
            reply_to: text(flag::REPLY_TO, reader)?,
            expiration: text(flag::EXPIRATION, reader)?,
            message_id: text(flag::MESSAGE_ID, reader)?,
            timestamp: has(flag::TIMESTAMP).then(|| reader.u64()).transpose()?,
            kind: text(flag::KIND, reader)?,
            user_id: text(flag::USER_ID, reader)?,
            app_id: text(flag::APP_ID, reader)?,
            cluster_id: text(flag::CLUSTER_ID, reader)?,
        })
    }

    /// Appends the properties as in a content header, flags first.
    pub fn write(&self, out: &mut Vec<u8>) {
        let at = out.len();
        let mut flags = 0_u16;
        out.put_u16(0);
        let mut text = |flag: u16, text: &Option<String>, out: &mut Vec<u8>| {
            if let Some(text) = text {
                flags |= flag;
                out.put_short(text);
            }
        };
        text(flag::CONTENT_TYPE, &self.content_type, out);
        text(flag::CONTENT_ENCODING, &self.content_encoding, out);
        self.headers.iter().for_each(|headers| headers.write(out));
        self.delivery_mode.iter().for_each(|mode| out.put_u8(*mode));
        self.priority.iter().for_each(|priority| out.put_u8(*priority));
        text(flag::CORRELATION_ID, &self.correlation_id, out);
        text(flag::REPLY_TO, &self.reply_to, out);
        text(flag::EXPIRATION, &self.expiration, out);
        text(flag::MESSAGE_ID, &self.message_id, out);
        self.timestamp.iter().for_each(|seconds| out.put_u64(*seconds));
        text(flag::KIND, &self.kind, out);
        text(flag::USER_ID, &self.user_id, out);
        text(flag::APP_ID, &self.app_id, out);
        text(flag::CLUSTER_ID, &self.cluster_id, out);
        flags |= u16::from(self.headers.is_some()) * flag::HEADERS;
        flags |= u16::from(self.delivery_mode.is_some()) * flag::DELIVERY_MODE;
        flags |= u16::from(self.priority.is_some()) * flag::PRIORITY;
        flags |= u16::from(self.timestamp.is_some()) * flag::TIMESTAMP;
        out[at..at + 2].copy_from_slice(&flags.to_be_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::table::Value;

    #[test]
    fn properties_read_back() {
        fn check(properties: &Properties) {
            let mut bytes = Vec::new();
            properties.write(&mut bytes);
            assert_eq!(Properties::parse(&bytes).as_ref(), Ok(properties));
        }
        let text = |text: &str| Some(text.to_owned());
        check(&Properties::default());
        check(&Properties::with_delivery_mode(true));
        check(&Properties {
            content_type: text("a/b"),
            content_encoding: text("utf-8"),
            headers: Some(Table(vec![("h".to_owned(), Value::Bool(true))])),
            delivery_mode: Some(2),
            priority: Some(9),
            correlation_id: text("c"),
            reply_to: text("r"),
            expiration: text("1000"),
            message_id: text("m"),
            timestamp: Some(77),
            kind: text("k"),
            user_id: text("u"),
            app_id: text("app"),
            cluster_id: text("cluster"),
        });
    }

    #[test]
    fn delivery_mode_on_the_wire() {
        let mut bytes = Vec::new();
        Properties::with_delivery_mode(true).write(&mut bytes);
        assert_eq!(bytes, [0x10, 0, 2]);
    }
}
