//! Content headers: size of the body, and properties.

use rabbitscope_amqp::protocol::{
    frames::DIRECT_REPLY_TO,
    methods::BASIC,
    properties::{
        CONTENT_ENCODING, CONTENT_TYPE, CORRELATION_ID, DELIVERY_MODE, HEADERS, MORE_FLAGS,
        PERSISTENT, PRIORITY, REPLY_TO,
    },
};

use super::super::{
    arguments::{Arguments, hash},
    details::ContentHeader,
};

/// Reads a content header from its payload, or from the payload's beginning. Returns none for classes other than
/// `basic`.
pub(super) fn header(payload: &[u8]) -> Option<ContentHeader> {
    let mut arguments = Arguments::new(payload);
    let (class, _weight) = (arguments.u16()?, arguments.u16()?);
    if class != BASIC {
        return None;
    }
    let mut header = ContentHeader { body_bytes: arguments.u64()?, ..ContentHeader::default() };
    header.is_read = properties(&mut header, arguments).is_some();
    Some(header)
}

fn properties(header: &mut ContentHeader, mut arguments: Arguments<'_>) -> Option<()> {
    let flags = arguments.u16()?;
    let mut more = flags;
    while more & MORE_FLAGS != 0 {
        more = arguments.u16()?;
    }
    for flag in [CONTENT_TYPE, CONTENT_ENCODING] {
        if flags & flag != 0 {
            arguments.short()?;
        }
    }
    if flags & HEADERS != 0 {
        arguments.long()?;
    }
    if flags & DELIVERY_MODE != 0 {
        header.is_persistent = arguments.u8()? == PERSISTENT;
    }
    if flags & PRIORITY != 0 {
        arguments.u8()?;
    }
    if flags & CORRELATION_ID != 0 {
        let text = arguments.short()?;
        // A capture written without values has zeros here, so all its messages would have the same id.
        let is_blank = !text.is_empty() && text.iter().all(|byte| *byte == 0);
        header.correlation_id = Some(hash(text)).filter(|_| !is_blank);
    }
    if flags & REPLY_TO != 0 {
        let reply_to = arguments.short()?;
        header.reply_to = Some(hash(reply_to));
        header.wants_direct_reply = reply_to == DIRECT_REPLY_TO.as_bytes();
    }
    Some(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn properties_are_found_behind_others() {
        let mut payload = vec![0, 60, 0, 0, 0, 0, 0, 0, 0, 0, 1, 2];
        payload.extend_from_slice(&[0b1011_1110, 0]);
        payload.extend_from_slice(b"\x04text\0\0\0\x05\x01kt\x01V\x02\x09\x02id\x03q.1");
        let header = header(&payload).unwrap();
        let (correlation_id, reply_to) = (Some(hash(b"id")), Some(hash(b"q.1")));
        let expected = ContentHeader {
            body_bytes: 258,
            is_persistent: true,
            correlation_id,
            reply_to,
            wants_direct_reply: false,
            is_read: true,
        };
        assert_eq!(header, expected);
        let cut = super::header(&payload[..payload.len() - 2]).unwrap();
        assert_eq!((cut.correlation_id, cut.reply_to, cut.is_read), (correlation_id, None, false));
        assert!(super::header(&[0, 61, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0]).is_none());
    }
}
