//! The connection as the owner of its socket knows it: conversion of received frames into events, heartbeats, output.

use std::time::Instant;

use rabbitscope_protocol::{Beat, Input, Malformed, OutputBuffer, Renewals, Wire};

use super::state::{Connection, FRAME_MAX, Phase};
use crate::{
    codec::{FRAME_HEAD, Reader, write_frame},
    error::ConnectionError,
    event::Event,
    protocol::codes::{
        AMQP_FRAME, ATTACH, BEGIN, CLOSE, DETACH, DISPOSITION, END, FLOW, OPEN, SASL_FRAME,
        TRANSFER,
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
        loop {
            if let Some(expected) = self.awaited_header() {
                let Some(received) = input.rest().first_chunk().copied() else { return Ok(None) };
                input.take(expected.len());
                self.on_header(received, expected)?;
                continue;
            }
            let Some(frame) = frame(input)? else { return Ok(None) };
            // An empty frame is a heartbeat.
            if !frame.body.is_empty()
                && let Some(event) = self.on_frame(&frame)?
            {
                return Ok(Some(event));
            }
        }
    }

    #[inline]
    fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    /// Largest frame in either direction.
    #[inline]
    fn frame_max(&self) -> u32 {
        FRAME_MAX
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
        if self.login.idle_seconds().is_none() {
            // The broker was not asked for heartbeats.
            self.heartbeat.last_read = now;
        }
        match self.heartbeat.tick(now) {
            Beat::Missed { seconds } => return Err(ConnectionError::HeartbeatMissed { seconds }),
            Beat::Send if self.output.is_empty() => {
                write_frame(self.output.end(), AMQP_FRAME, 0, None, |_| {});
            }
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

    /// A broker that refuses the token closes the connection.
    fn renew(&mut self, token: &str) {
        self.renew_token(token);
    }

    fn take_renewals(&mut self) -> Renewals {
        std::mem::take(&mut self.renewals)
    }

    /// Closes the connection; [`Event::Closed`] follows.
    fn close(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
            self.write_close();
        }
    }
}

/// A frame that has arrived.
struct Frame<'a> {
    kind: u8,
    channel: u16,
    body: &'a [u8],
}

/// Takes the next frame; `None` if it is not complete.
#[inline]
fn frame<'a>(input: &mut Input<'a>) -> Result<Option<Frame<'a>>, ConnectionError> {
    let Some([a, b, c, d, offset, kind, channel @ ..]) =
        input.rest().first_chunk::<FRAME_HEAD>().copied()
    else {
        return Ok(None);
    };
    let size = u32::from_be_bytes([a, b, c, d]);
    if size > FRAME_MAX {
        return Err(ConnectionError::FrameTooLarge { size, limit: FRAME_MAX });
    }
    let (size, body) = (size as usize, usize::from(offset) * 4);
    if body < FRAME_HEAD || size < body {
        return Err(Malformed { what: "a frame" }.into());
    }
    if input.rest().len() < size {
        return Ok(None);
    }
    let body = &input.take(size)[body..];
    Ok(Some(Frame { kind, channel: u16::from_be_bytes(channel), body }))
}

impl Connection {
    #[inline]
    fn on_frame<'a>(&mut self, frame: &Frame<'a>) -> Result<Option<Event<'a>>, ConnectionError> {
        let mut reader = Reader::new(frame.body, "a performative");
        let (code, fields) = reader.described_list()?;
        let unexpected = Err(ConnectionError::Unexpected { code });
        let is_login = self.phase < Phase::AwaitOpen;
        if is_login != (frame.kind == SASL_FRAME) {
            return unexpected;
        }
        if is_login {
            self.on_login(code, fields)?;
            return Ok(None);
        }
        let channel = frame.channel;
        match (self.phase, u8::try_from(code)) {
            (_, Ok(CLOSE)) => self.on_close(fields).map(Some),
            (Phase::AwaitOpen, Ok(OPEN)) => self.on_open(fields).map(Some),
            (Phase::AwaitOpen, _) => unexpected,
            (_, Ok(TRANSFER)) => self.on_transfer(channel, fields, reader.rest()),
            (_, Ok(DISPOSITION)) => self.on_disposition(channel, fields),
            (_, Ok(FLOW)) => self.on_flow(channel, fields),
            (_, Ok(BEGIN)) => self.on_begin(channel, fields).map(|()| None),
            (_, Ok(ATTACH)) => self.on_attach(channel, fields),
            (_, Ok(DETACH)) => self.on_detach(channel, fields),
            (_, Ok(END)) => self.on_end(channel, fields),
            _ => unexpected,
        }
    }
}
