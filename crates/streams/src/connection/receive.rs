//! The connection as the owner of its socket knows it: conversion of received frames into events, heartbeats, output.

use std::time::Instant;

use rabbitscope_protocol::{Beat, Input, OutputBuffer, Reader, Renewals, Wire, Write as _};

use super::{
    chunk::Chunk,
    numbering::Run,
    state::{Connection, Listed, Phase},
};
use crate::{
    codec::{HEAD_BYTES, Read as _, SIZE_BYTES, WriteTexts as _, write_frame},
    error::ConnectionError,
    event::Event,
    protocol::{
        codes::Code,
        commands::{
            ANSWER, CLOSE, CONSUMER_UPDATE, CREDIT, DELIVER, HEARTBEAT, METADATA, METADATA_UPDATE,
            PUBLISH_CONFIRM, PUBLISH_ERROR, TUNE,
        },
    },
};

/// The answers that have no code or no content of the usual form.
const CREDIT_ANSWER: u16 = CREDIT | ANSWER;
const CLOSE_ANSWER: u16 = CLOSE | ANSWER;
const METADATA_ANSWER: u16 = METADATA | ANSWER;

/// Size, key, version, publisher and number of elements.
const LIST_HEAD: usize = HEAD_BYTES + 1 + 4;

impl Wire for Connection {
    type Event<'a> = Event<'a>;
    type Error = ConnectionError;

    #[inline]
    fn next_event<'a>(
        &mut self,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        loop {
            if self.chunk.is_some() {
                return self.next_delivery(input);
            }
            if self.listed.left > 0 || !self.listed.rest.is_empty() {
                return self.next_listed(input);
            }
            let Some((size, key)) = head(input) else { return Ok(None) };
            let is_begun = match key {
                PUBLISH_CONFIRM | PUBLISH_ERROR => self.begin_list(size, key, input)?,
                DELIVER => self.begin_chunk(size, input)?,
                _ => {
                    let Some(content) = self.whole(size, input)? else { return Ok(None) };
                    if let Some(event) = self.on_frame(key, content)? {
                        return Ok(Some(event));
                    }
                    true
                }
            };
            if !is_begun {
                return Ok(None);
            }
        }
    }

    #[inline]
    fn output(&mut self) -> &mut OutputBuffer {
        self.complete_frames();
        &mut self.output
    }

    #[inline]
    fn frame_max(&self) -> u32 {
        self.frame_max
    }

    #[inline]
    fn has_read(&mut self, now: Instant) {
        self.heartbeat.last_read = now;
    }

    #[inline]
    fn has_written(&mut self, now: Instant) {
        self.heartbeat.last_written = now;
    }

    fn tick(&mut self, now: Instant) -> Result<(), ConnectionError> {
        match self.heartbeat.tick(now) {
            Beat::Missed { seconds } => return Err(ConnectionError::HeartbeatMissed { seconds }),
            Beat::Send if self.output.is_empty() => write_frame(self.end(), HEARTBEAT, |_| {}),
            Beat::Send | Beat::Nothing => {}
        }
        Ok(())
    }

    fn next_tick(&self) -> Option<Instant> {
        self.heartbeat.next()
    }

    fn shrink(&mut self) {
        self.output.shrink(0);
        self.properties.clear();
    }

    fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    fn renew(&mut self, token: &str) {
        self.log_in_again(token);
    }

    fn take_renewals(&mut self) -> Renewals {
        Renewals { taken: std::mem::take(&mut self.renewed), refusal: None }
    }

    /// Closes the connection; [`Event::Closed`] follows.
    fn close(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
            self.ask(CLOSE, |out| {
                out.put_u16(Code::OK.0);
                out.put_text("done");
            });
        }
    }
}

/// Returns size and key of the next frame, without taking them.
#[inline]
fn head(input: &Input<'_>) -> Option<(u32, u16)> {
    let [a, b, c, d, key @ ..] = *input.rest().first_chunk::<6>()?;
    Some((u32::from_be_bytes([a, b, c, d]), u16::from_be_bytes(key)))
}

/// Numbers of confirms that are compared at once.
const GROUP: usize = 16;

