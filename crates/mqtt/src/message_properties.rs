//! Properties of messages of MQTT 5, encoded before they are sent.

use crate::{
    codec::Put as _,
    protocol::properties::{
        CONTENT_TYPE, CORRELATION_DATA, MESSAGE_EXPIRY_INTERVAL, RESPONSE_TOPIC, USER_PROPERTY,
    },
};

/// Properties of messages of MQTT 5.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties {
    /// Time after which the broker drops the message, in seconds.
    pub message_expiry_interval: Option<u32>,
    /// MIME type of the body.
    pub content_type: Option<String>,
    /// Topic for replies.
    pub response_topic: Option<String>,
    /// Number of the message that this one belongs to.
    pub correlation_data: Option<String>,
    /// Names and values of the application.
    pub user_properties: Vec<(String, String)>,
    /// A name of the application whose value differs in each message.
    pub blank: Option<Blank>,
}

/// A user property whose value is filled in for each message: bytes as hexadecimal digits.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blank {
    /// Its name.
    pub name: String,
    /// Number of bytes, each of which has two digits.
    pub size: usize,
}

impl Properties {
    /// Returns the encoded properties without their length. The blank value is the last of them.
    pub(crate) fn encode(&self) -> Vec<u8> {
        let mut out = Vec::new();
        if let Some(seconds) = self.message_expiry_interval {
            out.push(MESSAGE_EXPIRY_INTERVAL);
            out.extend_from_slice(&seconds.to_be_bytes());
        }
        let texts = [
            (CONTENT_TYPE, &self.content_type),
            (RESPONSE_TOPIC, &self.response_topic),
            (CORRELATION_DATA, &self.correlation_data),
        ];
        for (identifier, text) in texts {
            if let Some(text) = text {
                out.push(identifier);
                out.put_text(text);
            }
        }
        let blank = self.blank.iter();
        let blank = blank.map(|blank| (blank.name.clone(), "0".repeat(2 * blank.size)));
        for (name, value) in self.user_properties.iter().cloned().chain(blank) {
            out.push(USER_PROPERTY);
            out.put_text(&name);
            out.put_text(&value);
        }
        out
    }
}

/// Fills digits with the hexadecimal form of bytes, two for each.
#[inline]
pub(crate) fn put_digits(digits: &mut [u8], bytes: &[u8]) {
    const DIGITS: &[u8; 16] = b"0123456789abcdef";
    for (pair, byte) in digits.chunks_exact_mut(2).zip(bytes) {
        pair[0] = DIGITS[usize::from(byte >> 4)];
        pair[1] = DIGITS[usize::from(byte & 0x0f)];
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_have_their_identifiers() {
        let some = |text: &str| Some(text.to_owned());
        let properties = Properties {
            message_expiry_interval: Some(258),
            content_type: some("t"),
            response_topic: some("r/s"),
            correlation_data: some("c"),
            user_properties: vec![("a".to_owned(), "b".to_owned())],
            blank: Some(Blank { name: "s".to_owned(), size: 1 }),
        };
        let expected = [
            &b"\x02\x00\x00\x01\x02\x03\x00\x01t\x08\x00\x03r/s\x09\x00\x01c"[..],
            b"\x26\x00\x01a\x00\x01b\x26\x00\x01s\x00\x0200",
        ]
        .concat();
        assert_eq!(properties.encode(), expected);
        assert_eq!(Properties::default().encode(), b"");
    }

    #[test]
    fn digits_are_lower_case() {
        let mut digits = *b"000000";
        put_digits(&mut digits, &[0x00, 0xaf, 0x19]);
        assert_eq!(&digits, b"00af19");
    }
}
