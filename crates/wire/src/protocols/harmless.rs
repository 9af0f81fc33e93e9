//! Keys whose values reveal nothing about an application's data or its users. They are kept in written packets.

/// Properties of clients and brokers.
const PROPERTIES: [&[u8]; 7] = [
    b"capabilities",
    b"cluster_name",
    b"copyright",
    b"information",
    b"platform",
    b"product",
    b"version",
];

/// Arguments of queues, exchanges, consumers and streams that RabbitMQ knows.
const ARGUMENTS: [&[u8]; 31] = [
    b"alternate-exchange",
    b"initial-cluster-size",
    b"match-unfiltered",
    b"max-age",
    b"max-length-bytes",
    b"name",
    b"queue-leader-locator",
    b"single-active-consumer",
    b"stream-max-segment-size-bytes",
    b"super-stream",
    b"x-cancel-on-ha-failover",
    b"x-dead-letter-exchange",
    b"x-dead-letter-routing-key",
    b"x-dead-letter-strategy",
    b"x-delayed-type",
    b"x-delivery-limit",
    b"x-expires",
    b"x-initial-cluster-size",
    b"x-match",
    b"x-max-age",
    b"x-max-length",
    b"x-max-length-bytes",
    b"x-max-priority",
    b"x-message-ttl",
    b"x-overflow",
    b"x-priority",
    b"x-queue-leader-locator",
    b"x-queue-mode",
    b"x-queue-type",
    b"x-single-active-consumer",
    b"x-stream-max-segment-size-bytes",
];

pub(super) fn is_property(key: &[u8]) -> bool {
    PROPERTIES.contains(&key)
}

pub(crate) fn is_argument(key: &[u8]) -> bool {
    ARGUMENTS.contains(&key)
}
