//! Assembly of received messages: a method, a content header and body frames.
//!
//! Almost always one read contains the whole message, with its body in one frame; then the message is borrowed. A
//! body in several frames, or a message interleaved with frames of another channel, is copied frame by frame.

use std::borrow::Cow;

use rabbitscope_protocol::Input;

use super::{
    assembly_state::Assembly,
    state::{ChannelPhase, Connection},
};
use crate::{
    error::{ConnectionError, Malformed},
    event::{Delivery, Event, Returned},
    frame::{Frame, FrameKind, next_frame},
    method::ContentMethod,
    protocol::methods::BASIC,
    wire::Reader,
};

/// Size limit of a body. RabbitMQ's own limit (`max_message_size`) is at most 512 MiB.
const BODY_MAX: u64 = 1 << 30;

pub(super) enum Progress<'a> {
    /// The message is complete.
    Complete(Event<'a>),
    /// The rest of the message has not been read yet.
    Incomplete,
    /// The message is assembled frame by frame.
    Assembling,
}

struct Header<'a> {
    body_size: u64,
    properties: &'a [u8],
}

impl Connection {
    /// Reads a message whose method was just taken from `input`.
    #[inline]
    pub(super) fn content<'a>(
        &mut self,
        channel: u16,
        method: ContentMethod<'a>,
        input: &mut Input<'a>,
    ) -> Result<Progress<'a>, ConnectionError> {
        let limit = self.limits.frame_max;
        let state = self.channel(channel, "a message")?;
        if state.assembly.is_some() || state.phase == ChannelPhase::Closed {
            return Err(ConnectionError::Unexpected { what: "a message", channel });
        }
        let start = input.consumed();
        let Some(frame) = next_frame(input, limit)? else { return Ok(Progress::Incomplete) };
        if frame.kind != FrameKind::Header || frame.channel != channel {
            return self.start_assembly(channel, method, input, start);
        }
        let header = header(frame.payload)?;
        if header.body_size == 0 {
            return Ok(self.complete(channel, method, &header, &[]));
        }
        let Some(frame) = next_frame(input, limit)? else { return Ok(Progress::Incomplete) };
        let is_whole = frame.kind == FrameKind::Body
            && frame.channel == channel
            && frame.payload.len() as u64 == header.body_size;
        if is_whole {
            return Ok(self.complete(channel, method, &header, frame.payload));
        }
        self.start_assembly(channel, method, input, start)
    }

    #[inline]
    fn complete<'a>(
        &self,
        channel: u16,
        method: ContentMethod<'a>,
        header: &Header<'a>,
        body: &'a [u8],
    ) -> Progress<'a> {
        if self.channels[usize::from(channel)].phase != ChannelPhase::Open {
            return Progress::Assembling;
        }
        let (properties, body) = (Cow::Borrowed(header.properties), Cow::Borrowed(body));
        Progress::Complete(event(channel, method, properties, body))
    }

    #[cold]
    fn start_assembly<'a>(
        &mut self,
        channel: u16,
        method: ContentMethod<'a>,
        input: &mut Input<'a>,
        start: usize,
    ) -> Result<Progress<'a>, ConnectionError> {
        input.rewind(start);
        self.channel(channel, "a message")?.assembly = Some(Box::new(Assembly {
            method: method.into_owned(),
            properties: None,
            body_size: 0,
            body: Vec::new(),
        }));
        Ok(Progress::Assembling)
    }

    /// Adds a header or body frame to a message that is being assembled.
    pub(super) fn assemble(
        &mut self,
        frame: &Frame<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        let channel = frame.channel;
        let unexpected = ConnectionError::Unexpected { what: frame_name(frame), channel };
        let state = self.channel(channel, frame_name(frame))?;
        let Some(assembly) = state.assembly.as_mut() else { return Err(unexpected) };
        match (&assembly.properties, frame.kind) {
            (None, FrameKind::Header) => {
                let header = header(frame.payload)?;
                assembly.properties = Some(header.properties.to_vec());
                assembly.body_size = header.body_size;
            }
            (Some(_), FrameKind::Body) => {
                assembly.body.extend_from_slice(frame.payload);
                if assembly.body.len() as u64 > assembly.body_size {
                    let reason = "longer than its header says";
                    return Err(ConnectionError::Malformed { frame: "body", reason });
                }
            }
            _ => return Err(unexpected),
        }
        let is_complete =
            assembly.properties.is_some() && assembly.body.len() as u64 == assembly.body_size;
        let Some(assembly) = state.assembly.take_if(|_| is_complete) else { return Ok(None) };
        if state.phase != ChannelPhase::Open {
            return Ok(None);
        }
        let properties = Cow::Owned(assembly.properties.unwrap_or_default());
        Ok(Some(event(channel, assembly.method, properties, Cow::Owned(assembly.body))))
    }
}

#[inline]
fn header(payload: &[u8]) -> Result<Header<'_>, ConnectionError> {
    let read = || {
        let mut reader = Reader::new(payload);
        let class = reader.u16()?;
        let _weight = reader.u16()?;
        let body_size = reader.u64()?;
        if class != BASIC {
            return Err(Malformed("wrong class"));
        }
        if body_size > BODY_MAX {
            return Err(Malformed("a message above 1 GiB"));
        }
        Ok(Header { body_size, properties: reader.rest() })
    };
    read().map_err(ConnectionError::header)
}

#[inline]
fn event<'a>(
    channel: u16,
    method: ContentMethod<'a>,
    properties: Cow<'a, [u8]>,
    body: Cow<'a, [u8]>,
) -> Event<'a> {
    match method {
        ContentMethod::Deliver {
            consumer_tag,
            delivery_tag,
            redelivered,
            exchange,
            routing_key,
        } => Event::Delivery(Delivery {
            channel,
            consumer_tag,
            delivery_tag,
            redelivered,
            exchange,
            routing_key,
            properties,
            body,
        }),
        ContentMethod::GetOk { delivery_tag, redelivered, exchange, routing_key, messages } => {
            let consumer_tag = Cow::Borrowed(&[][..]);
            let delivery = Delivery {
                channel,
                consumer_tag,
                delivery_tag,
                redelivered,
                exchange,
                routing_key,
                properties,
                body,
            };
            Event::Got { delivery, messages }
        }
        ContentMethod::Return { code, text, exchange, routing_key } => Event::Returned(Returned {
            channel,
            code,
            text,
            exchange,
            routing_key,
            properties,
            body,
        }),
    }
}

/// Name of the frame's kind, for errors.
fn frame_name(frame: &Frame<'_>) -> &'static str {
    match frame.kind {
        FrameKind::Method => "a method",
        FrameKind::Header => "a content header",
        FrameKind::Body => "a body",
        FrameKind::Heartbeat => "a heartbeat",
    }
}
