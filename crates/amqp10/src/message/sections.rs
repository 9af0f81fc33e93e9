//! The sections of a message before its body.

use rabbitscope_protocol::sections;

use crate::{
    codec::{List, Write},
    protocol::codes::{
        AMQP_VALUE, APPLICATION_PROPERTIES, HEADER, MESSAGE_ANNOTATIONS, PROPERTIES,
    },
    scalar::Scalar,
};

/// The sections of a message before its body.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Sections {
    /// True if the message survives a restart of the broker. It is always told, because releases differ in their
    /// assumption.
    pub durable: bool,
    /// Priority in a queue.
    pub priority: Option<u8>,
    /// Time after which the message expires, in milliseconds.
    pub ttl: Option<u32>,
    /// Annotations, such as `x-stream-filter-value`.
    pub annotations: Vec<(String, Scalar)>,
    /// Number of the message for applications.
    pub message_id: Option<String>,
    /// The sender, which the broker checks.
    pub user_id: Option<String>,
    /// The address, for links without a target.
    pub to: Option<String>,
    /// The purpose of the message. It is the routing key for targets without one.
    pub subject: Option<String>,
    /// Address for replies.
    pub reply_to: Option<String>,
    /// Number of the message that this one belongs to.
    pub correlation_id: Option<String>,
    /// MIME type of the body.
    pub content_type: Option<String>,
    /// Encoding of the body, such as `gzip`.
    pub content_encoding: Option<String>,
    /// Time of its making, in milliseconds since 1970.
    pub creation_time: Option<i64>,
    /// The group of messages that this one is one of.
    pub group_id: Option<String>,
    /// Properties of the application.
    pub application_properties: Vec<(String, Scalar)>,
    /// A property of the application that differs in each message. It takes the place of the body's beginning.
    pub blank: Option<Blank>,
}

/// A property of the application whose value is filled in for each message.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Blank {
    /// Its name.
    pub name: String,
    /// Bytes of its value.
    pub size: usize,
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
        if !self.annotations.is_empty() {
            out.put_code(MESSAGE_ANNOTATIONS);
            out.put_map(|map| put_pairs(map, &self.annotations, Vec::put_symbol));
        }
    }

    /// Appends the properties, if there are any.
    pub(super) fn write_properties(&self, out: &mut Vec<u8>) {
        let mut properties = List::default();
        let put = |list: &mut List, text: &Option<String>| {
            list.put_some(text.as_deref(), Vec::put_text);
        };
        let list = &mut properties;
        put(list, &self.message_id);
        list.put_some(self.user_id.as_deref().map(str::as_bytes), Vec::put_binary);
        put(list, &self.to);
        put(list, &self.subject);
        put(list, &self.reply_to);
        put(list, &self.correlation_id);
        list.put_some(self.content_type.as_deref(), Vec::put_symbol);
        list.put_some(self.content_encoding.as_deref(), Vec::put_symbol);
        // `absolute-expiry-time`
        list.nulls(1);
        list.put_some(self.creation_time, Vec::put_timestamp);
        put(list, &self.group_id);
        let (_, count) = list.elements();
        if count > 0 {
            out.put_code(PROPERTIES);
            out.put_list(|list| *list = properties);
        }
    }

    /// Appends the sections between the properties and the body. Returns the offset of the value to fill in.
    pub(super) fn write_behind_properties(&self, out: &mut Vec<u8>) -> Option<usize> {
        let mut map = List::default();
        put_pairs(&mut map, &self.application_properties, Vec::put_text);
        if let Some(Blank { name, size }) = &self.blank {
            return Some(sections::write_properties(out, (name, *size), map.elements()));
        }
        if !self.application_properties.is_empty() {
            out.put_code(APPLICATION_PROPERTIES);
            out.put_map(|list| *list = map);
        }
        None
    }
}

/// Appends a request of HTTP over AMQP: a method and its target, with a content.
pub(crate) fn write_request(
    out: &mut Vec<u8>,
    message_id: &str,
    (method, target): (&str, &str),
    content: &[u8],
) {
    let text = |text: &str| Some(text.to_owned());
    let properties = Sections {
        message_id: text(message_id),
        to: text(target),
        subject: text(method),
        reply_to: text("$me"),
        ..Sections::default()
    };
    properties.write_properties(out);
    out.put_code(AMQP_VALUE);
    out.put_binary(content);
}

fn put_pairs(map: &mut List, pairs: &[(String, Scalar)], write_key: impl Fn(&mut Vec<u8>, &str)) {
    for (name, value) in pairs {
        map.put(|out| write_key(out, name));
        map.put(|out| value.write(out));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn pair(name: &str, value: &str) -> (String, Scalar) {
        (name.to_owned(), Scalar::Text(value.to_owned()))
    }

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
            annotations: vec![pair("x-stream-filter-value", "v")],
            subject: some("key"),
            content_type: some("t"),
            application_properties: vec![pair("a", "b")],
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
    #[test]
    fn properties_have_the_places_of_the_specification() {
        let some = |text: &str| Some(text.to_owned());
        let sections = Sections {
            message_id: some("m"),
            user_id: some("u"),
            reply_to: some("r"),
            correlation_id: some("c"),
            content_encoding: some("e"),
            creation_time: Some(5),
            group_id: some("g"),
            ..Sections::default()
        };
        let mut out = Vec::new();
        sections.write_properties(&mut out);
        let expected = [
            &b"\x00\x53\x73\xc0\x20\x0b\xa1\x01m\xa0\x01u\x40\x40"[..],
            b"\xa1\x01r\xa1\x01c\x40\xa3\x01e\x40\x83\0\0\0\0\0\0\0\x05\xa1\x01g",
        ]
        .concat();
        assert_eq!(out, expected);
    }

    #[test]
    fn a_blank_property_precedes_the_others() {
        let blank = Some(Blank { name: "s".to_owned(), size: 2 });
        let alone = Sections { blank, ..Sections::default() };
        let mut out = Vec::new();
        assert_eq!(alone.write_behind_properties(&mut out), Some(11));
        assert_eq!(out, b"\x00\x53\x74\xc1\x08\x02\xa1\x01s\xa0\x02\0\0");
        let both = Sections { application_properties: vec![pair("a", "b")], ..alone };
        let mut out = Vec::new();
        assert_eq!(both.write_behind_properties(&mut out), Some(11));
        assert_eq!(out, b"\x00\x53\x74\xc1\x0e\x04\xa1\x01s\xa0\x02\0\0\xa1\x01a\xa1\x01b");
    }
}
