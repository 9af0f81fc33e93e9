//! Events that frames report.

use rabbitscope_amqp::protocol::{
    methods::{EXCHANGE_DECLARE, QUEUE_DECLARE},
    reply_codes::NOT_FOUND,
};

use super::log::Seen;
use crate::{
    protocols::{Details, Frame, Outcome, Protocol, Reply},
    report::{EventKind, Side},
};

/// Lowest error code of AMQP 0-9-1. Clients close with 200, and some with 0.
const AMQP_ERROR: u32 = 300;
/// Code for success in the stream protocol.
const STREAM_OK: u32 = 1;
/// Code of a challenge in the stream protocol.
const STREAM_CHALLENGE: u32 = 10;
/// Lowest reason code of MQTT that is a failure.
const MQTT_FAILURE: u32 = 0x80;

/// Returns the event that a frame reports, if any.
#[inline]
pub(super) fn event(frame: &Frame<'_>) -> Option<Seen> {
    let kind = match &frame.reply {
        Some(reply) => told(frame, reply)?,
        None => refused(frame)?,
    };
    let code = frame.reply.and_then(|reply| reply.code);
    let text =
        frame.reply.map_or(String::new(), |reply| String::from_utf8_lossy(reply.text).into());
    let text = if text.is_empty() { meaning(frame.protocol, frame.kind, code) } else { text };
    let (time, packet) = (frame.place.time, Some(frame.place.last_packet));
    Some(Seen { kind, from: frame.sender, code, text, time, packet })
}

/// Returns the event of a message that was refused without a text.
#[inline]
fn refused(frame: &Frame<'_>) -> Option<EventKind> {
    let Details::Settlement(settlement) = &frame.details else { return None };
    match (settlement.outcome, frame.sender) {
        (Outcome::Accepted, _) => None,
        (Outcome::Refused, Side::Broker) => Some(EventKind::PublishRefused),
        (Outcome::Refused, Side::Client) => Some(EventKind::DeliveryRefused),
    }
}

fn told(frame: &Frame<'_>, reply: &Reply<'_>) -> Option<EventKind> {
    let code = reply.code;
    match frame.protocol {
        Protocol::Amqp091 => amqp091(frame.kind, frame.sender, reply),
        Protocol::Amqp10 if frame.kind == "sasl-outcome" => {
            code.filter(|code| *code != 0).map(|_| EventKind::LoginRefused)
        }
        Protocol::Amqp10 => Some(EventKind::Amqp10Error),
        Protocol::RabbitmqStream => stream(frame.kind, code?),
        Protocol::Mqtt => mqtt(frame.kind, frame.sender, code?),
        Protocol::Tls => Some(EventKind::TlsAlert),
    }
}

fn amqp091(kind: &str, sender: Side, reply: &Reply<'_>) -> Option<EventKind> {
    let code = reply.code;
    match kind {
        "connection.close" => {
            code.filter(|code| *code >= AMQP_ERROR).map(|_| EventKind::ConnectionClosed)
        }
        "channel.close" if is_question(reply) => Some(EventKind::NotThere),
        "channel.close" => {
            code.filter(|code| *code >= AMQP_ERROR).map(|_| EventKind::ChannelClosed)
        }
        "basic.return" => Some(EventKind::Returned),
        "connection.blocked" => Some(EventKind::Blocked),
        "basic.cancel" if sender == Side::Broker => Some(EventKind::ConsumerCancelled),
        _ => None,
    }
}

/// Returns whether the reply answers a passive declaration, which asks whether something exists. Only that is answered
/// so.
fn is_question(reply: &Reply<'_>) -> bool {
    let is_declaration = matches!(reply.cause, Some(EXCHANGE_DECLARE | QUEUE_DECLARE));
    is_declaration
        && reply.code == Some(NOT_FOUND.into())
        && reply.text.starts_with(b"NOT_FOUND - no ")
}

