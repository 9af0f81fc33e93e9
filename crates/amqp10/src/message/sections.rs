//! The sections of a message before its body.

use crate::{
    codec::Write,
    protocol::codes::{APPLICATION_PROPERTIES, HEADER, MESSAGE_ANNOTATIONS, PROPERTIES},
};

/// Name of the annotation with the value for a stream's filter.
const FILTER_VALUE: &str = "x-stream-filter-value";

/// The sections of a message before its body.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sections {
    /// True if the message survives a restart of the broker. It is always told, because releases differ in their
    /// assumption.
    pub durable: bool,
    /// Priority in a queue.
    pub priority: Option<u8>,
    /// Time after which the message expires, in milliseconds.
    pub ttl: Option<u32>,
    /// The value that filters of streams know.
    pub filter_value: Option<String>,
    /// The address, for links without a target.
    pub to: Option<String>,
    /// The routing key, for targets without one.
    pub subject: Option<String>,
    /// MIME type of the body.
    pub content_type: Option<String>,
    /// Pairs of texts.
    pub application_properties: Vec<(String, String)>,
}

impl Sections {
    /// Appends the sections before the properties.
    pub(super) fn write_before_properties(&self, out: &mut Vec<u8>) {
        out.put_code(HEADER);
        out.put_list(|header| {
            header.put(|out| out.put_boolean(self.durable));
            header.put_some(self.priority, Vec::put_ubyte);
            header.put_some(self.ttl, Vec::put_uint);
        });
        if let Some(value) = &self.filter_value {
            out.put_code(MESSAGE_ANNOTATIONS);
            out.put_map(|map| {
                map.put(|out| out.put_symbol(FILTER_VALUE));
                map.put(|out| out.put_text(value));
            });
        }
    }

    /// Appends the properties, if there are any.
    pub(super) fn write_properties(&self, out: &mut Vec<u8>) {
        if self.to.is_none() && self.subject.is_none() && self.content_type.is_none() {
            return;
        }
        out.put_code(PROPERTIES);
        out.put_list(|properties| {
            // `message-id`, `user-id`
            properties.nulls(2);
            properties.put_some(self.to.as_deref(), Vec::put_text);
            properties.put_some(self.subject.as_deref(), Vec::put_text);
            // `reply-to`, `correlation-id`
            properties.nulls(2);
            properties.put_some(self.content_type.as_deref(), Vec::put_symbol);
        });
    }

    /// Appends the sections between the properties and the body.
    pub(super) fn write_behind_properties(&self, out: &mut Vec<u8>) {
        if !self.application_properties.is_empty() {
            out.put_code(APPLICATION_PROPERTIES);
            out.put_map(|map| {
                for (name, value) in &self.application_properties {
                    map.put(|out| out.put_text(name));
                    map.put(|out| out.put_text(value));
                }
            });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(sections: &Sections, expected: &[u8]) {
        let mut out = Vec::new();
        sections.write_before_properties(&mut out);
        sections.write_properties(&mut out);
        sections.write_behind_properties(&mut out);
        assert_eq!(out, expected);
    }

    #[test]
    fn the_header_is_always_there() {
        check(&Sections::default(), b"\x00\x53\x70\xc0\x02\x01\x42");
        let durable = Sections { durable: true, ..Sections::default() };
        check(&durable, b"\x00\x53\x70\xc0\x02\x01\x41");
        let urgent = Sections { priority: Some(9), ttl: Some(256), ..durable };
        check(&urgent, b"\x00\x53\x70\xc0\x09\x03\x41\x50\x09\x70\x00\x00\x01\x00");
    }

    #[test]
    fn other_sections_follow_in_the_order_of_the_specification() {
        let some = |text: &str| Some(text.to_owned());
        let sections = Sections {
            durable: true,
            filter_value: some("v"),
            subject: some("key"),
            content_type: some("t"),
            application_properties: vec![("a".to_owned(), "b".to_owned())],
            ..Sections::default()
        };
        let expected = [
            &b"\x00\x53\x70\xc0\x02\x01\x41"[..],
            b"\x00\x53\x72\xc1\x1b\x02\xa3\x15x-stream-filter-value\xa1\x01v",
            b"\x00\x53\x73\xc0\x0e\x07\x40\x40\x40\xa1\x03key\x40\x40\xa3\x01t",
            b"\x00\x53\x74\xc1\x07\x02\xa1\x01a\xa1\x01b",
        ]
        .concat();
        check(&sections, &expected);
    }
}
