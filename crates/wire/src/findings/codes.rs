//! Advice by an event's kind and code.

use super::advice::Advice;
use crate::report::{
    ConnectionEvent, EventKind,
    Severity::{self, Critical, Note, Warning},
    Side,
};

const fn advice_of(sentence: &'static str, fix: &'static str) -> Advice {
    Advice { sentence, fix }
}

pub(super) const CONNECTION_CHURN: Advice = advice_of(
    "connections are opened for a message each",
    "keep a connection open for as long as the program runs; where a language cannot, put a proxy before the broker",
);

pub(super) const CHANNEL_CHURN: Advice = advice_of(
    "channels are opened for a message or two each",
    "keep a channel open for each thread that publishes",
);

pub(super) const MQTT_LOOP: Advice = advice_of(
    "clients of MQTT are disconnected, connect and are disconnected again",
    "give each client an identifier of its own, or mend what the reason names; let clients wait longer before each further attempt",
);

/// Returns the severity of an event and the advice on it.
pub(super) fn advice(event: &ConnectionEvent) -> (Severity, Advice) {
    match event.kind {
        EventKind::ConnectionClosed => (Critical, closed(event.from, event.code)),
        EventKind::NotThere => (Note, NOT_THERE),
        EventKind::ChannelClosed => (Critical, channel_closed(event.code)),
        EventKind::Returned => (Warning, returned(event.code)),
        EventKind::LoginRefused => (Critical, LOGIN_REFUSED),
        EventKind::Reset | EventKind::IdleReset => (Critical, reset(event)),
        EventKind::ClosedWithout => closed_without(event),
        EventKind::DeliveryRefused => (Note, DELIVERY_REFUSED),
        kind => (severity(kind), of_kind(kind)),
    }
}

const fn severity(kind: EventKind) -> Severity {
    match kind {
        EventKind::PublishRefused
        | EventKind::Blocked
        | EventKind::ConsumerCancelled
        | EventKind::MqttRefused
        | EventKind::StreamRefused
        | EventKind::ShortLived => Warning,
        _ => Critical,
    }
}

const LOGIN_REFUSED: Advice = advice_of(
    "the broker refused a login",
    "check user, password and virtual host; guest may log in from the broker's own machine alone; the broker's log has the reason",
);

const NOT_THERE: Advice = advice_of(
    "a client asks for a queue or an exchange that does not exist",
    "nothing, where the client only looks whether it is there; else declare what the text names first, in this virtual host",
);

const DELIVERY_REFUSED: Advice = advice_of(
    "a client refuses deliveries",
    "look at why it does; a message that is put back at once comes again at once, so use a dead letter exchange or a limit of deliveries",
);

/// Returns the advice by the code of `connection.close`.
const fn closed(from: Side, code: Option<u32>) -> Advice {
    match code {
        Some(320) if matches!(from, Side::Broker) => advice_of(
            "an operator or the end of the node closed a connection (320 CONNECTION_FORCED)",
            "let the client connect again after a while; the text says who closed it",
        ),
        Some(402 | 530) => advice_of(
            "a connection was closed because the broker does not allow what was asked (530 NOT_ALLOWED)",
            "check the virtual host and the user's right to it, limits of connections and channels, and that no consumer tag is used twice",
        ),
        Some(403) => advice_of(
            "the broker refused a login (403 ACCESS_REFUSED)",
            "check user, password and virtual host; guest may log in from the broker's own machine alone",
        ),
        Some(501..=503) => advice_of(
            "a connection was closed because of a frame that the other end does not understand",
            "look for a client library with a defect, a frame that is longer than agreed on (frame_max), or something between that changes bytes",
        ),
        Some(504) => advice_of(
            "a connection was closed because of a channel that is not open (504 CHANNEL_ERROR)",
            "do not use a channel after it was closed: after an error the broker closes it, and a new one has to be opened; do not open one twice",
        ),
        Some(505) => advice_of(
            "a connection was closed because frames came in the wrong order (505 UNEXPECTED_FRAME)",
            "do not use a channel from several threads at once",
        ),
        Some(506) => advice_of(
            "a connection was closed because a limit was reached (506 RESOURCE_ERROR)",
            "look at limits of connections, channels and memory; the text names the one",
        ),
        Some(540) => advice_of(
            "a connection was closed because of something that the broker does not have (540 NOT_IMPLEMENTED)",
            "look at the text, and whether the broker's version has it",
        ),
        Some(541) => advice_of(
            "a connection was closed because of an error inside the broker (541 INTERNAL_ERROR)",
            "look at the broker's log at that time",
        ),
        _ => advice_of(
            "a connection was closed with an error",
            "the text says why; the broker's log may say more",
        ),
    }
}

