//! Values of AMQP 1.0 in their order (part 1, section 1.2).

use super::super::arguments::Arguments;

/// Limit on nested descriptors.
const DEPTH_MAX: u32 = 4;

/// Values that follow each other.
#[derive(Clone, Debug)]
pub(crate) struct Elements<'a>(Arguments<'a>);

/// A value.
#[derive(Clone, Debug)]
pub(crate) struct Element<'a> {
    /// Number of the descriptor of a described value.
    pub(crate) descriptor: Option<u64>,
    pub(crate) content: Content<'a>,
    /// Bytes of the value itself: of a text those of its characters.
    pub(crate) bytes: usize,
}

/// The content of a value.
#[derive(Clone, Debug)]
pub(crate) enum Content<'a> {
    Null,
    Bool(bool),
    /// A whole number of any width.
    Number(i128),
    /// A string or a symbol.
    Text(&'a [u8]),
    Binary(&'a [u8]),
    List(Elements<'a>),
    /// Keys and values in turn.
    Map(Elements<'a>),
    Other,
}

impl<'a> Elements<'a> {
    pub(crate) const fn new(bytes: &'a [u8]) -> Self {
        Self(Arguments::new(bytes))
    }

    /// Returns the content of the next value; null behind the last one.
    pub(crate) fn content(&mut self) -> Content<'a> {
        self.next().map_or(Content::Null, |element| element.content)
    }

    pub(crate) fn text(&mut self) -> Option<&'a [u8]> {
        match self.content() {
            Content::Text(text) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn unsigned(&mut self) -> Option<u32> {
        match self.content() {
            Content::Number(number) => u32::try_from(number).ok(),
            _ => None,
        }
    }
}

impl<'a> Iterator for Elements<'a> {
    type Item = Element<'a>;

    /// Returns the next value; none at the end, and behind one that is cut off.
    fn next(&mut self) -> Option<Element<'a>> {
        let read = element(&mut self.0, 0);
        if read.is_none() {
            self.0 = Arguments::new(&[]);
        }
        read
    }
}

fn element<'a>(rest: &mut Arguments<'a>, depth: u32) -> Option<Element<'a>> {
    let constructor = rest.u8()?;
    if constructor != 0 {
        let (content, bytes) = content(constructor, rest)?;
        return Some(Element { descriptor: None, content, bytes });
    }
    if depth == DEPTH_MAX {
        return None;
    }
    let descriptor = match element(rest, depth + 1)?.content {
        Content::Number(number) => u64::try_from(number).ok(),
        _ => None,
    };
    Some(Element { descriptor, ..element(rest, depth + 1)? })
}

/// Reads a value by its constructor, whose upper half defines the length.
fn content<'a>(constructor: u8, rest: &mut Arguments<'a>) -> Option<(Content<'a>, usize)> {
    let bytes = match constructor >> 4 {
        4 => &[],
        5 => rest.bytes(1)?,
        6 => rest.bytes(2)?,
        7 => rest.bytes(4)?,
        8 => rest.bytes(8)?,
        9 => rest.bytes(16)?,
        0xa | 0xc | 0xe => rest.short()?,
        0xb | 0xd | 0xf => rest.long()?,
        _ => return None,
    };
    let behind_count = |width: usize| Elements::new(bytes.get(width..).unwrap_or_default());
    let content = match constructor {
        0x40 => Content::Null,
        0x41 => Content::Bool(true),
        0x42 => Content::Bool(false),
        0x56 => Content::Bool(bytes != [0]),
        0x43 | 0x44 => Content::Number(0),
        0x45 => Content::List(Elements::new(&[])),
        0x50 | 0x52 | 0x53 | 0x60 | 0x70 | 0x80 => Content::Number(number(0, bytes)),
        0x51 | 0x54 | 0x55 | 0x61 | 0x71 | 0x81 | 0x83 => {
            let is_negative = bytes.first().is_some_and(|first| *first > 0x7f);
            Content::Number(number(if is_negative { -1 } else { 0 }, bytes))
        }
        0xa0 | 0xb0 => Content::Binary(bytes),
        0xa1 | 0xa3 | 0xb1 | 0xb3 => Content::Text(bytes),
        0xc0 => Content::List(behind_count(1)),
        0xd0 => Content::List(behind_count(4)),
        0xc1 => Content::Map(behind_count(1)),
        0xd1 => Content::Map(behind_count(4)),
        _ => Content::Other,
    };
    Some((content, bytes.len()))
}

fn number(start: i128, bytes: &[u8]) -> i128 {
    bytes.iter().fold(start, |number, byte| number << 8 | i128::from(*byte))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_their_contents() {
        let bytes = b"\x40\x41\x52\x07\x54\xff\xa1\x01q\0\x53\x29\xc0\x05\x02\xa1\x01a\x43\xc1\x05\x02\xa3\x01k\x41";
        let mut elements = Elements::new(bytes);
        assert!(matches!(elements.content(), Content::Null));
        assert!(matches!(elements.content(), Content::Bool(true)));
        assert_eq!(elements.unsigned(), Some(7));
        assert!(matches!(elements.content(), Content::Number(-1)));
        assert_eq!(elements.text(), Some(&b"q"[..]));
        let target = elements.next().unwrap();
        assert_eq!(target.descriptor, Some(0x29));
        let Content::List(mut list) = target.content else { panic!("{target:?}") };
        assert_eq!((list.text(), list.unsigned()), (Some(&b"a"[..]), Some(0)));
        let Content::Map(mut map) = elements.content() else { panic!("a map") };
        assert_eq!(map.text(), Some(&b"k"[..]));
        assert!(elements.next().is_none());
    }

    #[test]
    fn values_that_are_cut_off_end_the_list() {
        for bytes in [&b"\xa1\x05q"[..], b"\0\x53", &[0; 40], b"\x10", b"\xd0\0\0\0\x09"] {
            let mut elements = Elements::new(bytes);
            assert!(elements.next().is_none() && elements.next().is_none(), "{bytes:?}");
        }
    }
}