/// Returns how many of the next numbers, at most `most`, follow a number of a message one by one.
#[inline]
fn following(number: u64, most: u32, bytes: &[u8]) -> u32 {
    let (numbers, _) = bytes.as_chunks::<8>();
    let numbers = &numbers[..numbers.len().min(most as usize)];
    let expected = number + 1..number + 1 + u64::from(most);
    // A group is compared without a branch for each of its numbers.
    let (groups, _) = numbers.as_chunks::<GROUP>();
    let groups = groups.iter().zip(expected.clone().step_by(GROUP)).take_while(|(group, first)| {
        let pairs = group.iter().zip(*first..);
        pairs.fold(0, |all, (next, expected)| all | (u64::from_be_bytes(*next) ^ expected)) == 0
    });
    let begun = groups.count() * GROUP;
    let rest = numbers[begun..].iter().zip(expected.skip(begun));
    let rest = rest.take_while(|(next, expected)| u64::from_be_bytes(**next) == *expected);
    u32::try_from(begun + rest.count()).unwrap_or(0)
}

impl Connection {
    /// Takes a whole frame, and returns its content; `None` if it is not complete.
    fn whole<'a>(
        &self,
        size: u32,
        input: &mut Input<'a>,
    ) -> Result<Option<Reader<'a>>, ConnectionError> {
        if size > self.frame_max {
            return Err(ConnectionError::FrameTooLarge { size, limit: self.frame_max });
        }
        let bytes = SIZE_BYTES + size as usize;
        if input.rest().len() < bytes {
            return Ok(None);
        }
        let mut content = Reader::new(input.take(bytes), "a command");
        content.take(HEAD_BYTES)?;
        Ok(Some(content))
    }

    /// Begins a list of confirms or errors. Returns false if its head is not complete.
    #[inline]
    fn begin_list(
        &mut self,
        size: u32,
        key: u16,
        input: &mut Input<'_>,
    ) -> Result<bool, ConnectionError> {
        if input.rest().len() < LIST_HEAD {
            return Ok(false);
        }
        let mut head = Reader::new(input.take(LIST_HEAD), "confirms");
        head.take(HEAD_BYTES)?;
        let are_errors = key == PUBLISH_ERROR;
        let (id, left) = (head.u8()?, head.u32()?);
        let listed = &mut self.listed;
        (listed.id, listed.left, listed.are_errors) = (id, left, are_errors);
        let bytes = u64::from(left) * listed.element_bytes() as u64;
        if u64::from(size) != (LIST_HEAD - SIZE_BYTES) as u64 + bytes {
            return Err(head.malformed().into());
        }
        Ok(true)
    }

    /// Returns the next confirms whose numbers follow one another, or the next error.
    #[inline]
    fn next_listed<'a>(
        &mut self,
        input: &mut Input<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        let id = self.listed.id;
        let (publisher, stream) = self.by_id.get(usize::from(id)).copied().unwrap_or((id, 0));
        if let Some(run) = self.listed.rest.pop_front() {
            return Ok(Some(self.listed.event(publisher, run)));
        }
        let bytes = self.listed.element_bytes();
        if input.rest().len() < bytes {
            return Ok(None);
        }
        self.listed.left -= 1;
        let mut element = Reader::new(input.take(bytes), "confirms");
        let number = element.u64()?;
        let unknown = ConnectionError::UnknownMessage { publisher: id, number };
        let found = self.publishers.get_mut(usize::from(publisher));
        let rest = &mut self.listed.rest;
        let settled = found.and_then(|found| found.numbering.settle(stream, number, rest));
        let (first, last) = settled.ok_or(unknown)?;
        if self.listed.are_errors {
            self.listed.code = Code(element.u16()?);
        }
        if self.listed.are_errors || self.frames.has_sub_entries() {
            return Ok(Some(self.listed.event(publisher, (first, last))));
        }
        let following = following(number, self.listed.left, input.rest());
        input.take(following as usize * bytes);
        self.listed.left -= following;
        Ok(Some(Event::Confirmed { publisher, first, last: last + u64::from(following) }))
    }

    /// Begins a chunk of messages. Returns false if its head is not complete.
    fn begin_chunk(&mut self, size: u32, input: &mut Input<'_>) -> Result<bool, ConnectionError> {
        let Some((chunk, bytes)) = Chunk::begin(size, input.rest())? else { return Ok(false) };
        input.take(bytes);
        self.chunk = Some(chunk);
        Ok(true)
    }

    fn on_frame<'a>(
        &mut self,
        key: u16,
        mut content: Reader<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        match key {
            HEARTBEAT => return Ok(None),
            CLOSE => return Err(self.on_close(content)?),
            CLOSE_ANSWER => {
                self.phase = Phase::Closed;
                return Ok(Some(Event::Closed));
            }
            _ => {}
        }
        if self.phase < Phase::Open {
            return self.on_handshake(key, content);
        }
        Ok(Some(match key {
            CREDIT_ANSWER => {
                let code = Code(content.u16()?);
                Event::CreditRefused { subscription: content.u8()?, code }
            }
            METADATA_UPDATE => {
                let code = Code(content.u16()?);
                Event::StreamGone { stream: content.text()?, code }
            }
            METADATA_ANSWER => {
                let correlation = content.u32()?;
                Event::Answer { correlation, code: Code::OK, content: content.rest() }
            }
            CONSUMER_UPDATE => Event::Update {
                correlation: content.u32()?,
                subscription: content.u8()?,
                is_active: content.u8()? == 1,
            },
            // The server says its limits once more after a new token.
            TUNE => return Ok(None),
            _ if key & ANSWER != 0 => {
                let (correlation, code) = (content.u32()?, Code(content.u16()?));
                if self.renewal == Some(correlation) {
                    self.renewal = None;
                    if code != Code::OK {
                        return Err(ConnectionError::LoginRefused(code));
                    }
                    self.renewed += 1;
                    return Ok(None);
                }
                Event::Answer { correlation, code, content: content.rest() }
            }
            _ => return Err(ConnectionError::Unexpected { key }),
        }))
    }

    /// Agrees to a close, and returns its reason.
    fn on_close(&mut self, mut content: Reader<'_>) -> Result<ConnectionError, ConnectionError> {
        let correlation = content.u32()?;
        let code = Code(content.u16()?);
        let reason = content.text()?.to_owned();
        self.phase = Phase::Closed;
        write_frame(self.end(), CLOSE_ANSWER, |out| {
            out.put_u32(correlation);
            out.put_u16(Code::OK.0);
        });
        Ok(ConnectionError::ClosedByBroker { code, reason })
    }
}

