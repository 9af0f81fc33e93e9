//! The sections of a message before its body (part 3, section 3.2). Of a body, only the length is read.

use super::{
    super::{
        arguments::Arguments,
        details::{Details, Sections},
        framer::{Next, READ_MAX, Ranges},
        sink::FrameSink,
    },
    elements::{Content, Elements},
    grammar::Grammar,
    parts::{HEADER, PROPERTIES, Part, TO},
};

const APPLICATION_PROPERTIES: u8 = 0x74;
const DATA: u8 = 0x75;
const VALUE: u8 = 0x77;
/// Descriptor and constructor of a section.
const HEAD: u32 = 4;
/// Place of the subject among the properties.
const SUBJECT: usize = 3;

impl Grammar {
    /// Continues with the next section of a message.
    pub(super) fn next_section(
        &mut self,
        rest: u32,
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        match rest.checked_sub(HEAD) {
            Some(rest) => self.part(Part::Head, 0, HEAD, rest),
            None => self.body(rest, ranges),
        }
    }

    pub(super) fn message(
        &mut self,
        part: Part,
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        self.sections.before_body += u32::try_from(bytes.len()).unwrap_or(u32::MAX);
        match part {
            Part::Head => self.head(rest, bytes, ranges),
            Part::Size { section, width } => {
                self.size_of_section((section, width), rest, bytes, ranges)
            }
            Part::Content { section, skip } => {
                self.section(section, bytes);
                self.sections.before_body = self.sections.before_body.saturating_add(skip);
                match rest.checked_sub(HEAD) {
                    Some(rest) => self.part(Part::Head, skip, HEAD, rest),
                    None => self.body(rest + skip, ranges),
                }
            }
            Part::Length => {
                if let Details::Transfer(transfer) = &mut self.details {
                    transfer.sections = Some(self.sections);
                }
                self.body(rest, ranges)
            }
        }
    }

    fn head(&mut self, rest: u32, bytes: &[u8], ranges: &mut Ranges<'_, impl FrameSink>) -> Next {
        let &[0, 0x53, section, constructor] = bytes else { return self.body(rest, ranges) };
        let is_read = (HEADER..=APPLICATION_PROPERTIES).contains(&section);
        let part = match (section, constructor) {
            (DATA | VALUE, 0xa0 | 0xa1) if rest >= 1 => {
                return self.part(Part::Length, 0, 1, rest - 1);
            }
            (DATA | VALUE, 0xb0 | 0xb1) if rest >= 4 => {
                return self.part(Part::Length, 0, 4, rest - 4);
            }
            (_, 0x45) if is_read => {
                self.section(section, &[]);
                return self.next_section(rest, ranges);
            }
            (_, 0xc0 | 0xc1) if is_read => Part::Size { section, width: 1 },
            (_, 0xd0 | 0xd1) if is_read => Part::Size { section, width: 4 },
            _ => return self.body(rest, ranges),
        };
        let Part::Size { width, .. } = part else { return self.body(rest, ranges) };
        match rest.checked_sub(2 * width) {
            Some(rest) => self.part(part, 0, 2 * width, rest),
            None => self.body(rest, ranges),
        }
    }

    fn size_of_section(
        &mut self,
        (section, width): (u8, u32),
        rest: u32,
        bytes: &[u8],
        ranges: &mut Ranges<'_, impl FrameSink>,
    ) -> Next {
        // The size includes the bytes of the count.
        let size = match *bytes {
            [size, _] => u32::from(size),
            [a, b, c, d, ..] => u32::from_be_bytes([a, b, c, d]),
            _ => return self.body(rest, ranges),
        };
        let content = size.checked_sub(width).filter(|content| *content <= rest);
        let Some(content) = content else { return self.body(rest, ranges) };
        let most = u32::try_from(READ_MAX).unwrap_or(u32::MAX);
        let read = content.min(most);
        let skip = content - read;
        self.part(Part::Content { section, skip }, 0, read, rest - content)
    }

    /// Reads a section. Of the properties, address and subject are kept, each behind its length.
    fn section(&mut self, section: u8, bytes: &[u8]) {
        let mut elements = Elements::new(bytes);
        match section {
            HEADER => header(&mut self.sections, &mut elements),
            PROPERTIES => {
                for (place, element) in elements.enumerate() {
                    match element.content {
                        Content::Text(text) if matches!(place, TO | SUBJECT) => {
                            let length = u16::try_from(text.len()).unwrap_or(u16::MAX);
                            self.arguments.keep(&[u8::from(place == SUBJECT)]);
                            self.arguments.keep(&length.to_be_bytes());
                            self.arguments.keep(&text[..usize::from(length)]);
                        }
                        Content::Text(text) | Content::Binary(text) => {
                            let bytes = u16::try_from(text.len()).unwrap_or(u16::MAX);
                            let sum = self.sections.text_bytes.saturating_add(bytes);
                            self.sections.text_bytes = sum;
                        }
                        _ => {}
                    }
                }
            }
            _ => entries(&mut self.sections, bytes),
        }
    }
}

fn header(sections: &mut Sections, elements: &mut Elements<'_>) {
    let mut next = || elements.next().map(|element| element.content);
    sections.durable = Some(matches!(next(), Some(Content::Bool(true))));
    if let Some(Content::Number(priority)) = next() {
        sections.priority = u8::try_from(priority).ok();
    }
    if let Some(Content::Number(millis)) = next() {
        sections.ttl = u32::try_from(millis).ok();
    }
}

/// Counts entries of a map, and the bytes of their keys and values.
fn entries(sections: &mut Sections, bytes: &[u8]) {
    let mut elements = Elements::new(bytes);
    while let (Some(key), Some(value)) = (elements.next(), elements.next()) {
        let bytes = u32::try_from(key.bytes + value.bytes).unwrap_or(u32::MAX);
        sections.entries = sections.entries.saturating_add(1);
        sections.entry_bytes = sections.entry_bytes.saturating_add(bytes);
    }
}

/// Returns address and subject of a message, from the arguments of its first transfer.
pub(crate) fn address_and_subject(arguments: &[u8]) -> (Option<&[u8]>, Option<&[u8]>) {
    let (mut rest, mut found) = (Arguments::new(arguments), [None; 2]);
    while let (Some(place), Some(length)) = (rest.u8(), rest.u16()) {
        let Some(text) = rest.bytes(usize::from(length)) else { break };
        found[usize::from(place.min(1))] = Some(text);
    }
    let [to, subject] = found;
    (to, subject)
}
