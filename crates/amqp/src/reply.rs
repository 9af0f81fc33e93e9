//! Requests and replies: the properties `reply-to` and `correlation-id`, and messages with them.
//!
//! Every request and reply has its own correlation id, and the request determines the reply's destination. Nothing
//! can be encoded in advance as in a [`crate::PublishTemplate`].

use rabbitscope_protocol::Write as _;

use crate::{
    error::Malformed,
    frame::{FrameKind, OVERHEAD, write_frame},
    protocol::{
        methods::{BASIC, BASIC_PUBLISH},
        properties::{
            CONTENT_ENCODING, CONTENT_TYPE, CORRELATION_ID, DELIVERY_MODE, HEADERS, MORE_FLAGS,
            PERSISTENT, PRIORITY, REPLY_TO,
        },
    },
    wire::{Reader, WriteStrings as _},
};

/// Properties of a request or reply, borrowed.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplyFields<'a> {
    /// Identifier that ties a reply to its request.
    pub correlation_id: Option<&'a [u8]>,
    /// Routing key for replies, through the default exchange.
    pub reply_to: Option<&'a [u8]>,
}

impl<'a> ReplyFields<'a> {
    /// Parses these two among a delivery's properties, and skips the others.
    #[inline]
    pub fn parse(properties: &'a [u8]) -> Result<Self, Malformed> {
        let mut reader = Reader::new(properties);
        let flags = reader.u16()?;
        if flags & MORE_FLAGS != 0 {
            return Err(Malformed("more than 15 property flags"));
        }
        let has = |flag: u16| flags & flag != 0;
        for _ in 0..(flags & (CONTENT_TYPE | CONTENT_ENCODING)).count_ones() {
            reader.short_bytes()?;
        }
        if has(HEADERS) {
            reader.long_bytes()?;
        }
        if has(DELIVERY_MODE) {
            reader.u8()?;
        }
        if has(PRIORITY) {
            reader.u8()?;
        }
        let correlation_id = has(CORRELATION_ID).then(|| reader.short_bytes()).transpose()?;
        let reply_to = has(REPLY_TO).then(|| reader.short_bytes()).transpose()?;
        Ok(Self { correlation_id, reply_to })
    }
}

/// A request or reply, without its body. It goes through the default exchange.
#[derive(Clone, Copy, Debug)]
pub struct Addressed<'a> {
    /// Channel number.
    pub channel: u16,
    /// Routing key, at most 255 bytes.
    pub routing_key: &'a [u8],
    /// Its properties, at most 255 bytes each.
    pub fields: ReplyFields<'a>,
    /// True for delivery mode 2, false for 1.
    pub persistent: bool,
}

impl Addressed<'_> {
    /// Appends the message to `out` in frames of at most `frame_max` bytes.
    #[inline]
    pub(crate) fn write(&self, out: &mut Vec<u8>, body: &[u8], frame_max: u32) {
        write_frame(out, FrameKind::Method, self.channel, |out| {
            out.put_u16(BASIC_PUBLISH.0);
            out.put_u16(BASIC_PUBLISH.1);
            out.put_u16(0);
            out.put_short("");
            put_short_bytes(out, self.routing_key);
            out.put_bits(&[false, false]);
        });
        write_frame(out, FrameKind::Header, self.channel, |out| {
            let ReplyFields { correlation_id, reply_to } = self.fields;
            let flag = |field: Option<&[u8]>, flag: u16| field.map_or(0, |_| flag);
            out.put_u16(BASIC);
            out.put_u16(0);
            out.put_u64(body.len() as u64);
            let flags = flag(correlation_id, CORRELATION_ID) | flag(reply_to, REPLY_TO);
            out.put_u16(DELIVERY_MODE | flags);
            out.put_u8(if self.persistent { PERSISTENT } else { 1 });
            for text in [correlation_id, reply_to].into_iter().flatten() {
                put_short_bytes(out, text);
            }
        });
        let chunk = (frame_max as usize).saturating_sub(OVERHEAD).max(1);
        for part in body.chunks(chunk) {
            write_frame(out, FrameKind::Body, self.channel, |out| out.extend_from_slice(part));
        }
    }
}

/// Appends a string, cut to the length limit of AMQP.
fn put_short_bytes(out: &mut Vec<u8>, bytes: &[u8]) {
    let bytes = &bytes[..bytes.len().min(255)];
    out.put_u8(u8::try_from(bytes.len()).unwrap_or(u8::MAX));
    out.extend_from_slice(bytes);
}

#[cfg(test)]
mod tests {
    use rabbitscope_protocol::Input;

    use super::*;
    use crate::{frame::next_frame, properties::Properties, table::Table};

    fn fields<'a>(id: Option<&'a str>, reply_to: Option<&'a str>) -> ReplyFields<'a> {
        ReplyFields { correlation_id: id.map(str::as_bytes), reply_to: reply_to.map(str::as_bytes) }
    }

    /// Written messages read back, with this parser and with that of all properties.
    #[test]
    fn messages_read_back() {
        fn check(fields: ReplyFields<'_>, body: &[u8], expected_frames: usize) {
            let message =
                Addressed { channel: 3, routing_key: b"requests", fields, persistent: true };
            let mut out = Vec::new();
            message.write(&mut out, body, 4096);
            let (mut frames, mut payloads) = (Input::new(&out), Vec::new());
            while let Some(frame) = next_frame(&mut frames, 4096).unwrap() {
                assert_eq!(frame.channel, 3);
                payloads.push(frame.payload);
            }
            assert_eq!((payloads.len(), frames.consumed()), (expected_frames, out.len()));
            assert_eq!(payloads[0], b"\0\x3c\0\x28\0\0\0\x08requests\0");
            let properties = &payloads[1][12..];
            assert_eq!(ReplyFields::parse(properties).unwrap(), fields);
            let all = Properties::parse(properties).unwrap();
            assert_eq!(all.delivery_mode, Some(2));
            assert_eq!(all.correlation_id.as_deref().map(str::as_bytes), fields.correlation_id);
            assert_eq!(payloads[2..].concat(), body);
        }
        check(fields(Some("00ff"), Some("amq.rabbitmq.reply-to")), b"x", 3);
        check(fields(Some("00ff"), None), &[7; 5000], 4);
        check(fields(None, None), b"", 2);
    }

    #[test]
    fn other_properties_are_skipped() {
        let text = |text: &str| Some(text.to_owned());
        let properties = Properties {
            content_type: text("a/b"),
            content_encoding: text("utf-8"),
            headers: Some(Table::default()),
            priority: Some(3),
            delivery_mode: Some(1),
            correlation_id: text("id"),
            reply_to: text("back"),
            message_id: text("m"),
            ..Properties::default()
        };
        let mut bytes = Vec::new();
        properties.write(&mut bytes);
        assert_eq!(ReplyFields::parse(&bytes), Ok(fields(Some("id"), Some("back"))));
        for end in 0..bytes.len() {
            // A cut at any byte gives an answer or an error, never a panic.
            let _ = ReplyFields::parse(&bytes[..end]);
        }
        assert_eq!(ReplyFields::parse(&[0, 0]), Ok(fields(None, None)));
        assert_eq!(ReplyFields::parse(&[0, 1]), Err(Malformed("more than 15 property flags")));
        assert_eq!(ReplyFields::parse(&[4, 0, 9]), Err(Malformed("short of bytes")));
    }
}
