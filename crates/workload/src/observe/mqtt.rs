//! The protocol of a flow, and everything else that only clients of MQTT have.

/// The exchange of MQTT, unless the broker's settings name another.
pub(crate) const EXCHANGE: &str = "amq.topic";
/// Bytes of the longest topic or filter. RabbitMQ makes a routing key of it.
const TEXT_MAX: usize = 255;
/// The character that replaces a dot.
const PLACE_OF_DOT: &str = "_";
/// Maximum of filters of a client.
const FILTERS_MAX: usize = 64;

/// The protocol of a flow.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Protocol {
    /// AMQP 0-9-1.
    #[default]
    Amqp091,
    /// AMQP 1.0.
    Amqp10,
    /// The stream protocol.
    Stream,
    /// MQTT.
    Mqtt {
        version: Version,
        /// Quality of service: 0 or 1. RabbitMQ takes 2 for 1.
        qos: u8,
    },
}

impl Protocol {
    pub(crate) const fn is_mqtt(self) -> bool {
        matches!(self, Self::Mqtt { .. })
    }

    /// Returns whether each publisher and each reader has one place, as links of AMQP 1.0 and clients of streams have.
    pub(crate) const fn is_link(self) -> bool {
        matches!(self, Self::Amqp10 | Self::Stream)
    }
}

/// A version of MQTT.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(crate) enum Version {
    #[default]
    Unknown,
    /// 3.1.1, or 3.1.
    V3,
    V5,
}

impl Version {
    pub(super) const fn from_level(level: u8) -> Self {
        if level == 5 { Self::V5 } else { Self::V3 }
    }
}

/// A client.
#[derive(Clone, Debug, Default)]
pub(super) struct Client {
    pub(super) version: Version,
    /// Its identifier; absent if the CONNECT was not seen.
    pub(super) id: Option<String>,
    /// Receive Maximum of MQTT 5.
    pub(super) receive_maximum: Option<u16>,
}

/// Filters of a client.
#[derive(Clone, Debug, Default)]
pub(crate) struct Subscription {
    /// The filters in their order, and whether they are those of a SUBSCRIBE.
    pub(crate) filters: Vec<String>,
    pub(crate) is_seen: bool,
    /// True if they are only the topics of deliveries.
    pub(crate) is_assumed: bool,
}

impl Subscription {
    /// Adds a filter. Returns whether it is valid and finds room.
    pub(super) fn add(&mut self, filter: String) -> bool {
        if self.filters.contains(&filter) {
            return true;
        }
        let is_taken = self.filters.len() < FILTERS_MAX && is_filter(&filter);
        if is_taken {
            self.filters.push(filter);
        }
        is_taken
    }
}

/// Everything that is counted because a scenario does not express it.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Counts {
    /// Messages that the broker keeps for later subscribers.
    pub(crate) retained: u64,
    /// Messages and filters with quality of service 2.
    pub(crate) of_quality_2: u64,
    /// Messages of topics that no packet showed, or that are none.
    pub(crate) without_topic: u64,
    /// Messages and filters with a dot in a level.
    pub(crate) with_dot: u64,
    /// Filters that are none, shared, or too many.
    pub(crate) without_filter: u64,
    /// Clients with a will, with a session that outlives the connection, and with publishes of both qualities.
    pub(crate) wills: u64,
    pub(crate) persistent: u64,
    pub(crate) of_both_qualities: u64,
}

/// Returns whether a text can be the topic of a message (section 4.7 of MQTT 3.1.1).
pub(crate) fn is_topic(text: &str) -> bool {
    is_text(text) && !text.contains(['+', '#'])
}

/// Returns whether a text can be a filter. RabbitMQ has no shared subscriptions.
fn is_filter(text: &str) -> bool {
    let levels = text.split('/').count();
    let is_right = |(at, level): (usize, &str)| match level {
        "+" => true,
        "#" => at + 1 == levels,
        _ => !level.contains(['+', '#']),
    };
    is_text(text) && !text.starts_with("$share/") && text.split('/').enumerate().all(is_right)
}

fn is_text(text: &str) -> bool {
    !text.is_empty() && text.len() <= TEXT_MAX && !text.contains('\0')
}

/// Returns the filter of a binding's key. The broker has slashes for dots of topics.
pub(super) fn filter(routing_key: &str) -> String {
    let level =
        |word: &str| if word == "*" { "+".to_owned() } else { word.replace('/', PLACE_OF_DOT) };
    routing_key.split('.').map(level).collect::<Vec<_>>().join("/")
}

/// Returns a topic or a filter as a scenario can have it: in its routing keys, a dot is the end of a level.
pub(super) fn without_dots(text: &str) -> String {
    text.replace('.', PLACE_OF_DOT)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn filters_and_topics_are_those_of_a_scenario() {
        fn check(text: &str, expected: (bool, bool)) {
            assert_eq!((is_topic(text), is_filter(text)), expected, "{text}");
        }
        check("a/b", (true, true));
        check("a/+/#", (false, true));
        check("#/a", (false, false));
        check("a+", (false, false));
        check("$share/g/a", (true, false));
        check("", (false, false));
        check("a\0", (false, false));
        check(&"a".repeat(256), (false, false));
    }

    #[test]
    fn a_binding_has_its_filter() {
        assert_eq!(filter("a.*.b.#"), "a/+/b/#");
        // That of the filter `v1.0/+`.
        assert_eq!(filter("v1/0.*"), without_dots("v1.0/+"));
    }
}
