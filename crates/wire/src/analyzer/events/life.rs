//! A connection from its first packet to its last: silences, resets, and ends without a closing frame.

use std::time::Duration;

use rabbitscope_text::short_time;

use super::{log::Seen, login::Login, words};
use crate::{
    packet::Timestamp,
    protocols::{Frame, Protocol, peer_of},
    report::{ConnectionEvent, EventKind, Side},
    segment::TcpFlags,
    stream::Chunk,
    tcp::{ConnectionEnd, ConnectionSummary, DirectionFigures, TracedSegment},
};

/// A silence before a reset that exceeds the usual wait of clients.
const IDLE: Duration = Duration::from_secs(10);
/// Silence of an end, in spite of retransmissions to it, after which it counts as gone.
const GONE: Duration = Duration::from_secs(1);
/// Number of these retransmissions.
const GONE_RETRANSMISSIONS: u32 = 3;
/// Number of messages up to which a connection is hardly worth its opening.
const FEW_MESSAGES: u64 = 1;
/// Number of compared bytes at the beginning of a protocol.
const BEGINNING: usize = 8;

/// State of a side.
#[derive(Clone, Copy, Debug, Default)]
struct SideLife {
    /// Its first bytes, if the connection's beginning was seen.
    beginning: Option<[u8; BEGINNING]>,
    /// Time at which it last sent bytes.
    spoke: Option<Timestamp>,
    /// Start and length of the longest time in which it sent no bytes.
    silence: Option<(Timestamp, Duration)>,
    /// Retransmissions to it since its last packet.
    unanswered: u32,
    /// Time of its last packet.
    seen: Option<Timestamp>,
}

/// State of a connection.
#[derive(Clone, Debug, Default)]
pub(in super::super) struct Life {
    sides: [SideLife; 2],
    protocol: Option<Protocol>,
    /// Seconds between heartbeats; 0 disables them.
    heartbeat: Option<u32>,
    /// A side has announced the end.
    is_closing: bool,
    /// The login is complete.
    is_open: bool,
    /// A side has reset the connection.
    is_reset: bool,
    login: Login,
    /// Times of the last packets, the latest first.
    recent: [Option<Timestamp>; 4],
}

impl Life {
    /// Processes a frame. Returns the event that it reports, if any.
    #[inline]
    pub(in super::super) fn frame(&mut self, frame: &Frame<'_>) -> Option<Seen> {
        if frame.reply.is_some() || self.protocol.is_none() || !self.is_open {
            self.note(frame);
        } else if is_farewell(frame) {
            self.is_closing = true;
        }
        words::event(frame)
    }

    fn note(&mut self, frame: &Frame<'_>) {
        self.protocol = Some(frame.protocol);
        self.is_closing |= is_farewell(frame);
        if frame.sender == Side::Client {
            self.login.client_frame(frame);
        }
        match frame.kind {
            "connection.tune-ok" => {
                self.heartbeat = frame.reply.and_then(|reply| reply.code);
            }
            "connection.open-ok" | "open" | "open-response" => self.is_open = true,
            "CONNACK" => self.is_open = frame.reply.is_some_and(|reply| reply.code == Some(0)),
            _ => {}
        }
    }

    /// Processes bytes of a side, in order.
    pub(in super::super) fn chunk(&mut self, sender: Side, chunk: &Chunk<'_>) {
        let beginning = &mut self.sides[sender as usize].beginning;
        if chunk.offset == 0 && beginning.is_none() {
            let mut bytes = [0; BEGINNING];
            let length = chunk.bytes.len().min(BEGINNING);
            bytes[..length].copy_from_slice(&chunk.bytes[..length]);
            *beginning = Some(bytes);
        }
    }

