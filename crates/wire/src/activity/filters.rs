//! Filters of a subscription of MQTT.

use crate::protocols::{ArgumentBytes, variable};

/// The filters of a SUBSCRIBE, as they were sent, or the first of them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Filters<'a>(&'a [u8]);

impl<'a> Filters<'a> {
    /// Takes the filters of a packet. While the level is unknown, there may be properties before them: in MQTT 5 at least
    /// their length, which then is no filter.
    pub fn new(bytes: &'a [u8], level: Option<u8>) -> Self {
        if level.is_some() || is_whole(bytes) {
            return Self(bytes);
        }
        let mut rest = ArgumentBytes::new(bytes);
        let length = variable(&mut rest).and_then(|length| usize::try_from(length).ok());
        let skipped = length.and_then(|length| rest.bytes(length));
        Self(skipped.map_or(&[], |_| rest.rest()))
    }

    /// Returns each filter with the quality of service that the client asks for.
    pub fn each(self) -> impl Iterator<Item = (&'a [u8], u8)> {
        let mut rest = ArgumentBytes::new(self.0);
        core::iter::from_fn(move || next(&mut rest))
    }
}

/// Returns a filter that is not empty, and its options (sections 3.8.3 of MQTT 3.1.1 and 5).
fn next<'a>(rest: &mut ArgumentBytes<'a>) -> Option<(&'a [u8], u8)> {
    let length = rest.u16()?;
    let filter = rest.bytes(usize::from(length)).filter(|filter| !filter.is_empty())?;
    Some((filter, rest.u8()? & 0b11))
}

fn is_whole(bytes: &[u8]) -> bool {
    let mut rest = ArgumentBytes::new(bytes);
    while !rest.rest().is_empty() {
        if next(&mut rest).is_none() {
            return false;
        }
    }
    true
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_are_found_behind_properties() {
        fn check(bytes: &[u8], level: Option<u8>, expected: &[(&[u8], u8)]) {
            let read: Vec<_> = Filters::new(bytes, level).each().collect();
            assert_eq!(read, expected, "{bytes:?}");
        }
        let two = b"\0\x03a/#\x01\0\x01+\0";
        check(two, Some(4), &[(b"a/#", 1), (b"+", 0)]);
        check(two, None, &[(b"a/#", 1), (b"+", 0)]);
        check(b"\0\0\x03a/#\x2e", None, &[(b"a/#", 2)]);
        check(b"\x02\x0b\x07\0\x01a\x01", None, &[(b"a", 1)]);
        check(b"\0\x03a/#\x01\0\x04cut", Some(4), &[(b"a/#", 1)]);
        check(b"", None, &[]);
    }
}
