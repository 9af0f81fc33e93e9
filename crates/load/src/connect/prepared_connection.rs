//! The set-up of a connection for its role, before the load starts: every step that waits for an answer of the broker.

use std::time::Instant;

use rabbitscope_amqp::{
    Connection, Request,
    blocking::{Client, ClientError},
};
use rabbitscope_amqp10 as amqp10;
use rabbitscope_measurements::Failure;
use rabbitscope_mqtt as mqtt;
use rabbitscope_protocol::Wire;
use rabbitscope_runs::scenario::{ConsumerGroup, Protocol};
use rabbitscope_streams as streams;
use rabbitscope_topology::{
    Dialer, QueueSet, Stream, TopologyError, declare_request, dial_error, mqtt_error, request_error,
};

use super::{
    amqp10::set_up as connect_by_amqp10, mqtt::set_up as connect_by_mqtt,
    streams::set_up as connect_to_stream,
};
use crate::plan::{LinkPlan, Members};

/// Limit of the bytes kept from the broker while other connections are set up. The broker sends heartbeats of 8 bytes
/// only.
const LEFTOVER_MAX: usize = 32 * 1024;

/// A connection that is ready for its role: channels are open, confirms are on, the prefetch is set.
pub(crate) struct Prepared<W> {
    pub(crate) stream: Stream,
    pub(crate) connection: W,
    /// Bytes read but not parsed yet.
    pub(crate) leftover: Vec<u8>,
}

/// A connection of any protocol that is ready for its role.
pub(crate) enum PreparedConnection {
    Amqp091(Prepared<Connection>),
    Amqp10(Prepared<amqp10::Connection>),
    Stream(Prepared<streams::Connection>),
    Mqtt(Prepared<mqtt::Connection>),
}

/// The reason why a connection has the expected protocol.
pub(crate) const ONE_PROTOCOL: &str = "a plan has one protocol";

impl PreparedConnection {
    /// Connects to the address at position `turn`, or to another, and makes all requests that wait for an answer.
    /// Replacements of lost connections are set up in the same way.
    pub(crate) fn set_up(
        plan: &LinkPlan<'_>,
        dialer: &Dialer,
        turn: usize,
    ) -> Result<Self, TopologyError> {
        match plan.members.protocol() {
            Protocol::Amqp091 => Self::set_up_amqp091(plan, dialer, turn),
            Protocol::Amqp10 => {
                let (stream, connection, leftover) = connect_by_amqp10(plan, dialer, turn)?;
                Ok(Self::Amqp10(Prepared { stream, connection, leftover }))
            }
            Protocol::Stream => {
                let (stream, connection, leftover) = connect_to_stream(plan, dialer, turn)?;
                Ok(Self::Stream(Prepared { stream, connection, leftover }))
            }
            Protocol::Mqtt => Self::set_up_mqtt(plan, dialer, turn),
        }
    }

    fn set_up_amqp091(
        plan: &LinkPlan<'_>,
        dialer: &Dialer,
        turn: usize,
    ) -> Result<Self, TopologyError> {
        let answer = dialer.dial(&plan.name, turn);
        let (mut client, uri) = answer.map_err(|failed| dial_error(failed.uri, failed.error))?;
        let failed = |error| request_error(uri, &format!("setting up `{}`", plan.name), error);
        prepare(plan, &mut client).map_err(failed)?;
        let (stream, connection, leftover) = client.into_parts();
        stream.stop_waiting().map_err(|error| failed(error.into()))?;
        Ok(Self::Amqp091(Prepared { stream, connection, leftover }))
    }

    fn set_up_mqtt(
        plan: &LinkPlan<'_>,
        dialer: &Dialer,
        turn: usize,
    ) -> Result<Self, TopologyError> {
        let (client, address) = connect_by_mqtt(plan, dialer, turn)?;
        let (stream, connection, leftover) = client.into_parts();
        stream.stop_waiting().map_err(|error| {
            mqtt_error(&address, &format!("setting up `{}`", plan.name), error.into())
        })?;
        Ok(Self::Mqtt(Prepared { stream, connection, leftover }))
    }

    /// Returns a connection of AMQP 0-9-1.
    pub(crate) fn amqp091(self) -> Prepared<Connection> {
        match self {
            Self::Amqp091(prepared) => prepared,
            _ => unreachable!("{ONE_PROTOCOL}"),
        }
    }

    /// Returns a connection of AMQP 1.0.
    pub(crate) fn amqp10(self) -> Prepared<amqp10::Connection> {
        match self {
            Self::Amqp10(prepared) => prepared,
            _ => unreachable!("{ONE_PROTOCOL}"),
        }
    }