/// Returns the advice by the code of `channel.close`.
const fn channel_closed(code: Option<u32>) -> Advice {
    match code {
        Some(311) => advice_of(
            "a channel was closed because a message is too large (311 CONTENT_TOO_LARGE)",
            "send it in parts, or keep it elsewhere and send its place; the limit is max_message_size",
        ),
        Some(403) => advice_of(
            "a channel was closed because the user may not do that (403 ACCESS_REFUSED)",
            "give the user the right to configure, write or read what the text names: rabbitmqctl set_permissions",
        ),
        Some(404) => advice_of(
            "a channel was closed because of something that does not exist (404 NOT_FOUND)",
            "declare the queue or exchange that the text names before it is used, in this virtual host",
        ),
        Some(405) => advice_of(
            "a channel was closed because a queue belongs to another connection (405 RESOURCE_LOCKED)",
            "use an exclusive queue from the connection that declared it alone, or declare it without exclusive",
        ),
        Some(406) => advice_of(
            "a channel was closed because a condition does not hold (406 PRECONDITION_FAILED)",
            "declare with the properties that the queue or exchange has; acknowledge each delivery once, on its own channel, and within consumer_timeout",
        ),
        Some(540) => advice_of(
            "a channel was closed because of something that the broker does not have (540 NOT_IMPLEMENTED)",
            "look at the text, and whether the type of queue and the broker's version have it",
        ),
        Some(541) => advice_of(
            "a channel was closed because of an error inside the broker (541 INTERNAL_ERROR)",
            "look at the broker's log at that time",
        ),
        _ => advice_of(
            "a channel was closed with an error",
            "the text says why; open a new channel after it is mended",
        ),
    }
}

/// Returns the advice by the code of `basic.return`.
const fn returned(code: Option<u32>) -> Advice {
    match code {
        Some(312) => advice_of(
            "messages are returned because no queue is bound to take them (312 NO_ROUTE)",
            "bind a queue for their routing key, or set an alternate exchange",
        ),
        _ => advice_of("messages are returned", "the text says why they could not be delivered"),
    }
}

fn reset(event: &ConnectionEvent) -> Advice {
    match (event.kind, event.from) {
        (EventKind::IdleReset, _) => advice_of(
            "a connection was reset after a long silence",
            "something between, a balancer or a firewall, forgets silent connections: agree on heartbeats that are shorter than its limit, or raise the limit",
        ),
        (_, Side::Client) => advice_of(
            "the client reset a connection",
            "the client's program ended, or closed its socket with bytes unread: look at its log at that time, and close the connection first",
        ),
        (_, Side::Broker) => advice_of(
            "the broker's end reset a connection",
            "look at the broker's log at that time: the node may have ended, or given up a write; something between may do it as well",
        ),
    }
}

