//! Advice by an event's kind and code.

use rabbitscope_amqp::protocol::reply_codes as code;

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
    "keep one connection open while the program runs; if the language cannot do this, put a proxy before the broker",
);

pub(super) const CHANNEL_CHURN: Advice = advice_of(
    "channels are opened for a message or two each",
    "keep a channel open for each thread that publishes",
);

pub(super) const MQTT_LOOP: Advice = advice_of(
    "clients of MQTT are disconnected, connect and are disconnected again",
    "give each client its own identifier, or fix the cause in the reason; let clients wait longer before each further \
     attempt",
);

/// Returns the severity of an event and the advice on it.
pub(super) fn advice(event: &ConnectionEvent) -> (Severity, Advice) {
    let code = event.code.and_then(|code| u16::try_from(code).ok());
    match event.kind {
        EventKind::ConnectionClosed => (Critical, closed(event.from, code)),
        EventKind::NotThere => (Note, NOT_THERE),
        EventKind::ChannelClosed => (Critical, channel_closed(code)),
        EventKind::Returned => (Warning, returned(code)),
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
        | EventKind::SlowLogin
        | EventKind::ShortLived => Warning,
        _ => Critical,
    }
}

const LOGIN_REFUSED: Advice = advice_of(
    "the broker refused a login",
    "check user, password and virtual host; guest may log in only from the broker's own machine; the broker's log has \
     the reason",
);

const NOT_THERE: Advice = advice_of(
    "a client asks for a queue or an exchange that does not exist",
    "if the client only checks whether it exists, nothing; otherwise, first declare it in this virtual host",
);

const DELIVERY_REFUSED: Advice = advice_of(
    "a client refuses deliveries",
    "find the reason; the broker redelivers a requeued message immediately, so use a dead letter exchange or a limit \
     of deliveries",
);

/// Returns the advice by the code of `connection.close`.
const fn closed(from: Side, code: Option<u16>) -> Advice {
    match code {
        Some(code::CONNECTION_FORCED) if matches!(from, Side::Broker) => advice_of(
            "an operator or the end of the node closed a connection (320 CONNECTION_FORCED)",
            "let the client reconnect after a while; the text names the cause",
        ),
        Some(code::INVALID_PATH | code::NOT_ALLOWED) => advice_of(
            "a connection was closed because the broker does not allow the request (530 NOT_ALLOWED)",
            "check the virtual host and the user's right to it, limits of connections and channels, and duplicate \
             consumer tags",
        ),
        Some(code::ACCESS_REFUSED) => advice_of(
            "the broker refused a login (403 ACCESS_REFUSED)",
            "check user, password and virtual host; guest may log in only from the broker's own machine",
        ),
        Some(code::FRAME_ERROR | code::SYNTAX_ERROR | code::COMMAND_INVALID) => advice_of(
            "a connection was closed because of a frame that the other end cannot decode",
            "look for a defect in the client library, a frame longer than frame_max, or a device between that changes \
             bytes",
        ),
        Some(code::CHANNEL_ERROR) => advice_of(
            "a connection was closed because of a channel that is not open (504 CHANNEL_ERROR)",
            "do not use a closed channel: after an error, the broker closes it, and the client must open a new one; \
             do not open a channel twice",
        ),
        Some(code::UNEXPECTED_FRAME) => advice_of(
            "a connection was closed because frames came in the wrong order (505 UNEXPECTED_FRAME)",
            "do not use a channel from several threads at once",
        ),
        Some(code::RESOURCE_ERROR) => advice_of(
            "a connection was closed because a limit was reached (506 RESOURCE_ERROR)",
            "check the limits of connections, channels and memory; the text names the limit",
        ),
        Some(code::NOT_IMPLEMENTED) => advice_of(
            "a connection was closed because of an unsupported feature (540 NOT_IMPLEMENTED)",
            "read the text, and check whether the broker's version has this feature",
        ),
        Some(code::INTERNAL_ERROR) => advice_of(
            "a connection was closed because of an error inside the broker (541 INTERNAL_ERROR)",
            "look at the broker's log at that time",
        ),
        _ => advice_of(
            "a connection was closed with an error",
            "the text has the reason; the broker's log may have more",
        ),
    }
}

/// Returns the advice by the code of `channel.close`.
const fn channel_closed(code: Option<u16>) -> Advice {
    match code {
        Some(code::CONTENT_TOO_LARGE) => advice_of(
            "a channel was closed because a message is too large (311 CONTENT_TOO_LARGE)",
            "send it in parts, or keep it elsewhere and send its place; the limit is max_message_size",
        ),
        Some(code::ACCESS_REFUSED) => advice_of(
            "a channel was closed because the user lacks a permission (403 ACCESS_REFUSED)",
            "grant the user the right to configure, write or read the object in the text: rabbitmqctl set_permissions",
        ),
        Some(code::NOT_FOUND) => advice_of(
            "a channel was closed because an object does not exist (404 NOT_FOUND)",
            "declare the queue or exchange in the text before use, in this virtual host",
        ),
        Some(code::RESOURCE_LOCKED) => advice_of(
            "a channel was closed because a queue belongs to another connection (405 RESOURCE_LOCKED)",
            "use an exclusive queue only from the connection that declared it, or declare it without exclusive",
        ),
        Some(code::PRECONDITION_FAILED) => advice_of(
            "a channel was closed because a condition does not hold (406 PRECONDITION_FAILED)",
            "declare with the existing properties of the queue or exchange; acknowledge each delivery once, on its \
             own channel, and within consumer_timeout",
        ),
        Some(code::NOT_IMPLEMENTED) => advice_of(
            "a channel was closed because of an unsupported feature (540 NOT_IMPLEMENTED)",
            "read the text, and check whether the type of queue and the broker's version have this feature",
        ),
        Some(code::INTERNAL_ERROR) => advice_of(
            "a channel was closed because of an error inside the broker (541 INTERNAL_ERROR)",
            "look at the broker's log at that time",
        ),
        _ => advice_of(
            "a channel was closed with an error",
            "the text has the reason; fix it, then open a new channel",
        ),
    }
}

