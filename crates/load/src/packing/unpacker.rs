//! Unpacking of bodies.

use std::io;

use rabbitscope_amqp::{Properties, Value};
use rabbitscope_runs::scenario::{Algorithm, ITEMS_HEADER};

use super::codec::decompress;

/// The items of a message.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Items {
    pub(crate) count: u32,
    /// Bytes without compression and lengths.
    pub(crate) bytes: u32,
}

/// Unpacks the messages of a group of consumers, as an application does it.
#[derive(Debug, Default)]
pub(crate) struct Unpacker {
    plain: Vec<u8>,
}

impl Items {
    /// The single item of a message that is not unpacked.
    #[inline]
    pub(crate) fn one(body: &[u8]) -> Self {
        Self { count: 1, bytes: u32::try_from(body.len()).unwrap_or(u32::MAX) }
    }
}

impl Unpacker {
    /// Returns the items of a message. A message without properties for items and compression is one item. Fails if the
    /// body does not match its properties.
    pub(crate) fn unpack(&mut self, properties: &[u8], body: &[u8]) -> io::Result<Items> {
        let properties = Properties::parse(properties).map_err(io::Error::other)?;
        self.take_apart(&properties, body)
    }

    fn take_apart(&mut self, properties: &Properties, body: &[u8]) -> io::Result<Items> {
        let encoding = properties.content_encoding.as_deref();
        let algorithm =
            Algorithm::ALL.into_iter().find(|algorithm| Some(algorithm.name()) == encoding);
        let plain = match algorithm {
            Some(algorithm) => {
                decompress(algorithm, body, &mut self.plain)?;
                &self.plain
            }
            None => body,
        };
        let headers = properties.headers.as_ref();
        match headers.and_then(|headers| headers.get(ITEMS_HEADER)) {
            None => Ok(Items::one(plain)),
            Some(Value::Integer(expected)) => {
                let items = read_items(plain)?;
                if i64::from(items.count) != *expected {
                    return Err(io::Error::other("its number of items differs from its header"));
                }
                Ok(items)
            }
            Some(_) => Err(io::Error::other("its header has no number of items")),
        }
    }
}

fn read_items(mut plain: &[u8]) -> io::Result<Items> {
    let mut items = Items::default();
    while let Some((length, rest)) = plain.split_first_chunk() {
        let length = u32::from_be_bytes(*length);
        plain =
            rest.get(length as usize..).ok_or_else(|| io::Error::other("an item is cut off"))?;
        items.count += 1;
        items.bytes = items.bytes.saturating_add(length);
    }
    if plain.is_empty() { Ok(items) } else { Err(io::Error::other("an item is cut off")) }
}

#[cfg(test)]
mod tests {
    use rabbitscope_amqp::Table;
    use rabbitscope_runs::scenario::{Compression, Packing};

    use super::{super::Packer, *};

    fn properties(encoding: Option<&str>, items: Option<i64>) -> Properties {
        let headers =
            items.map(|items| Table(vec![(ITEMS_HEADER.to_owned(), Value::Integer(items))]));
        let content_encoding = encoding.map(str::to_owned);
        Properties { content_encoding, headers, ..Properties::default() }
    }

    #[test]
    fn items_come_back_whatever_packed_them() {
        let items: Vec<Vec<u8>> =
            (0..5_u8).map(|item| vec![item; 10 + usize::from(item)]).collect();
        for algorithm in Algorithm::ALL.into_iter().map(Some).chain([None]) {
            for count in [1, 3, 7] {
                let compression = algorithm
                    .map(|algorithm| Compression { algorithm, level: algorithm.levels().2 });
                let mut packer = Packer::new(Packing { items: count, compression });
                let header = (count > 1).then_some(i64::from(count));
                let properties = properties(algorithm.map(Algorithm::name), header);
                let (mut next, mut unpacker) = (4, Unpacker::default());
                for _ in 0..3 {
                    let (body, bytes) = packer.pack(&items, &mut next);
                    let found = unpacker.take_apart(&properties, body).unwrap();
                    assert_eq!((found.count, u64::from(found.bytes)), (count, bytes));
                }
            }
        }
    }

    #[test]
    fn what_is_not_what_it_says_is_refused() {
        let mut unpacker = Unpacker::default();
        let packed = [&3_u32.to_be_bytes()[..], b"abc"].concat();
        let of = |items| properties(None, items);
        let mut check = |properties: &Properties, body: &[u8], is_right: bool| {
            assert_eq!(unpacker.take_apart(properties, body).is_ok(), is_right, "{body:?}");
        };
        check(&of(Some(1)), &packed, true);
        check(&of(Some(2)), &packed, false);
        check(&of(Some(1)), &packed[..6], false);
        check(&of(Some(1)), &packed[..3], false);
        check(&of(None), &packed[..3], true);
        check(&properties(Some("gzip"), None), &packed, false);
        check(&properties(Some("br"), None), &packed, true);
        assert!(unpacker.unpack(&[0xff; 3], &packed).is_err());
    }
}
