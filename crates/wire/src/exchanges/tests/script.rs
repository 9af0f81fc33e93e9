//! The language of the tests: frames at their times, and the measured latencies. Times are in milliseconds, and packets
//! are numbered by them.

use crate::{
    exchanges::{Exchanges, Latency, Replies},
    packet::Timestamp,
    protocols::{
        ContentHeader, Delivery, Details, Frame, IdentifierRun, Loss, Outcome, Place, Protocol,
        Publish, Settlement, Skipped,
    },
    report::{LatencyKind, Side, Unmatched},
};

const MILLISECOND: u64 = 1_000_000;

/// A connection, and its measured latencies: kind, milliseconds, first and last packet.
pub(super) struct Script {
    pub(super) exchanges: Exchanges,
    pub(super) replies: Replies,
    protocol: Protocol,
    pub(super) measured: Vec<(LatencyKind, u64, u64, u64)>,
    pub(super) names: Vec<(&'static str, Side)>,
}

impl Script {
    pub(super) fn new(protocol: Protocol) -> Self {
        let (exchanges, replies) = (Exchanges::new(1), Replies::default());
        Self { exchanges, replies, protocol, measured: Vec::new(), names: Vec::new() }
    }

    /// Adds a frame. The number of its packet is that of the millisecond.
    pub(super) fn at(
        &mut self,
        millis: u64,
        sender: Side,
        kind: &'static str,
        details: Details,
    ) -> &mut Self {
        self.with_ids(millis, sender, kind, details, &[])
    }

    pub(super) fn with_ids(
        &mut self,
        millis: u64,
        sender: Side,
        kind: &'static str,
        details: Details,
        identifiers: &[IdentifierRun],
    ) -> &mut Self {
        let place = Place {
            start: 0,
            end: 8,
            first_packet: millis,
            last_packet: millis,
            begins_segment: true,
            ends_segment: true,
            time: Timestamp::from_unix_nanos(millis * MILLISECOND),
            missing_bytes: 0,
        };
        let (protocol, channel) = (self.protocol, 1);
        let (reply, arguments) = (None, &[][..]);
        let frame = Frame {
            sender,
            protocol,
            channel,
            kind,
            place,
            details,
            identifiers,
            reply,
            arguments,
        };
        let (measured, names) = (&mut self.measured, &mut self.names);
        self.exchanges.frame(&frame, &mut self.replies, &mut |latency: &Latency| {
            measured.push((
                latency.kind,
                latency.nanos / MILLISECOND,
                latency.first_packet,
                latency.last_packet,
            ));
            names.push((latency.name, latency.from));
        });
        self
    }

    pub(super) fn method(
        &mut self,
        millis: u64,
        sender: Side,
        kind: &'static str,
        number: (u16, u16),
    ) -> &mut Self {
        self.at(millis, sender, kind, Details::Method { number, no_wait: false })
    }

    pub(super) fn open(&mut self) -> &mut Self {
        self.method(0, Side::Client, "channel.open", (20, 10));
        self.method(0, Side::Broker, "channel.open-ok", (20, 11));
        self.clear()
    }

    pub(super) fn select(&mut self) -> &mut Self {
        self.method(0, Side::Client, "confirm.select", (85, 10));
        self.method(0, Side::Broker, "confirm.select-ok", (85, 11));
        self.clear()
    }

    pub(super) fn clear(&mut self) -> &mut Self {
        self.measured.clear();
        self.names.clear();
        self
    }

    /// Publishes with method and header at one time, and the body a millisecond later.
    pub(super) fn publish(&mut self, millis: u64) -> &mut Self {
        self.publish_with(millis, ContentHeader { body_bytes: 9, ..ContentHeader::default() }, 0)
    }

    pub(super) fn publish_with(
        &mut self,
        millis: u64,
        header: ContentHeader,
        routing_key: u64,
    ) -> &mut Self {
        let publish =
            Publish { exchange_bytes: 0, routing_key_bytes: 1, routing_key, mandatory: false };
        self.at(millis, Side::Client, "basic.publish", Details::Publish(publish));
        self.content(millis, Side::Client, header)
    }

    fn content(&mut self, millis: u64, sender: Side, header: ContentHeader) -> &mut Self {
        self.at(millis, sender, "header", Details::Header(header));
        match u32::try_from(header.body_bytes).unwrap() {
            0 => self,
            bytes => self.at(millis + 1, sender, "body", Details::Body(bytes)),
        }
    }

    pub(super) fn deliver(&mut self, millis: u64, tag: u64) -> &mut Self {
        self.deliver_with(millis, tag, Some(7), ContentHeader::default(), 0)
    }

    pub(super) fn deliver_with(
        &mut self,
        millis: u64,
        delivery_tag: u64,
        consumer_tag: Option<u64>,
        header: ContentHeader,
        routing_key: u64,
    ) -> &mut Self {
        let delivery = Delivery {
            consumer_tag,
            delivery_tag,
            redelivered: false,
            exchange_bytes: 0,
            routing_key_bytes: 0,
            routing_key,
            is_direct_reply: false,
        };
        self.at(millis, Side::Broker, "basic.deliver", Details::Delivery(delivery));
        self.content(millis, Side::Broker, header)
    }

    pub(super) fn settle(
        &mut self,
        millis: u64,
        sender: Side,
        tag: u64,
        multiple: bool,
    ) -> &mut Self {
        let settlement = Settlement { tag, multiple, outcome: Outcome::Accepted };
        self.at(millis, sender, "basic.ack", Details::Settlement(settlement))
    }

    pub(super) fn lose(&mut self, sender: Side) -> &mut Self {
        self.exchanges.lost(&Loss { sender, offset: 0, time: Timestamp::default() });
        self
    }

    pub(super) fn find(&mut self, sender: Side) -> &mut Self {
        self.exchanges.found(&Skipped { sender, range: 0..1, time: Timestamp::default() });
        self
    }

    pub(super) fn behind(&mut self, sender: Side, is_behind: bool) -> &mut Self {
        self.exchanges.behind(sender, is_behind);
        self
    }

    pub(super) fn gap(&mut self, sender: Side, millis: u64) -> &mut Self {
        self.exchanges.gap(sender, Timestamp::from_unix_nanos(millis * MILLISECOND));
        self
    }

    #[track_caller]
    pub(super) fn check(&mut self, expected: &[(LatencyKind, u64, u64, u64)]) -> &mut Self {
        assert_eq!(self.measured, expected);
        self.clear()
    }

    #[track_caller]
    pub(super) fn check_unmatched(&self, kind: LatencyKind, expected: [u64; 4]) {
        let [open, unknown_begin, unknown_number, left_out] = expected;
        let expected = Unmatched { open, unknown_begin, unknown_number, left_out };
        assert_eq!(self.exchanges.unmatched(kind), expected);
    }
}