impl Listed {
    /// Bytes of a number, and of the code of an error.
    #[inline]
    fn element_bytes(&self) -> usize {
        if self.are_errors { 10 } else { 8 }
    }

    /// Returns the answer about a run of a publisher's messages.
    #[inline]
    fn event(&self, publisher: u8, (first, last): Run) -> Event<'static> {
        if self.are_errors {
            Event::Refused { publisher, first, last, code: self.code }
        } else {
            Event::Confirmed { publisher, first, last }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn successive_numbers_are_counted_up_to_the_first_gap() {
        let bytes = |numbers: &[u64]| {
            numbers.iter().flat_map(|number| number.to_be_bytes()).collect::<Vec<_>>()
        };
        for count in [0, 1, 15, 16, 17, 31, 32, 50] {
            let numbers: Vec<u64> = (8..8 + count).collect();
            let count = u32::try_from(count).unwrap();
            assert_eq!(following(7, 50, &bytes(&numbers)), count);
            assert_eq!(following(7, 20, &bytes(&numbers)), count.min(20));
            assert_eq!(following(6, 50, &bytes(&numbers)), 0);
            for gap in 0..numbers.len() {
                let mut numbers = numbers.clone();
                numbers[gap] += 1;
                assert_eq!(following(7, 50, &bytes(&numbers)) as usize, gap, "{count}");
            }
        }
        assert_eq!(following(7, 50, &bytes(&[8, 9])[..15]), 1, "a number that has not arrived");
    }
}