    /// Returns a connection of the stream protocol.
    pub(crate) fn stream(self) -> Prepared<streams::Connection> {
        match self {
            Self::Stream(prepared) => prepared,
            _ => unreachable!("{ONE_PROTOCOL}"),
        }
    }

    /// Returns a connection of MQTT.
    pub(crate) fn mqtt(self) -> Prepared<mqtt::Connection> {
        match self {
            Self::Mqtt(prepared) => prepared,
            _ => unreachable!("{ONE_PROTOCOL}"),
        }
    }

    /// Sends a heartbeat if one is due while other connections are still set up. Keeps arriving bytes for the load
    /// thread.
    pub(crate) fn keep_alive(&mut self, now: Instant) -> Result<(), Failure> {
        match self {
            Self::Amqp091(prepared) => prepared.keep_alive(now),
            Self::Amqp10(prepared) => prepared.keep_alive(now),
            Self::Stream(prepared) => prepared.keep_alive(now),
            Self::Mqtt(prepared) => prepared.keep_alive(now),
        }
    }

    /// Largest frame that client and broker agreed on, in bytes.
    pub(crate) fn frame_max(&self) -> u32 {
        match self {
            Self::Amqp091(prepared) => prepared.connection.frame_max(),
            Self::Amqp10(prepared) => prepared.connection.frame_max(),
            Self::Stream(prepared) => prepared.connection.frame_max(),
            Self::Mqtt(prepared) => prepared.connection.frame_max(),
        }
    }
}

impl<W: Wire<Error: Into<Failure>>> Prepared<W> {
    fn keep_alive(&mut self, now: Instant) -> Result<(), Failure> {
        if self.connection.next_tick().is_none_or(|due| due > now) {
            return Ok(());
        }
        let mut buffer = [0; 4096];
        while self.leftover.len() < LEFTOVER_MAX {
            let received =
                self.stream.receive(&mut buffer).map_err(|error| Failure::socket(&error))?;
            let Some(count) = received.bytes.filter(|count| *count > 0) else { break };
            self.leftover.extend_from_slice(&buffer[..count]);
            self.connection.has_read(now);
        }
        self.connection.tick(now).map_err(Into::into)?;
        let output = self.connection.output();
        let sent = self.stream.send(output.pending()).map_err(|error| Failure::socket(&error))?;
        output.advance(sent.taken);
        Ok(())
    }
}

fn prepare(plan: &LinkPlan<'_>, client: &mut Client<Stream>) -> Result<(), ClientError> {
    for _ in 0..plan.channels {
        let channel = client.open_channel()?;
        prepare_channel(&plan.members, channel, client)?;
    }
    for guest in &plan.guests {
        for channel in guest.members.channel_range() {
            client.open_channel_number(channel)?;
            prepare_channel(&guest.members, channel, client)?;
        }
    }
    Ok(())
}

fn prepare_channel(
    members: &Members<'_>,
    channel: u16,
    client: &mut Client<Stream>,
) -> Result<(), ClientError> {
    match members {
        Members::Publishers { group, .. } if group.confirm_window.is_some() => {
            client.call(channel, &Request::ConfirmSelect)?;
        }
        Members::Publishers { group, .. } if group.tx_size.is_some() => {
            client.call(channel, &Request::TxSelect)?;
        }
        Members::Publishers { .. } | Members::Callers { .. } | Members::Churn { .. } => {}
        Members::Responders { group, .. } => {
            if let Some(prefetch) = group.prefetch {
                client.call(channel, &Request::Qos { prefetch, global: false })?;
            }
        }
        Members::Consumers { plan, placements } => {
            prepare_consumers(plan.group, channel, client)?;
            if let Some(set) = plan.declared_on(channel, placements) {
                declare(&set, channel, client)?;
            }
        }
    }
    Ok(())
}

fn prepare_consumers(
    group: &ConsumerGroup,
    channel: u16,
    client: &mut Client<Stream>,
) -> Result<(), ClientError> {
    for (prefetch, global) in [(group.prefetch, false), (group.channel_prefetch, true)] {
        if let Some(prefetch) = prefetch {
            client.call(channel, &Request::Qos { prefetch, global })?;
        }
    }
    if group.tx_size.is_some() {
        client.call(channel, &Request::TxSelect)?;
    }
    Ok(())
}

/// Declares the queues that belong to this connection.
fn declare(set: &QueueSet, channel: u16, client: &mut Client<Stream>) -> Result<(), ClientError> {
    for (at, name) in set.names.iter().enumerate() {
        client.call(channel, &declare_request(&set.spec, name, set.arguments(at)))?;
    }
    for request in set.bind_requests().iter().flatten() {
        client.call(channel, request)?;
    }
    Ok(())
}
