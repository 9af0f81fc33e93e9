//! Error conditions (part 2, section 2.8.14) of close, end, detach, and of a rejected delivery.

use core::ops::Range;

use super::{
    super::{arguments::Arguments, prefix::Prefix},
    private,
};

const DISPOSITION: u8 = 0x15;
const DETACH: u8 = 0x16;
const CLOSE: u8 = 0x18;
/// A described value with the numeric descriptor of an error, as all known programs write it.
const ERROR: [u8; 3] = [0, 0x53, 0x1d];

/// Returns condition and description, such as `amqp:not-found: no queue`; none if the performative has no error.
pub(super) fn error(descriptor: u8, fields: &[u8]) -> Option<Vec<u8>> {
    if !matches!(descriptor, DISPOSITION | DETACH..=CLOSE) {
        return None;
    }
    place(fields)?;
    let kept = without_values(fields);
    let mut list = Arguments::new(&kept[place(&kept)? + ERROR.len()..]);
    match list.u8()? {
        0xc0 => drop(list.bytes(2)?),
        0xd0 => drop(list.bytes(8)?),
        _ => return None,
    }
    let mut text = text(&mut list)?.to_vec();
    if let Some(description) = self::text(&mut list).filter(|text| !text.is_empty()) {
        text.extend_from_slice(b": ");
        text.extend_from_slice(description);
    }
    Some(text)
}

fn place(fields: &[u8]) -> Option<usize> {
    fields.windows(ERROR.len()).position(|window| window == ERROR)
}

/// Blanks application values, so that none of their bytes looks like an error.
fn without_values(fields: &[u8]) -> Vec<u8> {
    let mut kept = fields.to_owned();
    let end = fields.len();
    let mut blank = |range: Range<usize>| kept[range.start.min(end)..range.end.min(end)].fill(0);
    // Of a long list, only the beginning may be present.
    Prefix::read(fields, (end, usize::MAX), &mut blank, private::fields);
    kept
}

/// Reads a symbol or a string.
fn text<'a>(list: &mut Arguments<'a>) -> Option<&'a [u8]> {
    match list.u8()? {
        0xa1 | 0xa3 => list.short(),
        0xb1 | 0xb3 => list.long(),
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn conditions_have_their_descriptions() {
        let fields = b"\0\x53\x1d\xc0\x15\x02\xa3\x0eamqp:not-found\xa1\x02no";
        let text = |descriptor| error(descriptor, fields);
        assert_eq!(text(CLOSE).as_deref(), Some(&b"amqp:not-found: no"[..]));
        assert_eq!(text(0x10), None);
        let alone = b"\0\x53\x1d\xc0\x11\x01\xa3\x0eamqp:not-found\x40";
        assert_eq!(error(DETACH, alone).as_deref(), Some(&b"amqp:not-found"[..]));
        assert_eq!(error(CLOSE, b"\0\x53\x1d\xc0"), None);
    }

    #[test]
    fn values_of_applications_are_no_errors() {
        let field = [&b"\xa1\x15"[..], b"\0\x53\x1d\xc0\x10\x01\xa3\x0damqp:a-secret"].concat();
        assert!(error(DISPOSITION, &field).is_some());
        let map = [&b"\xc1\x1b\x02\xa3\x01k"[..], &field].concat();
        assert_eq!(error(DISPOSITION, &map), None);
    }
}