fn stream(kind: &str, code: u32) -> Option<EventKind> {
    match kind {
        _ if code == STREAM_OK => None,
        "sasl-authenticate-response" => {
            // A challenge asks for more data.
            (code != STREAM_CHALLENGE).then_some(EventKind::LoginRefused)
        }
        "publish-error" => Some(EventKind::PublishRefused),
        _ => Some(EventKind::StreamRefused),
    }
}

fn mqtt(kind: &str, sender: Side, code: u32) -> Option<EventKind> {
    match kind {
        "CONNACK" => (code != 0).then_some(EventKind::LoginRefused),
        "DISCONNECT" => {
            (code >= MQTT_FAILURE && sender == Side::Broker).then_some(EventKind::MqttDisconnected)
        }
        _ => (code >= MQTT_FAILURE).then_some(EventKind::MqttRefused),
    }
}

/// Returns the meaning of a code without a text, or the frame's name if the code is unknown.
fn meaning(protocol: Protocol, kind: &str, code: Option<u32>) -> String {
    let known = match (protocol, code) {
        (Protocol::RabbitmqStream, Some(code)) => stream_code(code),
        (Protocol::Mqtt, Some(code)) => mqtt_code(code),
        (Protocol::Tls, Some(code)) => tls_alert(code),
        (Protocol::Amqp10, Some(_)) => Some("authentication failed"),
        _ => None,
    };
    known.map_or_else(|| kind.to_owned(), |known| format!("{kind}: {known}"))
}

/// Codes of `rabbit_stream.hrl`.
const fn stream_code(code: u32) -> Option<&'static str> {
    Some(match code {
        2 => "stream does not exist",
        3 => "subscription id already exists",
        4 => "subscription id does not exist",
        5 => "stream already exists",
        6 => "stream not available",
        7 => "SASL mechanism not supported",
        8 => "authentication failure",
        9 => "SASL error",
        11 => "SASL authentication failure loopback",
        12 => "virtual host access failure",
        13 => "unknown frame",
        14 => "frame too large",
        15 => "internal error",
        16 => "access refused",
        17 => "precondition failed",
        18 => "publisher does not exist",
        19 => "no offset",
        _ => return None,
    })
}

/// Return codes of MQTT 3.1.1 (section 3.2.2.3) and reasons of MQTT 5 (section 2.4).
const fn mqtt_code(code: u32) -> Option<&'static str> {
    Some(match code {
        0x01 => "unacceptable protocol version",
        0x02 => "identifier rejected",
        0x03 | 0x88 => "server unavailable",
        0x04 | 0x86 => "bad user name or password",
        0x05 | 0x87 => "not authorized",
        0x80 => "unspecified error",
        0x81 => "malformed packet",
        0x82 => "protocol error",
        0x83 => "implementation specific error",
        0x84 => "unsupported protocol version",
        0x85 => "client identifier not valid",
        0x89 => "server busy",
        0x8b => "server shutting down",
        0x8d => "keep alive timeout",
        0x8e => "session taken over: another client has the same identifier",
        0x8f => "topic filter invalid",
        0x90 => "topic name invalid",
        0x93 => "receive maximum exceeded",
        0x95 => "packet too large",
        0x97 => "quota exceeded",
        0x98 => "administrative action",
        0x9b => "QoS not supported",
        _ => return None,
    })
}

/// Alerts of RFC 8446, section 6.
const fn tls_alert(code: u32) -> Option<&'static str> {
    Some(match code {
        10 => "unexpected message",
        20 => "bad record MAC",
        40 => "handshake failure",
        42 => "bad certificate",
        43 => "unsupported certificate",
        44 => "certificate revoked",
        45 => "certificate expired",
        46 => "certificate unknown",
        47 => "illegal parameter",
        48 => "unknown certificate authority",
        51 => "decrypt error",
        70 => "protocol version",
        71 => "insufficient security",
        80 => "internal error",
        112 => "unrecognized name",
        116 => "certificate required",
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_challenge_of_the_stream_protocol_is_no_refusal() {
        let answer = |code| stream("sasl-authenticate-response", code);
        assert_eq!([answer(1), answer(10)], [None, None]);
        assert_eq!([answer(8), answer(13)], [Some(EventKind::LoginRefused); 2]);
    }
}
