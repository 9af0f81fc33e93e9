//! One connection, as a state machine without a socket.
//!
//! Bytes go in through [`Frames`] and [`Connection::next_event`], come out through
//! [`Connection::output`]; time comes in with [`Connection::has_read`], [`Connection::has_written`]
//! and [`Connection::tick`].

mod assembly;
mod handshake;
mod heartbeat;

use std::time::{Duration, Instant};

use crate::{
    error::{ConnectionError, Refusal},
    event::Event,
    frame::{Frame, FrameKind, Frames},
    method::{Handshake, Request, ServerMethod, write_handshake, write_request},
    output::OutputBuffer,
    parts::{Content, Route},
    publish::PublishTemplate,
    reply::Addressed,
    table::Table,
    uri::Uri,
};
use assembly::Assembly;
use heartbeat::Heartbeat;

/// What both sides agreed on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// Largest channel number.
    pub channel_max: u16,
    /// Largest frame in bytes, overhead included.
    pub frame_max: u32,
    /// Heartbeat interval; absent: none.
    pub heartbeat: Option<Duration>,
}

/// Before they are agreed on. RabbitMQ's first frames are far below.
const INITIAL: Limits = Limits { channel_max: 2047, frame_max: 131_072, heartbeat: None };

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Phase {
    AwaitStart,
    AwaitTune,
    AwaitOpenOk,
    Open,
    Closing,
    Closed,
}

#[derive(Debug, Default)]
struct Channel {
    phase: ChannelPhase,
    assembly: Option<Box<Assembly>>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum ChannelPhase {
    #[default]
    Closed,
    Opening,
    Open,
    Closing,
}

/// Who we are, for the handshake.
#[derive(Debug)]
struct Opening {
    uri: Uri,
    name: String,
}

/// One connection.
#[derive(Debug)]
pub struct Connection {
    opening: Box<Opening>,
    phase: Phase,
    limits: Limits,
    channels: Vec<Channel>,
    output: OutputBuffer,
    server_properties: Table,
    heartbeat: Heartbeat,
}

impl Connection {
    /// A connection that is about to be opened: the protocol header waits in the output. `name` is
    /// shown by the broker's management.
    pub fn new(uri: &Uri, name: &str, now: Instant) -> Self {
        let mut output = OutputBuffer::default();
        output.end().extend_from_slice(b"AMQP\x00\x00\x09\x01");
        Self {
            opening: Box::new(Opening { uri: uri.clone(), name: name.to_owned() }),
            phase: Phase::AwaitStart,
            limits: INITIAL,
            channels: Vec::new(),
            output,
            server_properties: Table::default(),
            heartbeat: Heartbeat::new(now),
        }
    }

    /// What was agreed on; meaningful after [`Event::Opened`].
    pub fn limits(&self) -> Limits {
        self.limits
    }

    /// What the broker says of itself: `product`, `version`, `platform`, `cluster_name`, ….
    pub fn server_properties(&self) -> &Table {
        &self.server_properties
    }

    /// Gives back what only the handshake and large bursts needed.
    pub fn shrink(&mut self) {
        self.output.shrink(0);
        self.server_properties = Table::default();
    }

    /// What waits to be written.
    #[inline]
    pub fn output(&mut self) -> &mut OutputBuffer {
        &mut self.output
    }

