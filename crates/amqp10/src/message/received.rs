//! Parts of a received message besides its body.

use rabbitscope_protocol::Malformed;

use crate::{
    codec::{Descriptor, Reader, Value},
    protocol::codes::{HEADER, MESSAGE_ANNOTATIONS, PROPERTIES},
};

/// Name of the annotation with the offset in a stream.
const STREAM_OFFSET: &str = "x-stream-offset";

/// Returns whether the header says that the message may have been delivered before.
#[inline]
pub(crate) fn is_redelivered(message: &[u8]) -> bool {
    let Some(Value::List(mut header)) = section(message, HEADER) else { return false };
    // `durable`, `priority`, `ttl`, `first-acquirer`
    let mut read = || Ok::<_, Malformed>((header.skip(3)?, header.value()?, header.uint()?));
    // An absent `first-acquirer` says nothing, whatever its default.
    read().is_ok_and(|((), is_first, failed)| {
        matches!(is_first, Value::Boolean(false)) || failed.is_some_and(|count| count > 0)
    })
}

/// Returns the offset in a stream.
pub(crate) fn stream_offset(message: &[u8]) -> Option<u64> {
    let Value::Map(annotations) = section(message, MESSAGE_ANNOTATIONS)? else { return None };
    annotations.pairs().find_map(|(key, value)| match (key.words(), value) {
        (Some(STREAM_OFFSET), Value::Unsigned(offset)) => Some(offset),
        (Some(STREAM_OFFSET), Value::Signed(offset)) => u64::try_from(offset).ok(),
        _ => None,
    })
}

/// Returns the subject.
pub(crate) fn subject(message: &[u8]) -> Option<&str> {
    let Value::List(mut properties) = section(message, PROPERTIES)? else { return None };
    // `message-id`, `user-id`, `to`
    properties.skip(3).ok()?;
    properties.value().ok()?.words()
}

/// Returns the value of a section up to the properties.
fn section(message: &[u8], wanted: u8) -> Option<Value<'_>> {
    let mut reader = Reader::new(message, "a message");
    loop {
        let Value::Described(Descriptor::Code(code), mut value) = reader.value().ok()? else {
            return None;
        };
        if code == u64::from(wanted) {
            return value.value().ok();
        }
        if code > u64::from(MESSAGE_ANNOTATIONS) {
            return None;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const BODY: &[u8] = b"\x00\x53\x75\xa0\x01x";

    #[test]
    fn the_header_tells_repeated_deliveries() {
        let check = |header: &[u8], expected: bool| {
            assert_eq!(is_redelivered(&[header, BODY].concat()), expected, "{header:x?}");
        };
        check(b"", false);
        check(b"\x00\x53\x70\x45", false);
        check(b"\x00\x53\x70\xc0\x05\x04\x41\x40\x40\x41", false);
        check(b"\x00\x53\x70\xc0\x05\x04\x41\x40\x40\x42", true);
        check(b"\x00\x53\x70\xc0\x07\x05\x41\x40\x40\x41\x52\x02", true);
    }

    #[test]
    fn an_annotation_has_the_offset() {
        let header = b"\x00\x53\x70\xc0\x02\x01\x41";
        let annotations = b"\x00\x53\x72\xc1\x14\x02\xa3\x0fx-stream-offset\x53\x07";
        let message = [&header[..], annotations, BODY].concat();
        assert_eq!(stream_offset(&message), Some(7));
        assert_eq!(stream_offset(&[&header[..], BODY].concat()), None);
        for end in 0..header.len() + annotations.len() {
            assert_eq!(stream_offset(&message[..end]), None, "{end}");
        }
    }
}