    pub(in super::super) fn segment(&mut self, sender: Side, segment: &TracedSegment) {
        // Packets after a reset are the kernel's answer to it.
        if self.is_reset {
            return;
        }
        self.is_reset = segment.flags.has(TcpFlags::RST);
        let is_bytes = segment.places.as_ref().is_some_and(|places| places.end > places.start);
        let peer = &mut self.sides[peer_of(sender) as usize];
        peer.unanswered += u32::from(segment.retransmitted_bytes > 0);
        let own = &mut self.sides[sender as usize];
        own.unanswered = 0;
        own.seen = Some(segment.time);
        if is_bytes {
            own.speak(segment.time);
            let is_open = self.is_open || self.protocol == Some(Protocol::Tls);
            self.login.bytes(sender, segment.time, is_open);
        }
        self.recent.rotate_right(1);
        self.recent[0] = Some(segment.time);
    }

    /// Returns the events at the connection's end. `now` is the time of the capture's last packet.
    pub(in super::super) fn end(
        &mut self,
        [client, broker]: [&DirectionFigures; 2],
        summary: &ConnectionSummary,
        messages: u64,
        now: Timestamp,
    ) -> Vec<Seen> {
        let end = if summary.is_closed() { summary.last } else { now };
        let reset = reset_by(client, broker);
        if let Some(wrong) = self.wrong_protocol(summary.last) {
            return vec![wrong];
        }
        let told = [
            self.missed_heartbeats(end, summary.is_closed()),
            refused(client, broker, summary),
            reset.and_then(|(side, packet)| {
                self.reset([client, broker], side, packet, summary.last)
            }),
            self.slow_login([client, broker], end),
            self.half_open(summary, now),
            self.closed_without([client, broker]),
            self.short_lived(client, summary, messages),
        ];
        told.into_iter().flatten().collect()
    }

    /// Detects TLS on a port without it, no TLS on a port with it, and a protocol that the port does not speak.
    fn wrong_protocol(&self, time: Timestamp) -> Option<Seen> {
        let client = self.sides[Side::Client as usize].beginning?;
        let broker = self.sides[Side::Broker as usize].beginning;
        let is_tls = matches!(client, [22, 3, 0..=4, ..]);
        let (kind, text) = match broker {
            Some(broker) if is_tls && broker.starts_with(b"AMQP") => (
                EventKind::TlsOnPlainPort,
                "the client began with TLS, the broker answered with AMQP 0-9-1 without TLS",
            ),
            Some([21, 3, ..]) if !is_tls => (
                EventKind::PlainOnTlsPort,
                "the client began without TLS, the broker answered with an alert of TLS",
            ),
            Some(broker) if !is_tls && broker.starts_with(b"AMQP") && broker != client => (
                EventKind::ProtocolRefused,
                "the broker answered with the protocol header that it speaks",
            ),
            None if is_tls && self.recent[0].is_some() => (
                EventKind::TlsOnPlainPort,
                "the client began with TLS, the broker closed the connection without an answer",
            ),
            _ => return None,
        };
        let from = if kind == EventKind::ProtocolRefused { Side::Broker } else { Side::Client };
        Some(seen(kind, from, text, time))
    }

    /// Detects a side that was silent for twice the negotiated interval.
    fn missed_heartbeats(&self, end: Timestamp, is_closed: bool) -> Option<Seen> {
        let seconds = self.heartbeat.filter(|seconds| *seconds > 0)?;
        let limit = Duration::from_secs(2 * u64::from(seconds));
        let silent = |side: Side| {
            let (since, silence) = self.sides[side as usize].longest_silence(end)?;
            (silence >= limit).then_some((side, since, silence))
        };
        // If both were silent, as when the client closes long after the broker, the longer silence counts.
        let longest = [Side::Client, Side::Broker].into_iter().filter_map(silent);
        let (side, since, silence) = longest.max_by_key(|(_, _, silence)| *silence)?;
        let text = format!(
            "{} for {}, with heartbeats agreed on every {seconds} s{}",
            "nothing was sent",
            short_time(u64::try_from(silence.as_nanos()).unwrap_or(u64::MAX)),
            if is_closed { "" } else { "; the connection was still open" },
        );
        Some(Seen { text, ..seen(EventKind::MissedHeartbeats, side, "", since) })
    }

