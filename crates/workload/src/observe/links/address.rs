//! Addresses of AMQP 1.0, of both of RabbitMQ's versions.

use rabbitscope_wire::activity::Place;

use super::super::seen::text;

/// The place of a link's messages.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(in super::super) enum Address {
    /// A queue, by the default exchange.
    Queue(String),
    /// An exchange. Without a key, each message has it as its subject.
    Exchange { exchange: String, key: Option<String> },
    /// None: each message has its own.
    PerMessage,
    /// RabbitMQ's management, or the coordinator of transactions: no messages of a load.
    Control,
    /// Not known, or of another form.
    Unknown,
}

impl Address {
    pub(in super::super) fn from_place(place: Place<'_>) -> Self {
        match place {
            Place::Address(address) => Self::from_text(address),
            Place::Stream(stream) => Self::Queue(text(stream)),
            Place::PerMessage => Self::PerMessage,
            Place::Transactions => Self::Control,
        }
    }

    pub(in super::super) fn from_text(address: &[u8]) -> Self {
        let address = text(address);
        if let Some(queue) = address.strip_prefix("/queues/") {
            return Self::of_queue(queue, decoded);
        }
        if let Some(path) = address.strip_prefix("/exchanges/") {
            return Self::of_exchange(path, decoded, Some(String::new()));
        }
        for prefix in ["/amq/queue/", "/queue/"] {
            if let Some(queue) = address.strip_prefix(prefix) {
                return Self::of_queue(queue, decoded_v1);
            }
        }
        if let Some(path) = address.strip_prefix("/exchange/") {
            return Self::of_exchange(path, decoded_v1, None);
        }
        if let Some(key) = address.strip_prefix("/topic/") {
            let exchange = "amq.topic".to_owned();
            return Self::Exchange { exchange, key: Some(decoded_v1(key)) };
        }
        match address.as_str() {
            "/management" => Self::Control,
            // The plugin before 4.0 takes it for a queue.
            name if !name.is_empty() && !name.contains('/') => Self::Queue(decoded_v1(name)),
            _ => Self::Unknown,
        }
    }

    fn of_queue(name: &str, decode: fn(&str) -> String) -> Self {
        if name.is_empty() || name.contains('/') {
            return Self::Unknown;
        }
        Self::Queue(decode(name))
    }

    fn of_exchange(path: &str, decode: fn(&str) -> String, no_key: Option<String>) -> Self {
        match path.split_once('/') {
            _ if path.is_empty() => Self::Unknown,
            None => Self::Exchange { exchange: decode(path), key: no_key },
            Some((_, key)) if key.contains('/') => Self::Unknown,
            Some((exchange, key)) => {
                Self::Exchange { exchange: decode(exchange), key: Some(decode(key)) }
            }
        }
    }
}

/// Decodes a segment of version 2: percent-encoded bytes of UTF-8.
fn decoded(segment: &str) -> String {
    let mut bytes = Vec::with_capacity(segment.len());
    let mut rest = segment.as_bytes();
    while let [first, later @ ..] = rest {
        let escaped = later.split_at_checked(2).filter(|_| *first == b'%');
        let number = escaped.and_then(|(digits, behind)| {
            let digits = core::str::from_utf8(digits).ok()?;
            Some((u8::from_str_radix(digits, 16).ok()?, behind))
        });
        let (byte, behind) = number.unwrap_or((*first, later));
        bytes.push(byte);
        rest = behind;
    }
    text(&bytes)
}

/// Decodes a segment of version 1, where each character is a byte of the name, and a slash is escaped.
fn decoded_v1(segment: &str) -> String {
    let bytes: Option<Vec<u8>> =
        segment.chars().map(|character| u8::try_from(u32::from(character)).ok()).collect();
    let name = bytes.map_or_else(|| segment.to_owned(), |bytes| text(&bytes));
    name.replace("%2F", "/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_of_both_versions_have_their_names() {
        fn check(address: &str, expected: &Address) {
            assert_eq!(&Address::from_text(address.as_bytes()), expected, "{address}");
        }
        let queue = |name: &str| Address::Queue(name.to_owned());
        let exchange = |name: &str, key: Option<&str>| Address::Exchange {
            exchange: name.to_owned(),
            key: key.map(str::to_owned),
        };
        check("/queues/pr%2Fobe%2010", &queue("pr/obe 10"));
        check("/queues/50%25-%C3%BC", &queue("50%-ü"));
        check("/queues/50%", &queue("50%"));
        check("/amq/queue/pr%2Fobe 10", &queue("pr/obe 10"));
        check("/queue/50%-Ã¼", &queue("50%-ü"));
        check("q", &queue("q"));
        check("/exchanges/x/a%2Fb", &exchange("x", Some("a/b")));
        check("/exchanges/x", &exchange("x", Some("")));
        check("/exchange/x", &exchange("x", None));
        check("/exchange/x/a.b", &exchange("x", Some("a.b")));
        check("/topic/a.b", &exchange("amq.topic", Some("a.b")));
        check("/management", &Address::Control);
        for unknown in ["", "/queues/", "/queues/a/b", "/temp-queue/a", "/exchanges/a/b/c"] {
            check(unknown, &Address::Unknown);
        }
        // Names are text of others.
        assert_eq!(Address::from_text(b"/queues/%FF\xff"), queue("\u{fffd}\u{fffd}"));
    }
}
