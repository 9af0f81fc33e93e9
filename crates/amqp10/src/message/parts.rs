//! A message in parts, for senders whose messages differ in their addresses or subjects.

use rabbitscope_protocol::{Encoded, sections};

use super::sections::Sections;
use crate::codec::FRAME_HEAD;

/// Bytes of the first frame before a message's sections: its head, and a performative of 19 bytes.
const FIRST_FRAME_HEAD: usize = FRAME_HEAD + 19;

/// The properties of a message, with its address or subject.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Properties(pub(super) Vec<u8>);

impl Properties {
    /// Encodes the properties of `sections`.
    pub fn new(sections: &Sections) -> Self {
        let mut bytes = Vec::new();
        sections.write_properties(&mut bytes);
        Self(bytes)
    }

    /// Returns their bytes on the wire.
    pub fn wire_size(&self) -> usize {
        self.0.len()
    }
}

/// The other sections of a message, and its body. Its head can differ each time: the beginning of the body, or the property
/// that [`Sections::blank`] names.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parts {
    pub(super) before: Vec<u8>,
    pub(super) behind: Vec<u8>,
    /// Place of the head in `behind`.
    pub(super) head_at: usize,
    /// Bytes of the head.
    pub(super) head_size: usize,
    body_size: usize,
}

impl Parts {
    /// Encodes a message with this body, without its properties.
    pub fn new(sections: &Sections, body: &[u8]) -> Self {
        let (mut before, mut behind) = (Vec::new(), Vec::with_capacity(body.len() + 16));
        sections.write_before_properties(&mut before);
        let blank_at = sections.write_behind_properties(&mut behind);
        let body_at = behind.len();
        let body_at = body_at + sections::write_body(&mut behind, body);
        let blank = blank_at.zip(sections.blank.as_ref());
        let (head_at, head_size) =
            blank.map_or((body_at, body.len()), |(at, blank)| (at, blank.size));
        Self { before, behind, head_at, head_size, body_size: body.len() }
    }
}

impl Encoded for Parts {
    fn body_size(&self) -> usize {
        self.body_size
    }

    fn head_room(&self) -> usize {
        // A frame has room for all sections of usual sizes, and then for at least this part of the body.
        self.head_size.min(64)
    }

    fn wire_size(&self) -> usize {
        FIRST_FRAME_HEAD + self.before.len() + self.behind.len()
    }
}