    fn reset(
        &self,
        [client, broker]: [&DirectionFigures; 2],
        side: Side,
        packet: u64,
        time: Timestamp,
    ) -> Option<Seen> {
        let (own, peer) = if side == Side::Client { (client, broker) } else { (broker, client) };
        let is_refusal = peer.has_syn && !own.has_syn && own.data_segments == 0;
        // Data that is left after an end, by a frame or by TCP, is discarded. If only the end was seen, the beginning
        // is unknown.
        let is_late = self.is_closing || own.fin.is_some() || peer.fin.is_some();
        let is_end_alone =
            !own.has_syn && !peer.has_syn && own.data_segments + peer.data_segments == 0;
        if is_refusal || is_late || is_end_alone {
            return None;
        }
        if side == Side::Broker && self.is_login([client, broker]) {
            let told = seen(EventKind::ClosedWithout, side, ConnectionEvent::DURING_LOGIN, time);
            return Some(Seen { packet: Some(packet), ..told });
        }
        let silence = self.silence_before_end();
        let (kind, text) = if silence >= IDLE {
            let nanos = u64::try_from(silence.as_nanos()).unwrap_or(u64::MAX);
            (EventKind::IdleReset, format!("after {} without a packet", short_time(nanos)))
        } else {
            (EventKind::Reset, "without closing it first".to_owned())
        };
        Some(Seen { text, packet: Some(packet), ..seen(kind, side, "", time) })
    }

    /// Returns the longest pause among the last packets.
    fn silence_before_end(&self) -> Duration {
        let pairs = self.recent.iter().zip(&self.recent[1..]);
        let pauses = pairs.filter_map(|(later, earlier)| Some((*later)?.since((*earlier)?)));
        pauses.max().unwrap_or_default()
    }

    /// Detects an end that gets retransmissions and sends nothing.
    fn half_open(&self, summary: &ConnectionSummary, now: Timestamp) -> Option<Seen> {
        let end = if summary.end == ConnectionEnd::Captured { now } else { summary.last };
        let is_gone = |side: &Side| {
            let life = &self.sides[*side as usize];
            let silence = life.seen.map_or(Duration::ZERO, |seen| end.since(seen));
            life.unanswered >= GONE_RETRANSMISSIONS && silence >= GONE
        };
        let side = [Side::Client, Side::Broker].into_iter().find(is_gone)?;
        let text = format!(
            "no answer to {} segments that were sent again",
            self.sides[side as usize].unanswered
        );
        Some(Seen { text, ..seen(EventKind::HalfOpen, side, "", summary.last) })
    }

    /// Returns whether a client of AMQP 0-9-1 has connected but not logged in. The login of a connection that is older
    /// than the capture counts as complete.
    fn is_login(&self, [client, broker]: [&DirectionFigures; 2]) -> bool {
        let is_whole = client.has_syn || broker.has_syn;
        is_whole && self.protocol == Some(Protocol::Amqp091) && !self.is_open
    }

    /// Detects a broker that took long for a step of the login, or did not answer a client that waits or gave up.
    fn slow_login(&self, [client, broker]: [&DirectionFigures; 2], end: Timestamp) -> Option<Seen> {
        let ended = |figures: &DirectionFigures| {
            figures.fin.or_else(|| figures.reset_packet.is_some().then_some(end))
        };
        let waited_until = match (ended(client), ended(broker)) {
            (None, None) => Some(end),
            (Some(client), None) => Some(client),
            (Some(client), Some(broker)) if client < broker => Some(client),
            _ => None,
        };
        let is_whole = client.has_syn || broker.has_syn;
        self.login.slow(self.protocol.filter(|_| is_whole)?, waited_until)
    }

