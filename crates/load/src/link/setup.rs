//! Connecting a link: everything that waits for an answer, before the load starts.

use std::time::Instant;

use rabbitscope_amqp::{
    Connection, Properties, PublishTarget, PublishTemplate, Request, Table,
    blocking::{Client, ClientError},
};
use rabbitscope_data::scenario::{ConsumerGroup, PublisherGroup};

use super::{
    Failure, Role,
    answering::Answering,
    calling::Calling,
    churning::Churning,
    consuming::{Consumer, Consuming, Unacknowledged},
    publishing::{Publisher, Publishing},
    socket,
};
use crate::{
    LoadError,
    dial::{Dialer, Stream},
    pace::Pace,
    plan::{LinkPlan, Members, Seat},
    stamp,
    topology::{bind_request, broken, connecting, declare_request, table},
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
            Members::Publishers { group, seats } => {
                Self::Publishing(publishing(group, seats, frame_max))
            }
            Members::Consumers { group, seats, .. } => Self::Consuming(consuming(group, seats)),
            Members::Callers { group, seats, queues } => {
                Self::Calling(Calling::new(group, seats, queues))
            }
            Members::Responders { group, seats, queues } => {
                Self::Answering(Answering::new(group, seats, queues))
            }
            Members::Churn { churn, seats } => Self::Churning(Churning::new(churn, seats)),
        }
    }
}

fn prepare(plan: &LinkPlan<'_>, client: &mut Client<Stream>) -> Result<(), ClientError> {
    for number in 0..plan.channels {
        let channel = client.open_channel()?;
        match &plan.members {
            Members::Publishers { group, .. } if group.confirm_window.is_some() => {
                client.call(channel, &Request::ConfirmSelect)?;
            }
            Members::Publishers { .. } | Members::Callers { .. } | Members::Churn { .. } => {}
            Members::Responders { group, .. } => {
                if let Some(prefetch) = group.prefetch {
                    client.call(channel, &Request::Qos { prefetch, global: false })?;
                }
            }
            Members::Consumers { group, exclusive, .. } => {
                if let Some(prefetch) = group.prefetch {
                    client.call(channel, &Request::Qos { prefetch, global: false })?;
                }
                if let Some(queue) = exclusive.filter(|_| number == 0) {
                    let arguments = table(queue);
                    client.call(channel, &declare_request(queue, &arguments))?;
                    for binding in &queue.bindings {
                        let none = Table::default();
                        client.call(channel, &bind_request(queue, binding, &none))?;
                    }
                }
            }
        }
    }
    Ok(())
}

fn publishing(group: &PublisherGroup, seats: &[Seat], frame_max: u32) -> Publishing {
    let properties = Properties::with_delivery_mode(group.persistent);
    let publishers = seats.iter().map(|seat| {
        let target = PublishTarget {
            channel: seat.channel,
            exchange: &group.exchange,
            routing_key: &group.routing_key,
            mandatory: group.mandatory,
            properties: &properties,
        };
        let size = group.size_bytes as usize;
        Publisher {
            channel: seat.channel,
            template: PublishTemplate::new(&target, size, frame_max),
            number: seat.member,
            is_stamped: size >= stamp::SIZE,
            window: group.confirm_window,
            limit: group.messages,
            pace: group.rate.map(|rate| Pace::new(rate, seat.member, group.count)),
            sent: 0,
            outstanding: 0,
        }
    });
    Publishing::new(publishers.collect())
}

fn consuming(group: &ConsumerGroup, seats: &[Seat]) -> Consuming {
    let channels = seats.iter().map(|seat| seat.channel).max().unwrap_or(0);
    Consuming {
        queue: group.queue.clone(),
        arguments: crate::topology::fields(&group.arguments),
        auto_ack: group.auto_ack,
        multi_ack_every: group.multi_ack_every,
        limit: group.messages,
        consumers: seats
            .iter()
            .map(|seat| Consumer { channel: seat.channel, received: 0 })
            .collect(),
        unacknowledged: vec![Unacknowledged::default(); usize::from(channels) + 1],
    }
}
