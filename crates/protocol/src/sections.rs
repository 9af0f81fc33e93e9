//! Messages of AMQP 1.0, which streams have as well: their sections, and the body among them.

/// Start of a section's descriptor: a described type with a small code.
const DESCRIBED: [u8; 2] = [0x00, 0x53];

/// Code of the section with annotations for brokers.
const ANNOTATIONS: u8 = 0x72;

/// Code of the section with the application's properties.
const APPLICATION_PROPERTIES: u8 = 0x74;

/// Types of a map, with sizes of one and four bytes.
const SHORT_MAP: u8 = 0xc1;
const LONG_MAP: u8 = 0xd1;

/// Type of a text, with a size of one byte.
const SHORT_TEXT: u8 = 0xa1;
/// Type of a key of annotations.
const SHORT_SYMBOL: u8 = 0xa3;

/// Code of a section with bytes.
const DATA: u8 = 0x75;

/// Code of a section with any value.
const VALUE: u8 = 0x77;

/// Types of bytes, with lengths of one and four bytes.
const SHORT_BYTES: u8 = 0xa0;
const LONG_BYTES: u8 = 0xb0;

/// Appends the section of a message whose body is `body`. Returns the offset of the body within it.
pub fn write_body(out: &mut Vec<u8>, body: &[u8]) -> usize {
    let start = out.len();
    out.extend_from_slice(&DESCRIBED);
    out.push(DATA);
    if let Ok(length) = u8::try_from(body.len()) {
        out.extend_from_slice(&[SHORT_BYTES, length]);
    } else {
        out.push(LONG_BYTES);
        out.extend_from_slice(&u32::try_from(body.len()).unwrap_or(u32::MAX).to_be_bytes());
    }
    let at = out.len() - start;
    out.extend_from_slice(body);
    at
}

/// Appends a section with one property of the application, whose value is `size` zero bytes. Returns the offset of the value
/// within the section. `name` has at most 255 bytes, as has the value.
pub fn write_property(out: &mut Vec<u8>, name: &str, size: usize) -> usize {
    write_properties(out, (name, size), (&[], 0))
}

/// Appends a section with such a property, and with others: `count` encoded names and values. Returns the offset of the
/// value within the section.
pub fn write_properties(
    out: &mut Vec<u8>,
    (name, size): (&str, usize),
    (others, count): (&[u8], u32),
) -> usize {
    let start = out.len();
    // Two bytes stand before the name, and before the value.
    let bytes = 2 + name.len() + 2 + size + others.len();
    let [name_size, value_size] =
        [name.len(), size].map(|bytes| u8::try_from(bytes).unwrap_or(u8::MAX));
    out.extend_from_slice(&DESCRIBED);
    out.push(APPLICATION_PROPERTIES);
    if let (Ok(bytes), Ok(count)) = (u8::try_from(1 + bytes), u8::try_from(2 + count)) {
        out.extend_from_slice(&[SHORT_MAP, bytes, count]);
    } else {
        out.push(LONG_MAP);
        let bytes = u32::try_from(4 + bytes).unwrap_or(u32::MAX);
        out.extend_from_slice(&bytes.to_be_bytes());
        out.extend_from_slice(&(2 + count).to_be_bytes());
    }
    out.extend_from_slice(&[SHORT_TEXT, name_size]);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&[SHORT_BYTES, value_size]);
    let at = out.len() - start;
    out.resize(out.len() + size, 0);
    out.extend_from_slice(others);
    at
}

/// Appends a section with one annotation, whose value is a text. Name and value together have at most 250 bytes.
pub fn write_annotation(out: &mut Vec<u8>, name: &str, value: &str) {
    // The number of elements, and two bytes before each of them.
    let bytes = 1 + 2 + name.len() + 2 + value.len();
    let [bytes, name_size, value_size] =
        [bytes, name.len(), value.len()].map(|bytes| u8::try_from(bytes).unwrap_or(u8::MAX));
    out.extend_from_slice(&DESCRIBED);
    out.extend_from_slice(&[ANNOTATIONS, SHORT_MAP, bytes, 2, SHORT_SYMBOL, name_size]);
    out.extend_from_slice(name.as_bytes());
    out.extend_from_slice(&[SHORT_TEXT, value_size]);
    out.extend_from_slice(value.as_bytes());
}

/// Returns the text of an annotation; `None` if the message has none of this name.
pub fn annotation<'a>(message: &'a [u8], name: &str) -> Option<&'a [u8]> {
    element(message, ANNOTATIONS, name)
}

/// Returns the bytes or text of a property of the application; `None` if the message has none of this name.
pub fn property<'a>(message: &'a [u8], name: &str) -> Option<&'a [u8]> {
    element(message, APPLICATION_PROPERTIES, name)
}

/// Returns the value of a key in the section with this code.
fn element<'a>(message: &'a [u8], section_code: u8, name: &str) -> Option<&'a [u8]> {
    let mut rest = message;
    while let [0x00, 0x53, code, section @ ..] = rest {
        let (content, behind) = split_value(section)?;
        if *code == section_code {
            let is_short = section.first() == Some(&SHORT_MAP);
            let mut elements = content.get(if is_short { 1 } else { 4 }..)?;
            while !elements.is_empty() {
                let (key, behind) = split_value(elements)?;
                let (value, behind) = split_value(behind)?;
                if key == name.as_bytes() {
                    return Some(value);
                }
                elements = behind;
            }
            return None;
        }
        rest = behind;
    }
    None
}