    /// Takes frames until one of them means something to the caller. `None`: more bytes are needed,
    /// [`Frames::rest`] belongs in front of them. An error ends the connection; what is in the
    /// output may still be written as a courtesy.
    #[inline]
    pub fn next_event<'a>(
        &mut self,
        frames: &mut Frames<'a>,
    ) -> Result<Option<Event<'a>>, ConnectionError> {
        loop {
            let start = frames.consumed();
            let Some(frame) = frames.next(self.limits.frame_max)? else { return Ok(None) };
            let event = match frame.kind {
                FrameKind::Method => match ServerMethod::parse(frame.payload)? {
                    ServerMethod::Content(method) => {
                        let channel = frame.channel;
                        match self.content(channel, method, frames)? {
                            assembly::Progress::Complete(event) => Some(event),
                            assembly::Progress::Assembling => None,
                            assembly::Progress::Incomplete => {
                                frames.rewind(start);
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

    fn on_method(
        &mut self,
        channel: u16,
        method: ServerMethod<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        if channel == 0 {
            return self.on_connection_method(method);
        }
        let phase = self.channel(channel, "a method")?.phase;
        let open = |event| match phase {
            ChannelPhase::Open => Ok(Some(event)),
            // What was on its way when we closed the channel.
            ChannelPhase::Closing => Ok(None),
            _ => Err(ConnectionError::Unexpected { what: "a method", channel }),
        };
        match method {
            ServerMethod::Ack { delivery_tag: tag, multiple } => {
                open(Event::Confirm { channel, tag, multiple, accepted: true })
            }
            ServerMethod::Nack { delivery_tag: tag, multiple } => {
                open(Event::Confirm { channel, tag, multiple, accepted: false })
            }
            ServerMethod::Reply(reply) => open(Event::Reply { channel, reply }),
            ServerMethod::GetEmpty => open(Event::GetEmpty { channel }),
            ServerMethod::Cancel { consumer_tag } => {
                open(Event::ConsumerCancelled { channel, consumer_tag })
            }
            ServerMethod::ChannelFlow { active } => {
                let flow_ok = Handshake::ChannelFlowOk { active };
                write_handshake(self.output.end(), channel, &flow_ok);
                open(Event::Flow { channel, active })
            }
            method => self.on_channel_life(channel, phase, method),
        }
    }

    fn on_channel_life(
        &mut self,
        channel: u16,
        phase: ChannelPhase,
        method: ServerMethod<'_>,
    ) -> Result<Option<Event<'static>>, ConnectionError> {
        let (next, event) = match (phase, method) {
            (ChannelPhase::Opening, ServerMethod::ChannelOpenOk) => {
                (ChannelPhase::Open, Event::ChannelOpened { channel })
            }
            (ChannelPhase::Closing, ServerMethod::ChannelCloseOk) => {
                (ChannelPhase::Closed, Event::ChannelClosed { channel, refusal: None })
            }
            (ChannelPhase::Closing, ServerMethod::ChannelClose(_)) => {
                // Both sides close at the same time: theirs is answered, ours still will be.
                write_handshake(self.output.end(), channel, &Handshake::ChannelCloseOk);
                return Ok(None);
            }
            (ChannelPhase::Opening | ChannelPhase::Open, ServerMethod::ChannelClose(refusal)) => {
                write_handshake(self.output.end(), channel, &Handshake::ChannelCloseOk);
                (ChannelPhase::Closed, Event::ChannelClosed { channel, refusal: Some(refusal) })
            }
            _ => return Err(ConnectionError::Unexpected { what: "a method", channel }),
        };
        let state = self.channel(channel, "a method")?;
        state.phase = next;
        state.assembly = None;
        Ok(Some(event))
    }

    fn channel(
        &mut self,
        channel: u16,
        what: &'static str,
    ) -> Result<&mut Channel, ConnectionError> {
        let state = self.channels.get_mut(usize::from(channel));
        state.ok_or(ConnectionError::Unexpected { what, channel })
    }

    /// Asks for a channel; [`Event::ChannelOpened`] follows.
    pub fn open_channel(&mut self) -> Result<u16, ConnectionError> {
        let limit = self.limits.channel_max;
        let free = (1..=limit).find(|number| {
            let state = self.channels.get(usize::from(*number));
            state.is_none_or(|state| state.phase == ChannelPhase::Closed)
        });
        let channel = free.ok_or(ConnectionError::NoFreeChannel { limit })?;
        if self.channels.len() <= usize::from(channel) {
            self.channels.resize_with(usize::from(channel) + 1, Channel::default);
        }
        self.channels[usize::from(channel)] =
            Channel { phase: ChannelPhase::Opening, assembly: None };
        write_handshake(self.output.end(), channel, &Handshake::ChannelOpen);
        Ok(channel)
    }

    /// Closes a channel; [`Event::ChannelClosed`] follows.
    pub fn close_channel(&mut self, channel: u16) {
        if let Ok(state) = self.channel(channel, "a request")
            && state.phase == ChannelPhase::Open
        {
            state.phase = ChannelPhase::Closing;
            let close = Handshake::ChannelClose { code: 200, text: "done" };
            write_handshake(self.output.end(), channel, &close);
        }
    }

    /// Closes the connection; [`Event::Closed`] follows.
    pub fn close(&mut self) {
        if self.phase == Phase::Open {
            self.phase = Phase::Closing;
            write_handshake(self.output.end(), 0, &Handshake::Close { code: 200, text: "done" });
        }
    }

    /// Appends a request to the output.
    #[inline]
    pub fn request(&mut self, channel: u16, request: &Request<'_>) {
        write_request(self.output.end(), channel, request);
    }

    /// Appends `count` messages to the output; see [`PublishTemplate::append`] for what it gives.
    #[inline]
    pub fn publish(
        &mut self,
        template: &PublishTemplate,
        count: usize,
    ) -> impl Iterator<Item = &mut [u8]> {
        template.append(self.output.end(), count)
    }

    /// Appends a request or a reply with `body` to the output.
    #[inline]
    pub fn send(&mut self, message: &Addressed<'_>, body: &[u8]) {
        message.write(self.output.end(), body, self.limits.frame_max);
    }

    /// Appends a message that is put together now, `head` in its place; see [`Content`].
    #[inline]
    pub fn publish_parts(&mut self, channel: u16, route: &Route, content: &Content, head: &[u8]) {
        let out = self.output.end();
        route.append(out, channel);
        content.append(out, channel, head);
    }

    /// Bytes were read at `now`.
    #[inline]
    pub fn has_read(&mut self, now: Instant) {
        self.heartbeat.last_read = now;
    }

    /// Bytes were written at `now`.
    #[inline]
    pub fn has_written(&mut self, now: Instant) {
        self.heartbeat.last_written = now;
    }

    /// Appends a heartbeat when one is due; fails when the other side is silent for too long.
    pub fn tick(&mut self, now: Instant) -> Result<(), ConnectionError> {
        self.heartbeat.tick(now, &mut self.output)
    }

    /// When [`Connection::tick`] has something to do; absent without heartbeats.
    pub fn next_tick(&self) -> Option<Instant> {
        self.heartbeat.next()
    }
}

fn closed_by(refusal: Refusal, phase: Phase) -> ConnectionError {
    match phase {
        Phase::AwaitTune if refusal.code == 403 => ConnectionError::AuthenticationRefused(refusal),
        Phase::AwaitOpenOk if refusal.code == 530 && refusal.text.contains("vhost") => {
            ConnectionError::VhostRefused(refusal)
        }
        _ => ConnectionError::ClosedByBroker(refusal),
    }
}

/// `frame` names what it is in errors.
fn name(frame: &Frame<'_>) -> &'static str {
    match frame.kind {
        FrameKind::Method => "a method",
        FrameKind::Header => "a content header",
        FrameKind::Body => "a body",
        FrameKind::Heartbeat => "a heartbeat",
    }
}
