//! The connection as the owner of its socket knows it: conversion of received packets into events, pings, output.

use std::time::Instant;

use rabbitscope_protocol::{Input, OutputBuffer, Reader, Wire};

use super::{
    keep_alive::Due,
    state::{Connection, Phase, PingBy, WHOLE_MAX},
};
use crate::{
    codec::Head,
    error::ConnectionError,
    event::Event,
    protocol::{
        packets::{
            CONNACK, DISCONNECT, PINGREQ, PINGRESP, PUBACK, PUBLISH, SUBACK, TYPE, UNSUBACK,
        },
        properties::{self, Property, REASON_STRING},
        reason::Reason,
        version::Version,
    },
};

impl Wire for Connection {
    type Event<'a> = Event<'a>;
    type Error = ConnectionError;

    #[inline]
    fn next_event<'a>(
        &mut self,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        if self.assembly.is_some() {
            return Ok(self.assemble(input));
        }
        loop {
            let Some(head) = Head::read(input.rest())? else { return Ok(None) };
            if !self.is_open() {
                return self.before_open(head, input);
            }
            match head.first & TYPE {
                PUBLISH => return self.delivery(head, input),
                PUBACK => return self.confirms(head, input),
                _ => {}
            }
            let Some(content) = whole(head, input)? else { return Ok(None) };
            if let Some(event) = self.on_packet(head.first, content)? {
                return Ok(Some(event));
            }
        }
    }

    #[inline]
    fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    /// Larger packets are processed in pieces of this size.
    #[inline]
    fn frame_max(&self) -> u32 {
        WHOLE_MAX
    }

    #[inline]
    fn has_read(&mut self, now: Instant) {
        self.keep_alive.has_read(now);
    }

    #[inline]
    fn has_written(&mut self, now: Instant) {
        self.keep_alive.has_written(now);
    }

    fn tick(&mut self, now: Instant) -> Result<(), ConnectionError> {
        match self.keep_alive.tick(now) {
            Due::Ping if self.is_open() => {
                self.pings.push_back(PingBy::KeepAlive);
                self.output.end().extend_from_slice(&[PINGREQ, 0]);
            }
            Due::Ping | Due::Nothing => {}
            Due::Unanswered(silence) => {
                return Err(ConnectionError::PingUnanswered { seconds: silence.as_secs() });
            }
        }
        Ok(())
    }

    fn next_tick(&self) -> Option<Instant> {
        self.keep_alive.next()
    }

    fn shrink(&mut self) {
        self.output.shrink(0);
    }

    /// Returns whether `DISCONNECT` is written. The broker does not answer it.
    fn is_closed(&self) -> bool {
        self.phase == Phase::Closed && self.output.is_empty()
    }

    fn close(&mut self) {
        if self.is_open() {
            self.phase = Phase::Closed;
            self.output.end().extend_from_slice(&[DISCONNECT, 0]);
        }
    }
}

/// Takes a whole packet, and returns its content; `None` if it is not complete.
fn whole<'a>(head: Head, input: &mut Input<'a>) -> Result<Option<Reader<'a>>, ConnectionError> {
    let (size, limit) = (head.size(), WHOLE_MAX as usize);
    if size > limit {
        return Err(ConnectionError::PacketTooLarge { size, limit });
    }
    if input.rest().len() < size {
        return Ok(None);
    }
    let mut content = Reader::new(input.take(size), "a packet");
    content.take(head.before)?;
    Ok(Some(content))
}

/// Reads identifier and reason of an acknowledgement. A missing reason is success.
#[inline]
fn acknowledgement(mut content: Reader<'_>) -> Result<(u16, Reason), ConnectionError> {
    let packet = content.u16()?;
    let reason = if content.is_empty() { Reason::SUCCESS } else { Reason(content.u8()?) };
    Ok((packet, reason))
}

impl Connection {
    /// Handles a packet before the login is complete, or drops it after the end.
    fn before_open<'a>(
        &mut self,
        head: Head,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        if self.phase == Phase::Closed {
            input.take(usize::MAX);
            return Ok(None);
        }
        if head.first != CONNACK {
            return Err(ConnectionError::Unexpected { first: head.first });
        }
        let Some(content) = whole(head, input)? else { return Ok(None) };
        self.on_answer(content).map(Some)
    }

    /// Returns the next acknowledgements with the same reason whose messages follow one another.
    #[inline]
    fn confirms<'a>(
        &mut self,
        head: Head,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        let Some(content) = whole(head, input)? else { return Ok(None) };
        let (packet, reason) = acknowledgement(content)?;
        let unknown = ConnectionError::UnknownPacket { packet };
        let first = self.identifiers.position(packet).ok_or(unknown)?;
        self.identifiers.release(packet, false);
        let mut last = first;
        while self.has_next(last + 1, reason, input)? {
            last += 1;
        }
        Ok(Some(Event::Confirmed { first, last, reason }))
    }

    /// Takes the acknowledgement of the message at this position, if it comes next and has this reason.
    #[inline]
    fn has_next(
        &mut self,
        position: u64,
        reason: Reason,
        input: &mut Input<'_>,
    ) -> Result<bool, ConnectionError> {
        let before = input.consumed();
        let Some(head) = Head::read(input.rest())?.filter(|head| head.first == PUBACK) else {
            return Ok(false);
        };
        let Some(content) = whole(head, input)? else { return Ok(false) };
        let (packet, found) = acknowledgement(content)?;
        let is_next = found == reason && self.identifiers.position(packet) == Some(position);
        if is_next {
            self.identifiers.release(packet, false);
        } else {
            input.rewind(before);
        }
        Ok(is_next)
    }

    fn on_packet<'a>(
        &mut self,
        first: u8,
        content: Reader<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        match first {
            PINGRESP => match self.pings.pop_front() {
                Some(PingBy::KeepAlive) => Ok(None),
                Some(PingBy::Caller) => Ok(Some(Event::Pong)),
                None => Err(ConnectionError::Unexpected { first }),
            },
            SUBACK | UNSUBACK => self.on_request_answer(content).map(Some),
            DISCONNECT if self.version == Version::V5 => Err(on_disconnect(content)?),
            _ => Err(ConnectionError::Unexpected { first }),
        }
    }

    /// Handles the answer to a request. `UNSUBACK` of MQTT 3.1.1 has no reasons.
    fn on_request_answer(
        &mut self,
        mut content: Reader<'_>,
    ) -> Result<Event<'static>, ConnectionError> {
        let packet = content.u16()?;
        if !self.identifiers.release(packet, true) {
            return Err(ConnectionError::UnknownPacket { packet });
        }
        if self.version == Version::V5 {
            properties::read(&mut content, |_, _| {})?;
        }
        let reasons = content.rest().iter().map(|code| Reason(*code));
        let refusal = reasons.into_iter().find(|reason| reason.is_refusal());
        Ok(Event::Answer { packet, reason: refusal.unwrap_or(Reason::SUCCESS) })
    }
}

/// Returns the reason of the broker's `DISCONNECT`.
fn on_disconnect(mut content: Reader<'_>) -> Result<ConnectionError, ConnectionError> {
    let reason = if content.is_empty() { Reason::SUCCESS } else { Reason(content.u8()?) };
    let mut text = None;
    if !content.is_empty() {
        properties::read(&mut content, |identifier, property| {
            if let (REASON_STRING, Property::Text(bytes)) = (identifier, property) {
                text = Some(String::from_utf8_lossy(bytes).into_owned());
            }
        })?;
    }
    Ok(ConnectionError::ClosedByBroker { reason, text })
}