/// Returns the advice by the code of `basic.return`.
const fn returned(code: Option<u16>) -> Advice {
    match code {
        Some(code::NO_ROUTE) => advice_of(
            "messages are returned because no bound queue matches (312 NO_ROUTE)",
            "bind a queue for their routing key, or set an alternate exchange",
        ),
        _ => advice_of("messages are returned", "the text has the reason"),
    }
}

fn reset(event: &ConnectionEvent) -> Advice {
    match (event.kind, event.from) {
        (EventKind::IdleReset, _) => advice_of(
            "a connection was reset after a long silence",
            "a balancer or firewall between drops silent connections: use heartbeats shorter than its limit, or raise \
             the limit",
        ),
        (_, Side::Client) => advice_of(
            "the client reset a connection",
            "the client's program ended, or closed its socket with unread bytes: check its log at that time, and \
             close the connection first",
        ),
        (_, Side::Broker) => advice_of(
            "the broker's end reset a connection",
            "check the broker's log at that time: the node may have ended or aborted a write; a device between can \
             also be the cause",
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
                "close the connection before the program ends; a crash has the same effect",
            ),
        ),
        (Side::Broker, true) => (
            Critical,
            advice_of(
                "the broker ended a connection during the login",
                "check user, password and virtual host; the broker gives old clients no reason, so check its log",
            ),
        ),
        (Side::Broker, false) => (
            Critical,
            advice_of(
                "the broker ended a TCP connection without connection.close",
                "check the broker's log at that time: heartbeats missed, or the node ended",
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
                "MQTT 3 has none: look for a second client with the same identifier, a missing right or an expired \
                 keep-alive; the broker's log has the reason",
            ),
        ),
    }
}

const fn of_kind(kind: EventKind) -> Advice {
    match kind {
        EventKind::PublishRefused => advice_of(
            "the broker refuses publishes",
            "check the queue's length limit with reject-publish, and whether its leader is reachable; publish refused \
             messages again",
        ),
        EventKind::Blocked => advice_of(
            "the broker has blocked publishers: an alarm is on",
            "consume queued messages, raise vm_memory_high_watermark or free disk space, depending on the reason; \
             until then, publishers stay blocked",
        ),
        EventKind::ConsumerCancelled => advice_of(
            "the broker cancelled a consumer",
            "its queue was deleted or moved: consume again when the queue exists",
        ),
        EventKind::SlowLogin => advice_of(
            "the broker takes a second or more for a step of a login",
            "find what the node waits for: before connection.start its own host name (put it into /etc/hosts), after \
             connection.start-ok the service that knows the users (LDAP, HTTP, OAuth 2), else a busy or suspended node",
        ),
        EventKind::Amqp10Error => {
            advice_of("AMQP 1.0 reports an error", "the condition and its text have the reason")
        }
        EventKind::StreamRefused => advice_of(
            "the stream protocol refuses a command",
            "the code has the reason: declare the stream first, or use another id",
        ),
        EventKind::MqttRefused => advice_of(
            "MQTT refuses a packet",
            "check the reason: rights to the topic, a limit, or a quality of service",
        ),
        EventKind::MqttDisconnected => advice_of(
            "the broker ends connections of MQTT with a reason",
            "after a session takeover, give each client its own identifier; otherwise follow the reason",
        ),
        EventKind::TlsAlert => advice_of(
            "TLS ends with an alert",
            "check certificates, authorities, names and versions on both ends",
        ),
        EventKind::TlsOnPlainPort => advice_of(
            "a client speaks TLS to a port without TLS",
            "connect to the TLS port (5671, 8883), or disable TLS in the client",
        ),
        EventKind::PlainOnTlsPort => advice_of(
            "a client speaks without TLS to a TLS port",
            "enable TLS in the client (amqps://), or connect to the port without TLS (5672, 1883)",
        ),
        EventKind::ProtocolRefused => advice_of(
            "a client uses a protocol that this port of the broker does not support",
            "connect to the port of its protocol, or enable the plugin for it",
        ),
        _ => of_path(kind),
    }
}

const fn of_path(kind: EventKind) -> Advice {
    match kind {
        EventKind::MissedHeartbeats => advice_of(
            "heartbeats are missing",
            "the silent end hangs, is suspended or unreachable: check its threads and the path; a longer interval \
             hides short hangs",
        ),
        EventKind::Refused => advice_of(
            "connections are refused",
            "check that the broker runs and listens on this address and port, and firewalls between",
        ),
        EventKind::Unanswered => advice_of(
            "connections are not answered",
            "check the address and port, routes and firewalls between; a full backlog of the broker has the same \
             effect",
        ),
        EventKind::HalfOpen => advice_of(
            "one end of a connection is gone without notice to the other",
            "heartbeats end such connections; find why the end disappeared: power, network, a firewall",
        ),
        _ => advice_of("a connection went wrong", "the text has details"),
    }
}
