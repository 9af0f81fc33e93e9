//! The distribution of a connection's messages over segments.

use super::segments::{SegmentClock, SegmentCount, Span};
use crate::{
    protocols::{Details, Frame, Place},
    report::{MessageFigures, Side},
};

/// Number of packets kept as examples.
const EXAMPLES: usize = 10;

/// Follows the messages of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Messages {
    figures: MessageFigures,
    /// Packets of the last publish of AMQP 0-9-1, as long as each of its frames began a segment.
    parts: Vec<u64>,
    /// True if all frames of the current publish so far began a segment.
    is_frame_by_frame: bool,
    clocks: [SegmentClock; 2],
    publish_segments: SegmentCount,
    delivery_segments: SegmentCount,
    ack_segments: SegmentCount,
}

impl Messages {
    /// Advances to the next segment of a direction.
    pub(super) fn segment(&mut self, side: Side) {
        self.clock(side).tick();
    }

    /// Records that bytes of a direction are missing.
    pub(super) fn gap(&mut self, side: Side) {
        self.clock(side).gap();
    }

    pub(super) fn frame(&mut self, frame: &Frame<'_>) {
        let span = self.clock(frame.sender).span(frame.place);
        match (frame.sender, frame.details) {
            (Side::Client, Details::Publish(_)) => self.publish(frame.place, span),
            (Side::Broker, Details::Delivery(_)) => self.deliveries(1, span),
            (side, Details::Header(_) | Details::Body(_)) => self.content(side, frame, span),
            (side, Details::Settlement(settlement)) => {
                self.settled(side, settlement.multiple, (frame.place, span));
            }
            (Side::Client, Details::Transfer(transfer)) if !transfer.more => {
                self.publishes(1, span);
            }
            (Side::Broker, Details::Transfer(transfer)) if !transfer.more => {
                self.deliveries(1, span);
            }
            (side, Details::Disposition(disposition)) => {
                let several = disposition.last != disposition.first;
                self.settled(side, several, (frame.place, span));
            }
            (side, Details::StreamPublish(publish)) => match side {
                Side::Client => self.publishes(publish.messages, span),
                Side::Broker => self.settled(side, publish.entries > 1, (frame.place, span)),
            },
            (Side::Broker, Details::StreamChunk(chunk)) => {
                self.deliveries(u64::from(chunk.messages), span);
            }
            (side, Details::Mqtt(_)) => self.mqtt(side, frame, span),
            _ => {}
        }
    }

    /// Returns the number of messages in both directions.
    pub(super) const fn count(&self) -> u64 {
        self.figures.published + self.figures.delivered
    }

    pub(super) fn report(&self) -> MessageFigures {
        MessageFigures {
            publish_segments: self.publish_segments.segments,
            delivery_segments: self.delivery_segments.segments,
            ack_segments: self.ack_segments.segments,
            ..self.figures.clone()
        }
    }

    const fn clock(&mut self, side: Side) -> &mut SegmentClock {
        &mut self.clocks[side as usize]
    }

    fn publish(&mut self, place: Place, span: Span) {
        self.parts.clear();
        self.is_frame_by_frame = is_alone(place);
        self.parts.push(place.first_packet);
        self.publishes(1, span);
    }

    /// Processes a header or a part of a body. From the client it belongs to a publish, from the broker to a delivery
    /// or a return.
    fn content(&mut self, side: Side, frame: &Frame<'_>, span: Span) {
        match side {
            Side::Client => {
                self.publish_segments.add(span);
                self.part(frame);
            }
            Side::Broker => self.delivery_segments.add(span),
        }
    }

    /// Processes a part of a publish. The first part of the body decides whether each frame had a segment of its own.
    fn part(&mut self, frame: &Frame<'_>) {
        let is_body = matches!(frame.details, Details::Body(_));
        // A large body takes several segments in any case.
        self.is_frame_by_frame &=
            if is_body { frame.place.begins_segment } else { is_alone(frame.place) };
        self.parts.push(frame.place.first_packet);
        if is_body && self.is_frame_by_frame {
            self.is_frame_by_frame = false;
            self.figures.frame_by_frame += 1;
            let room = EXAMPLES.saturating_sub(self.figures.frame_by_frame_packets.len());
            self.figures.frame_by_frame_packets.extend(self.parts.iter().copied().take(room));
        }
        if is_body {
            self.parts.clear();
        }
    }

    fn mqtt(&mut self, side: Side, frame: &Frame<'_>, span: Span) {
        match (side, frame.kind) {
            (Side::Client, "PUBLISH") => self.publishes(1, span),
            (Side::Broker, "PUBLISH") => self.deliveries(1, span),
            (_, "PUBACK" | "PUBCOMP") => self.settled(side, false, (frame.place, span)),
            _ => {}
        }
    }

    fn publishes(&mut self, messages: u64, span: Span) {
        self.figures.published += messages;
        self.publish_segments.add(span);
    }

    fn deliveries(&mut self, messages: u64, span: Span) {
        self.figures.delivered += messages;
        self.delivery_segments.add(span);
    }

    /// Counts a confirm of the broker, or an acknowledgement of the client.
    fn settled(&mut self, side: Side, several: bool, (place, span): (Place, Span)) {
        let figures = &mut self.figures;
        match side {
            Side::Client => {
                figures.acks += 1;
                figures.multiple_acks += u64::from(several);
                self.ack_segments.add(span);
                if !several && is_alone(place) && figures.lone_ack_packets.len() < EXAMPLES {
                    figures.lone_ack_packets.push(place.first_packet);
                }
            }
            Side::Broker => {
                figures.confirms += 1;
                figures.multiple_confirms += u64::from(several);
            }
        }
    }
}

/// Returns whether the frame fills whole segments alone.
const fn is_alone(place: Place) -> bool {
    place.begins_segment && place.ends_segment
}