/// Returns the first bytes or text of the body; `None` if there are none or the message is damaged. Bytes that are no
/// message of AMQP 1.0 are a body themselves.
#[inline]
pub fn body(message: &[u8]) -> Option<&[u8]> {
    if let [0x00, 0x53, DATA, SHORT_BYTES, length, body @ ..] = message
        && body.len() == usize::from(*length)
    {
        return Some(body);
    }
    if !message.starts_with(&DESCRIBED) {
        return Some(message);
    }
    let mut rest = message;
    while let [0x00, 0x53, code, section @ ..] = rest {
        let (content, behind) = split_value(section)?;
        if matches!(*code, DATA | VALUE) {
            return Some(content);
        }
        rest = behind;
    }
    None
}

/// Splits a value that is not described into its content without type and length, and the bytes behind it.
fn split_value(bytes: &[u8]) -> Option<(&[u8], &[u8])> {
    let (kind, rest) = bytes.split_first()?;
    let (size, rest) = match kind >> 4 {
        0x4 => (0, rest),
        0x5 => (1, rest),
        0x6 => (2, rest),
        0x7 => (4, rest),
        0x8 => (8, rest),
        0x9 => (16, rest),
        0xa | 0xc | 0xe => {
            let (size, rest) = rest.split_first()?;
            (usize::from(*size), rest)
        }
        0xb | 0xd | 0xf => {
            let (size, rest) = rest.split_first_chunk()?;
            (u32::from_be_bytes(*size) as usize, rest)
        }
        _ => return None,
    };
    rest.split_at_checked(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn written(body: &[u8]) -> Vec<u8> {
        let mut out = b"before".to_vec();
        let at = write_body(&mut out, body);
        assert_eq!(&out[6 + at..], body);
        out.split_off(6)
    }

    #[test]
    fn a_property_is_found_by_its_name() {
        let mut message = Vec::new();
        let at = write_property(&mut message, "stamp", 3);
        message[at..].copy_from_slice(b"123");
        assert_eq!(message, b"\x00\x53\x74\xc1\x0d\x02\xa1\x05stamp\xa0\x03123");
        write_body(&mut message, b"body");
        assert_eq!(property(&message, "stamp"), Some(&b"123"[..]));
        assert_eq!(property(&message, "other"), None);
        assert_eq!(body(&message), Some(&b"body"[..]));
        let long = [
            &b"\x00\x53\x70\x45\x00\x53\x74\xd1\0\0\0\x12\0\0\0\x04"[..],
            b"\xa1\x01a\x54\x07\xb1\0\0\0\x01b\xa0\x01z",
        ];
        assert_eq!(property(&long.concat(), "b"), Some(&b"z"[..]));
        assert_eq!(property(&long.concat()[..20], "b"), None, "cut off");
    }

    #[test]
    fn a_property_stands_before_others() {
        for size in [1, 300] {
            let other =
                [&b"\xa1\x01a\xb0\x00\x00"[..], &u16::to_be_bytes(size), &vec![7; size.into()]];
            let mut message = b"before".to_vec();
            let at = write_properties(&mut message, ("stamp", 3), (&other.concat(), 2));
            message[6 + at..][..3].copy_from_slice(b"123");
            write_body(&mut message, b"body");
            assert_eq!(property(&message[6..], "stamp"), Some(&b"123"[..]), "{size}");
            assert_eq!(property(&message[6..], "a").map(<[u8]>::len), Some(size.into()));
            assert_eq!(body(&message[6..]), Some(&b"body"[..]));
        }
    }

    #[test]
    fn an_annotation_is_found_by_its_name() {
        let mut message = Vec::new();
        write_annotation(&mut message, "x-a", "ü");
        assert_eq!(message, b"\x00\x53\x72\xc1\x0a\x02\xa3\x03x-a\xa1\x02\xc3\xbc");
        write_property(&mut message, "x-a", 1);
        write_body(&mut message, b"body");
        assert_eq!(annotation(&message, "x-a"), Some("ü".as_bytes()));
        assert_eq!(property(&message, "x-a"), Some(&b"\0"[..]));
        assert_eq!(body(&message), Some(&b"body"[..]));
    }

    #[test]
    fn a_small_message_has_five_bytes_besides_its_body() {
        assert_eq!(written(b"0123456789ab"), b"\x00\x53\x75\xa0\x0c0123456789ab");
    }

    #[test]
    fn bodies_of_all_sizes_are_read_back() {
        for size in [0, 1, 255, 256, 70_000] {
            let bytes = vec![7; size];
            assert_eq!(body(&written(&bytes)), Some(&bytes[..]), "{size}");
        }
    }

    #[test]
    fn other_sections_are_passed_over() {
        let header = b"\x00\x53\x70\xc0\x02\x01\x41";
        let properties = b"\x00\x53\x73\xd0\x00\x00\x00\x05\x00\x00\x00\x01\x40";
        let message = [&header[..], properties, &written(b"x")].concat();
        assert_eq!(body(&message), Some(&b"x"[..]));
        assert_eq!(body(b"\x00\x53\x77\xa1\x02hi"), Some(&b"hi"[..]), "a text");
    }

    #[test]
    fn damaged_messages_have_no_body() {
        let whole = [&b"\x00\x53\x70\xc0\x02\x01\x41"[..], &written(b"body")].concat();
        for end in 2..whole.len() {
            assert_eq!(body(&whole[..end]), None, "{end}");
        }
        assert_eq!(body(b"\x00\x53\x75\x10"), None);
    }

    #[test]
    fn other_bytes_are_the_body() {
        for bytes in [&b"plain"[..], b"", b"\x00"] {
            assert_eq!(body(bytes), Some(bytes));
        }
    }
}
