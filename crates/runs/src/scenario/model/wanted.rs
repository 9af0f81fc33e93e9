//! The messages of publishers that a consumer's filter lets through.

use std::collections::BTreeMap;

use super::{
    consumers::ConsumerGroup, protocol::Protocol, publishers::PublisherGroup, topology::FieldValue,
};

/// Header, or annotation, with the value by which a stream filters.
pub(in crate::scenario) const FILTER_VALUE: &str = "x-stream-filter-value";

/// Beginnings of a condition's text: the value starts, or ends, with the rest.
const PREFIX: &str = "&p:";
const SUFFIX: &str = "&s:";

/// A fact about messages that the scenario does not determine.
struct Unknown;

impl ConsumerGroup {
    /// Returns whether the consumers get the messages of these publishers; `None` if they get some of them, or if this
    /// program cannot tell.
    pub fn wants(&self, publishers: &PublisherGroup) -> Option<bool> {
        let by_value = self.wants_values(publishers)?;
        let filter = &self.filter;
        if filter.is_empty() || !by_value {
            return Some(by_value);
        }
        // Messages of other protocols have other properties after their conversion.
        if filter.sql.is_some() || publishers.protocol != Protocol::Amqp10 {
            return None;
        }
        let headers = &publishers.properties.headers;
        let header =
            |name: &str| Ok(headers.get(name).filter(|_| !name.starts_with("x-")).cloned());
        let property = |name: &str| publishers.amqp10_property(name);
        let by_properties = fulfils(&filter.properties, property).ok()?;
        Some(by_properties && fulfils(&filter.headers, header).ok()?)
    }

    /// Returns whether messages have a value that the filter of a stream wants; `None` if some have one.
    fn wants_values(&self, publishers: &PublisherGroup) -> Option<bool> {
        let wanted = self.wanted_values();
        if wanted.is_empty() {
            return Some(true);
        }
        let header = publishers.properties.headers.get(FILTER_VALUE).and_then(FieldValue::text);
        let values = publishers.filter_values.iter().map(String::as_str).chain(header);
        let mut each = values.map(|value| wanted.contains(&value));
        let Some(first) = each.next() else { return Some(self.wants_unfiltered()) };
        each.all(|next| next == first).then_some(first)
    }
}

impl PublisherGroup {
    /// Returns a property of messages of AMQP 1.0 by its name in the specification.
    fn amqp10_property(&self, name: &str) -> Result<Option<FieldValue>, Unknown> {
        let properties = &self.properties;
        let text = match name {
            "message-id" => &properties.message_id,
            "user-id" => &properties.user_id,
            "subject" => &properties.subject,
            "reply-to" => &properties.reply_to,
            "correlation-id" => &properties.correlation_id,
            "content-type" => &properties.content_type,
            "content-encoding" => &properties.content_encoding,
            "group-id" => &properties.group_id,
            _ => return Err(Unknown),
        };
        Ok(text.clone().map(FieldValue::Text))
    }
}

/// Returns whether values fulfil all conditions.
fn fulfils(
    conditions: &BTreeMap<String, FieldValue>,
    value: impl Fn(&str) -> Result<Option<FieldValue>, Unknown>,
) -> Result<bool, Unknown> {
    let mut all = true;
    for (name, condition) in conditions {
        let value = value(name)?;
        all &= match (condition, &value) {
            (FieldValue::Text(condition), _) if condition.starts_with('&') => {
                let text = value.as_ref().and_then(FieldValue::text);
                match (condition.strip_prefix(PREFIX), condition.strip_prefix(SUFFIX)) {
                    (Some(start), _) => text.is_some_and(|text| text.starts_with(start)),
                    (_, Some(end)) => text.is_some_and(|text| text.ends_with(end)),
                    // Other signs are an escape.
                    (None, None) => return Err(Unknown),
                }
            }
            (condition, value) => value.as_ref() == Some(condition),
        };
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use crate::scenario::parse;

    fn check(protocol: &str, publishers: &str, consumers: &str, expected: Option<bool>) {
        let text = format!(
            "name = \"w\"\nrun.duration = \"1s\"\nqueues = [{{ name = \"s\", type = \"stream\" }}]\n\
             [[publishers]]\nqueue = \"s\"\nprotocol = \"{protocol}\"\n{publishers}\n\
             [[consumers]]\nqueue = \"s\"\nprotocol = \"{protocol}\"\n{consumers}\n"
        );
        let scenario = parse(&text, "test", &[]).unwrap();
        let wants = scenario.consumers[0].wants(&scenario.publishers[0]);
        assert_eq!(wants, expected, "{publishers} {consumers}");
    }

    #[test]
    fn values_are_wanted_by_readers_of_streams() {
        let streams = |publishers: &str, consumers: &str, expected| {
            check("stream", publishers, consumers, expected);
        };
        streams("", "", Some(true));
        streams("filter-values = [\"a\"]", "", Some(true));
        streams("filter-values = [\"a\"]", "filter-values = [\"a\", \"b\"]", Some(true));
        streams("filter-values = [\"a\", \"b\"]", "filter-values = [\"a\", \"b\"]", Some(true));
        streams("filter-values = [\"a\"]", "filter-values = [\"b\"]", Some(false));
        streams("filter-values = [\"a\", \"b\"]", "filter-values = [\"b\"]", None);
        streams("", "filter-values = [\"b\"]", Some(false));
        streams("", "filter-values = [\"b\"]\nmatch-unfiltered = true", Some(true));
    }

    #[test]
    fn conditions_are_those_of_the_broker() {
        let both = |properties: &str, filter: &str, expected| {
            let publishers = format!("properties = {{ {properties} }}");
            let consumers = format!("prefetch = 9\noffset = \"first\"\nfilter = {{ {filter} }}");
            check("amqp-1.0", &publishers, &consumers, expected);
        };
        let given =
            "subject = \"order.eu\", headers = { region = \"eu\", attempt = 1, x-a = \"b\" }";
        both(given, "properties = { subject = \"order.eu\" }", Some(true));
        both(given, "properties = { subject = \"order\" }", Some(false));
        both(given, "properties = { subject = \"&p:order.\" }", Some(true));
        both(given, "properties = { subject = \"&s:.us\" }", Some(false));
        both(given, "properties = { message-id = \"m\" }", Some(false));
        both(given, "properties = { to = \"t\" }", None);
        both(given, "headers = { region = \"eu\", attempt = 1 }", Some(true));
        both(given, "headers = { region = \"eu\", attempt = 2 }", Some(false));
        both(given, "headers = { x-a = \"b\" }", Some(false));
        both(given, "headers = { region = \"&&p\" }", None);
        both(given, "sql = \"region = 'eu'\"", None);
    }
}
