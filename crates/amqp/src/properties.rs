//! Properties of a message: flags of the present ones, then their values.

use crate::{
    error::Malformed,
    table::Table,
    wire::{Reader, Write},
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
        Self { delivery_mode: Some(if persistent { 2 } else { 1 }), ..Self::default() }
    }

    /// Parses the field `properties` of a delivery.
    pub fn parse(bytes: &[u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(bytes);
        let flags = reader.u16()?;
        if flags & 1 != 0 {
            return Err(Malformed("more than 15 property flags"));
        }
        let has = |at: u32| flags & (1 << (15 - at)) != 0;
        let text =
            |at: u32, reader: &mut Reader<'_>| has(at).then(|| reader.short_text()).transpose();
        let reader = &mut reader;
        Ok(Self {
            content_type: text(0, reader)?,
            content_encoding: text(1, reader)?,
            headers: has(2).then(|| Table::read(reader)).transpose()?,
            delivery_mode: has(3).then(|| reader.u8()).transpose()?,
            priority: has(4).then(|| reader.u8()).transpose()?,
            correlation_id: text(5, reader)?,
            reply_to: text(6, reader)?,
            expiration: text(7, reader)?,
            message_id: text(8, reader)?,
            timestamp: has(9).then(|| reader.u64()).transpose()?,
            kind: text(10, reader)?,
            user_id: text(11, reader)?,
            app_id: text(12, reader)?,
            cluster_id: text(13, reader)?,
        })
    }

    /// Appends the properties as in a content header, flags first.
    pub fn write(&self, out: &mut Vec<u8>) {
        let at = out.len();
        let mut flags = 0_u16;
        out.put_u16(0);
        let mut text = |at: u32, text: &Option<String>, out: &mut Vec<u8>| {
            if let Some(text) = text {
                flags |= 1 << (15 - at);
                out.put_short(text);
            }
        };
        text(0, &self.content_type, out);
        text(1, &self.content_encoding, out);
        self.headers.iter().for_each(|headers| headers.write(out));
        self.delivery_mode.iter().for_each(|mode| out.put_u8(*mode));
        self.priority.iter().for_each(|priority| out.put_u8(*priority));
        text(5, &self.correlation_id, out);
        text(6, &self.reply_to, out);
        text(7, &self.expiration, out);
        text(8, &self.message_id, out);
        self.timestamp.iter().for_each(|seconds| out.put_u64(*seconds));
        text(10, &self.kind, out);
        text(11, &self.user_id, out);
        text(12, &self.app_id, out);
        text(13, &self.cluster_id, out);
        flags |= u16::from(self.headers.is_some()) << 13;
        flags |= u16::from(self.delivery_mode.is_some()) << 12;
        flags |= u16::from(self.priority.is_some()) << 11;
        flags |= u16::from(self.timestamp.is_some()) << 6;
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