    /// Detects a connection for at most one message, in a protocol whose messages are visible.
    fn short_lived(
        &self,
        client: &DirectionFigures,
        summary: &ConnectionSummary,
        messages: u64,
    ) -> Option<Seen> {
        let is_read = self.protocol.is_some_and(|protocol| protocol != Protocol::Tls);
        let is_whole = client.has_syn && summary.is_closed() && client.data_segments > 0;
        (is_read && is_whole && messages <= FEW_MESSAGES).then(|| {
            let text = "opened and closed for a message at most";
            seen(EventKind::ShortLived, Side::Client, text, summary.last)
        })
    }

    /// Detects the side that ended the TCP connection of AMQP 0-9-1 or MQTT first, without a close.
    fn closed_without(&self, [client, broker]: [&DirectionFigures; 2]) -> Option<Seen> {
        let text = match self.protocol? {
            Protocol::Amqp091 if self.is_login([client, broker]) => ConnectionEvent::DURING_LOGIN,
            Protocol::Amqp091 => "without connection.close",
            // Before CONNACK there is no session to close.
            Protocol::Mqtt if self.is_open => ConnectionEvent::WITHOUT_DISCONNECT,
            _ => return None,
        };
        if self.is_closing {
            return None;
        }
        // The other side may send its FIN much later.
        let (side, time) = match (client.fin, broker.fin) {
            (Some(client), Some(broker)) if broker < client => (Side::Broker, broker),
            (Some(client), _) => (Side::Client, client),
            (None, Some(broker)) => (Side::Broker, broker),
            (None, None) => return None,
        };
        Some(seen(EventKind::ClosedWithout, side, text, time))
    }
}

impl SideLife {
    fn speak(&mut self, time: Timestamp) {
        if let Some(before) = self.spoke.replace(time) {
            let silence = time.since(before);
            if self.silence.is_none_or(|(_, longest)| silence > longest) {
                self.silence = Some((before, silence));
            }
        }
    }

    /// Returns the longest silence, including one at the end, and its start.
    fn longest_silence(&self, end: Timestamp) -> Option<(Timestamp, Duration)> {
        let last = self.spoke.map(|spoke| (spoke, end.since(spoke)));
        self.silence.into_iter().chain(last).max_by_key(|(_, silence)| *silence)
    }
}

/// Returns whether a frame announces the end of the connection.
fn is_farewell(frame: &Frame<'_>) -> bool {
    match frame.protocol {
        Protocol::Amqp091 => matches!(frame.kind, "connection.close" | "connection.close-ok"),
        Protocol::Amqp10 | Protocol::RabbitmqStream => {
            matches!(frame.kind, "close" | "close-response")
        }
        Protocol::Mqtt => frame.kind == "DISCONNECT",
        // Data that TLS hides may be a close.
        Protocol::Tls => frame.kind == "alert",
    }
}

fn reset_by(client: &DirectionFigures, broker: &DirectionFigures) -> Option<(Side, u64)> {
    let of = |side, figures: &DirectionFigures| figures.reset_packet.map(|packet| (side, packet));
    let both = [of(Side::Client, client), of(Side::Broker, broker)];
    both.into_iter().flatten().min_by_key(|(_, packet)| *packet)
}

/// Detects a connection that was not established.
fn refused(
    client: &DirectionFigures,
    broker: &DirectionFigures,
    summary: &ConnectionSummary,
) -> Option<Seen> {
    if !client.has_syn || broker.has_syn || client.data_segments + broker.data_segments > 0 {
        return None;
    }
    if broker.reset.is_some() {
        let text = "nothing listens on the port, or a firewall refuses";
        let packet = broker.reset_packet;
        return Some(Seen { packet, ..seen(EventKind::Refused, Side::Broker, text, summary.last) });
    }
    let is_asked_again = client.packets >= 2 && client.pure_acknowledgements == 0;
    (broker.packets == 0 && is_asked_again).then(|| {
        let text = format!("no answer to {} SYNs", client.packets);
        Seen { text, ..seen(EventKind::Unanswered, Side::Broker, "", summary.last) }
    })
}

fn seen(kind: EventKind, from: Side, text: &str, time: Timestamp) -> Seen {
    Seen { kind, from, code: None, text: text.to_owned(), time, packet: None }
}
