//! Connecting a link: everything that waits for an answer, before the load starts.

use std::time::Instant;

use rabbitscope_amqp::{
    Connection, Request,
    blocking::{Client, ClientError},
};
use rabbitscope_runs::scenario::{ConsumerGroup, PublisherGroup};

use super::{
    Failure, Role,
    answering::Answering,
    calling::Calling,
    churning::Churning,
    consuming::Consuming,
    publishing::{Publisher, PublisherProgress, Publishing},
    socket,
};
use crate::{
    LoadError,
    dial::{Dialer, Stream},
    message::Messages,
    plan::{LinkPlan, Members, Seat},
    timetable::Timetable,
    topology::{QueueSet, bind_request, broken, connecting, declare_request, fields, table},
};

/// While connections are set up, more than a few heartbeats is more than a broker says.
const LEFTOVER_MAX: usize = 32 * 1024;

/// A connection that is ready for its role: channels are open, confirms on, the prefetch set.
pub(crate) struct Wire {
    pub(super) stream: Stream,
    pub(super) connection: Connection,
    /// Read and not taken yet.
    pub(super) leftover: Vec<u8>,
}

impl Wire {
    /// Connects at the address whose `turn` it is, or at another, and does all that waits for an
    /// answer. A connection that is made again is set up by the same words.
    pub(crate) fn set_up(
        plan: &LinkPlan<'_>,
        dialer: &Dialer,
        turn: usize,
    ) -> Result<Self, LoadError> {
        let answer = dialer.dial(&plan.name, turn);
        let (mut client, uri) = answer.map_err(|failed| connecting(failed.uri, failed.error))?;
        let failed = |error| broken(uri, &format!("setting up `{}`", plan.name), error);
        prepare(plan, &mut client).map_err(failed)?;
        let (stream, connection, leftover) = client.into_parts();
        stream.stop_waiting().map_err(|error| failed(error.into()))?;
        Ok(Self { stream, connection, leftover })
    }

    /// Sends a heartbeat when one is due, while others are still being set up. What has come is put
    /// aside for the load thread.
    pub(crate) fn keep_alive(&mut self, now: Instant) -> Result<(), Failure> {
        if self.connection.next_tick().is_none_or(|due| due > now) {
            return Ok(());
        }
        let mut buffer = [0; 4096];
        while self.leftover.len() < LEFTOVER_MAX {
            let received =
                self.stream.receive(&mut buffer).map_err(|error| socket::broken(&error))?;
            let Some(count) = received.bytes.filter(|count| *count > 0) else { break };
            self.leftover.extend_from_slice(&buffer[..count]);
            self.connection.has_read(now);
        }
        self.connection.tick(now)?;
        let output = self.connection.output();
        let sent = self.stream.send(output.pending()).map_err(|error| socket::broken(&error))?;
        output.advance(sent.taken);
        Ok(())
    }

    /// Largest frame that was agreed on, in bytes.
    pub(crate) fn frame_max(&self) -> u32 {
        self.connection.limits().frame_max
    }
}

impl Role {
    /// What those of `plan` do, on connections with frames of at most `frame_max` bytes.
    pub(super) fn new(plan: &LinkPlan<'_>, frame_max: u32) -> Self {
        match &plan.members {
            Members::Publishers { group, messages, seats } => {
                let publishers =
                    seats.iter().map(|seat| publisher(group, messages, *seat, frame_max));
                Self::Publishing(Publishing::new(publishers.collect(), group))
            }
            Members::Consumers { reading, seats } => {
                Self::Consuming(Consuming::new(reading, seats))
            }
            Members::Callers { group, random, seats, queues } => {
                Self::Calling(Calling::new(group, random, seats, queues))
            }
            Members::Responders { group, seats, queues } => {
                Self::Answering(Answering::new(group, seats, queues))
            }
            Members::Churn { churn, seats } => Self::Churning(Churning::new(churn, seats)),
        }
    }
}

fn prepare(plan: &LinkPlan<'_>, client: &mut Client<Stream>) -> Result<(), ClientError> {
    for _ in 0..plan.channels {
        let channel = client.open_channel()?;
        match &plan.members {
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
            Members::Consumers { reading, seats } => {
                prepare_consumers(reading.group, channel, client)?;
                if let Some(set) = reading.declared_on(channel, seats) {
                    declare(&set, channel, client)?;
                }
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

/// Queues that are to belong to this connection.
fn declare(set: &QueueSet, channel: u16, client: &mut Client<Stream>) -> Result<(), ClientError> {
    let arguments = table(&set.spec);
    for name in &set.names {
        client.call(channel, &declare_request(&set.spec, name, &arguments))?;
    }
    for (binding, keys) in set.spec.bindings.iter().zip(&set.keys) {
        let arguments = fields(&binding.arguments);
        for (name, key) in set.names.iter().zip(keys) {
            let request = bind_request(name, &binding.exchange, key, &arguments);
            client.call(channel, &request)?;
        }
    }
    Ok(())
}

fn publisher(
    group: &PublisherGroup,
    messages: &Messages<'_>,
    seat: Seat,
    frame_max: u32,
) -> Publisher {
    let start = messages.start(seat.member);
    Publisher {
        channel: seat.channel,
        payload: messages.payload(seat.member, seat.channel, frame_max),
        number: seat.number,
        window: group.confirm_window.or(group.tx_size),
        republishes: group.republish_unconfirmed,
        tx_size: group.tx_size,
        start,
        limit: group.messages,
        pace: Timetable::new(
            &group.schedule,
            seat.member,
            group.count,
            messages.seed(seat.member),
            start,
        ),
        late: group.late,
        progress: PublisherProgress::default(),
    }
}
