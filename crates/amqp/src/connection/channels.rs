//! Opening and closing of channels, and the broker's methods on them.

use super::state::{Channel, ChannelPhase, Connection};
use crate::{
    error::ConnectionError,
    event::Event,
    method::{Handshake, ServerMethod, write_handshake},
    protocol::reply_codes::REPLY_SUCCESS,
};

impl Connection {
    /// Opens a channel; [`Event::ChannelOpened`] follows.
    pub fn open_channel(&mut self) -> Result<u16, ConnectionError> {
        let limit = self.limits.channel_max;
        let free = (1..=limit).find(|number| {
            let state = self.channels.get(usize::from(*number));
            state.is_none_or(|state| state.phase == ChannelPhase::Closed)
        });
        let channel = free.ok_or(ConnectionError::NoFreeChannel { limit })?;
        self.begin_channel(channel);
        Ok(channel)
    }

    /// Opens the channel with this number, which must be closed; [`Event::ChannelOpened`] follows. Fails if the broker
    /// does not permit so many.
    pub fn open_channel_number(&mut self, channel: u16) -> Result<(), ConnectionError> {
        let limit = self.limits.channel_max;
        if channel == 0 || channel > limit {
            return Err(ConnectionError::NoFreeChannel { limit });
        }
        self.begin_channel(channel);
        Ok(())
    }

    fn begin_channel(&mut self, channel: u16) {
        if self.channels.len() <= usize::from(channel) {
            self.channels.resize_with(usize::from(channel) + 1, Channel::default);
        }
        self.channels[usize::from(channel)] =
            Channel { phase: ChannelPhase::Opening, assembly: None };
        write_handshake(self.output.end(), channel, &Handshake::ChannelOpen);
    }

    /// Closes a channel; [`Event::ChannelClosed`] follows.
    pub fn close_channel(&mut self, channel: u16) {
        if let Ok(state) = self.channel(channel, "a request")
            && state.phase == ChannelPhase::Open
        {
            state.phase = ChannelPhase::Closing;
            let close = Handshake::ChannelClose { code: REPLY_SUCCESS, text: "done" };
            write_handshake(self.output.end(), channel, &close);
        }
    }

    pub(super) fn on_method(
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
            // A method that was under way when we closed the channel.
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
                // Both sides close at the same time. We answer the broker; it will still answer us.
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
}