fn closed_without(event: &ConnectionEvent) -> (Severity, Advice) {
    if event.text == ConnectionEvent::WITHOUT_DISCONNECT {
        return closed_without_disconnect(event.from);
    }
    let is_login = event.text == ConnectionEvent::DURING_LOGIN;
    match (event.from, is_login) {
        (Side::Client, _) => (
            Note,
            advice_of(
                "a client ended its TCP connection without connection.close",
                "close the connection before the program ends; a program that died does this as well",
            ),
        ),
        (Side::Broker, true) => (
            Critical,
            advice_of(
                "the broker ended a connection during the login",
                "check user, password and virtual host; an old client is not told why, so look at the broker's log",
            ),
        ),
        (Side::Broker, false) => (
            Critical,
            advice_of(
                "the broker ended a TCP connection without connection.close",
                "look at the broker's log at that time: heartbeats missed, or the node ended",
            ),
        ),
    }
}

const fn closed_without_disconnect(from: Side) -> (Severity, Advice) {
    match from {
        Side::Client => (
            Note,
            advice_of(
                "a client of MQTT ended its TCP connection without DISCONNECT",
                "send DISCONNECT before the program ends: without it the broker publishes the client's will",
            ),
        ),
        Side::Broker => (
            Critical,
            advice_of(
                "the broker ended a connection of MQTT without a reason",
                "MQTT 3 has none: look for a second client with the same identifier, a missing right or a keep-alive that passed; the broker's log says which",
            ),
        ),
    }
}

const fn of_kind(kind: EventKind) -> Advice {
    match kind {
        EventKind::PublishRefused => advice_of(
            "the broker refuses publishes",
            "look at the queue's limit of length with reject-publish, and at whether its leader can be reached; publish again what was refused",
        ),
        EventKind::Blocked => advice_of(
            "the broker has blocked publishers: an alarm is on",
            "consume what is queued, raise vm_memory_high_watermark or disk_free_limit's space; the reason says which; nothing is taken from publishers until then",
        ),
        EventKind::ConsumerCancelled => advice_of(
            "the broker cancelled a consumer",
            "its queue was deleted or moved: consume again when it is there",
        ),
        EventKind::Amqp10Error => advice_of(
            "AMQP 1.0 reports an error",
            "the condition and its text say what was refused",
        ),
        EventKind::StreamRefused => advice_of(
            "the stream protocol refuses a command",
            "the code says why: declare the stream first, or use another id",
        ),
        EventKind::MqttRefused => advice_of(
            "MQTT refuses a packet",
            "the reason says why: rights to the topic, a limit, or a quality of service",
        ),
        EventKind::MqttDisconnected => advice_of(
            "the broker ends connections of MQTT with a reason",
            "for a session taken over give each client an identifier of its own; else follow the reason",
        ),
        EventKind::TlsAlert => advice_of(
            "TLS ends with an alert",
            "check certificates, authorities, names and versions on both ends",
        ),
        EventKind::TlsOnPlainPort => advice_of(
            "a client speaks TLS to a port without TLS",
            "connect to the port of TLS (5671, 8883), or switch TLS off in the client",
        ),
        EventKind::PlainOnTlsPort => advice_of(
            "a client speaks without TLS to a port of TLS",
            "switch TLS on in the client (amqps://), or connect to the port without it (5672, 1883)",
        ),
        EventKind::ProtocolRefused => advice_of(
            "a client speaks a protocol that the broker does not speak on this port",
            "connect to the port of its protocol, or enable the plugin for it",
        ),
        _ => of_path(kind),
    }
}

const fn of_path(kind: EventKind) -> Advice {
    match kind {
        EventKind::MissedHeartbeats => advice_of(
            "heartbeats are missing",
            "the silent end hangs, is suspended or cannot be reached: look at its threads and the path; a longer interval hides short hangs",
        ),
        EventKind::Refused => advice_of(
            "connections are refused",
            "check that the broker runs and listens on this address and port, and firewalls between",
        ),
        EventKind::Unanswered => advice_of(
            "connections are not answered",
            "check the address and port, routes and firewalls between; a broker with a full backlog does this as well",
        ),
        EventKind::HalfOpen => advice_of(
            "one end of a connection is gone and the other does not know",
            "heartbeats end such connections; look at why the silent end went: power, network, a firewall that drops",
        ),
        _ => advice_of("a connection went wrong", "the text says how"),
    }
}
