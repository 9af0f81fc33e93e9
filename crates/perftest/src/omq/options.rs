//! The options of omq, those of all its commands in one table.

use crate::arguments::{ProgramOption, Support, Values};

const MIXED: Support =
    Support::Unsupported("a group settles all its messages alike: give a group for each outcome");

const START: Support = Support::Unsupported(
    "clients connect before the load, several at a time (`broker.connect-parallel`)",
);

const INSTANCES: Support = Support::Unsupported("give every machine the same `run.start-at`");

const SESSION: Support = Support::Unsupported("sessions of MQTT end with their connections");

const PROPERTIES: Support = Support::Unsupported("messages of AMQP 1.0 have no such part here");

const FILTER: Support =
    Support::Unsupported("consumers of AMQP 1.0 filter streams by value only (`filter-values`)");

/// Options in the order of the program's source.
pub(super) const OPTIONS: [ProgramOption; 81] = [
    ("", "uri", Values::Many, Support::Supported),
    ("", "publisher-uri", Values::Many, Support::Supported),
    ("", "consumer-uri", Values::Many, Support::Supported),
    ("", "management-uri", Values::Many, Support::Supported),
    (
        "",
        "spread-connections",
        Values::None,
        Support::Unsupported("connections begin at each address in turn, always"),
    ),
    ("", "tls-skip-verify", Values::None, Support::Supported),
    ("x", "publishers", Values::One, Support::Supported),
    ("C", "pmessages", Values::One, Support::Supported),
    ("t", "publish-to", Values::One, Support::Supported),
    ("", "publisher-id", Values::One, Support::Unsupported("clients have names of the run")),
    ("y", "consumers", Values::One, Support::Supported),
    ("D", "cmessages", Values::One, Support::Supported),
    ("T", "consume-from", Values::One, Support::Supported),
    ("", "consumer-id", Values::One, Support::Unsupported("clients have names of the run")),
    ("", "stream-offset", Values::One, Support::Supported),
    ("", "stream-filter-values", Values::One, Support::Supported),
    ("", "stream-filter-value-set", Values::Many, Support::Supported),
    ("", "consumer-priority", Values::One, Support::Supported),
    ("", "consumer-credits", Values::One, Support::Supported),
    ("L", "consumer-latency", Values::One, Support::Supported),
    ("", "detect-out-of-order-messages", Values::None, Support::Supported),
    ("", "detect-gaps-in-messages", Values::None, Support::Supported),
    ("", "consumer-startup-delay", Values::One, Support::Supported),
    ("", "requeue-when-priority", Values::Many, MIXED),
    ("", "discard-when-priority", Values::Many, MIXED),
    ("", "requeue-rate", Values::One, Support::Supported),
    ("", "discard-rate", Values::One, Support::Supported),
    ("", "queues", Values::One, Support::Supported),
    ("", "cleanup-queues", Values::None, Support::Supported),
    (
        "",
        "queue-durability",
        Values::One,
        Support::Unsupported("queues of AMQP 1.0 have the durability of their declaration"),
    ),
    ("", "binding-key", Values::One, Support::Supported),
    ("", "exchange", Values::One, Support::Supported),
    ("", "queue-args", Values::Many, Support::Supported),
    ("s", "size", Values::One, Support::Supported),
    ("r", "rate", Values::One, Support::Supported),
    ("c", "max-in-flight", Values::One, Support::Supported),
    ("d", "message-durability", Values::Optional, Support::Supported),
    ("", "message-priority", Values::One, Support::Supported),
    ("", "message-ttl", Values::One, Support::Supported),
    ("", "metric-tags", Values::Many, Support::Unsupported("the run record has the scenario")),
    (
        "l",
        "log-level",
        Values::One,
        Support::Unsupported("`--plain` and `--json` choose the output of a run"),
    ),
    ("", "print-all-metrics", Values::None, Support::Unsupported("the record has all figures")),
    (
        "m",
        "use-millis",
        Values::None,
        Support::Unsupported("latencies are in nanoseconds, and measured by one clock"),
    ),
    ("z", "time", Values::One, Support::Supported),
    ("", "parallel-publisher-start", Values::None, START),
    ("", "parallel-consumer-start", Values::None, START),
    ("", "publisher-batch-size", Values::One, START),
    ("", "publisher-batch-wait", Values::One, START),
    ("", "consumer-batch-size", Values::One, START),
    ("", "consumer-batch-wait", Values::One, START),
    ("", "expected-instances", Values::One, INSTANCES),
    ("", "expected-instances-endpoint", Values::One, INSTANCES),
    ("", "mqtt-consumer-version", Values::One, Support::Supported),
    ("", "mqtt-consumer-qos", Values::One, Support::Supported),
    ("", "mqtt-consumer-clean-session", Values::None, SESSION),
    ("", "mqtt-consumer-session-expiry-interval", Values::One, SESSION),
    (
        "",
        "mqtt-subscriptions-per-consumer",
        Values::One,
        Support::Unsupported("give `topics` of a group as many filters"),
    ),
    ("", "mqtt-publisher-version", Values::One, Support::Supported),
    ("", "mqtt-publisher-qos", Values::One, Support::Supported),
    ("", "mqtt-publisher-clean-session", Values::None, SESSION),
    ("", "mqtt-publisher-session-expiry-interval", Values::One, SESSION),
    (
        "",
        "mqtt-user-property",
        Values::Many,
        Support::Unsupported("messages of MQTT have no properties here"),
    ),
    ("", "amqp-app-property", Values::Many, PROPERTIES),
    ("", "amqp-msg-annotation", Values::Many, PROPERTIES),
    ("", "amqp-subject", Values::Many, PROPERTIES),
    ("", "amqp-to", Values::Many, PROPERTIES),
    (
        "",
        "amqp-send-settled",
        Values::None,
        Support::Unsupported(
            "RabbitMQ tells the fate of messages only if it is asked, so publishers ask",
        ),
    ),
    ("", "amqp-app-property-filter", Values::Many, FILTER),
    ("", "amqp-property-filter", Values::Many, FILTER),
    ("", "amqp-sql-filter", Values::One, FILTER),
    ("", "amqp-jms-selector", Values::One, FILTER),
    (
        "",
        "amqp-browse",
        Values::None,
        Support::Unsupported("consumers take messages out of their queues"),
    ),
    ("", "amqp-consume-settled", Values::None, Support::Supported),
    ("", "amqp-modify-rate", Values::One, MIXED),
    ("", "amqp-modify", Values::One, MIXED),
    ("", "amqp091-mandatory", Values::None, Support::Supported),
    ("", "amqp091-header", Values::Many, Support::Supported),
    ("", "stream-single-active-consumer", Values::None, Support::Supported),
    ("", "stream-super-stream", Values::None, Support::Supported),
    ("", "stream-super-stream-partitions", Values::One, Support::Supported),
    ("h", "help", Values::None, Support::Unsupported("`rabbitscope run --help`")),
];
