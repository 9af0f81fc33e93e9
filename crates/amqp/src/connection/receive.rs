//! The connection as the owner of its socket knows it: conversion of received frames into events, heartbeats, output.

use std::time::Instant;

use rabbitscope_protocol::{Beat, Input, OutputBuffer, Renewals, Wire};

use super::{
    assembly::Progress,
    state::{Connection, Phase},
};
use crate::{
    error::ConnectionError,
    event::Event,
    frame::{FrameKind, next_frame, write_frame},
    method::{Handshake, ServerMethod, write_handshake},
    protocol::reply_codes::REPLY_SUCCESS,
    table::Table,
    uri::Mechanism,
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
            let start = input.consumed();
            let Some(frame) = next_frame(input, self.limits.frame_max)? else { return Ok(None) };
            let event = match frame.kind {
                FrameKind::Method => match ServerMethod::parse(frame.payload)? {
                    ServerMethod::Content(method) => {
                        let channel = frame.channel;
                        match self.content(channel, method, input)? {
                            Progress::Complete(event) => Some(event),
                            Progress::Assembling => None,
                            Progress::Incomplete => {
                                input.rewind(start);
                                return Ok(None);
                            }
                        }
                    }
                    method => self.on_method(frame.channel, method)?,
                },
                FrameKind::Header | FrameKind::Body => self.assemble(&frame)?,
                FrameKind::Heartbeat => None,
            };
            if event.is_some() {
                return Ok(event);
            }
        }
    }

    #[inline]
    fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    #[inline]
    fn frame_max(&self) -> u32 {
        self.limits.frame_max
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
            Beat::Send if self.output.is_empty() => {
                write_frame(self.output.end(), FrameKind::Heartbeat, 0, |_| {});
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
        self.server_properties = Table::default();
    }

    fn is_closed(&self) -> bool {
        self.phase == Phase::Closed
    }

    /// A broker that refuses the token closes the connection.
    fn renew(&mut self, token: &str) {
        let is_plain = self.identity.uri.mechanism == Mechanism::Plain;
        if self.phase == Phase::Open && self.can_renew && is_plain {
            write_handshake(self.output.end(), 0, &Handshake::UpdateSecret { token });
        }
    }

    fn take_renewals(&mut self) -> Renewals {
        Renewals { taken: std::mem::take(&mut self.renewed), refusal: None }
    }

    /// Closes the connection; [`Event::Closed`] follows.
    fn close(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
            let close = Handshake::Close { code: REPLY_SUCCESS, text: "done" };
            write_handshake(self.output.end(), 0, &close);
        }
    }
}
