//! Connecting a link: everything that waits for an answer, before the load starts.

use std::time::Duration;

use rabbitscope_amqp::{
    Properties, PublishTarget, PublishTemplate, Request, Table, Uri,
    blocking::{Client, ClientError},
};
use rabbitscope_data::scenario::{ConsumerGroup, PublisherGroup};

use super::{
    Link, Role,
    consuming::{Consumer, Consuming, Unacknowledged},
    publishing::{Publisher, Publishing},
    socket::Socket,
};
use crate::{
    pace::Pace,
    plan::{LinkPlan, Members, Seat},
    stamp,
    topology::{bind_request, declare_request, table},
};

/// What a link's setup was doing when it failed.
pub(crate) struct SetupError {
    pub(crate) doing: String,
    pub(crate) error: ClientError,
}

/// Connects, opens channels, switches confirms on and sets the prefetch.
pub(crate) fn connect(
    plan: &LinkPlan<'_>,
    uri: &Uri,
    timeout: Duration,
) -> Result<Link, SetupError> {
    let failed = |error| SetupError { doing: format!("setting up `{}`", plan.name), error };
    let mut client = Client::connect(uri, &plan.name, timeout).map_err(failed)?;
    prepare(plan, &mut client).map_err(failed)?;
    let frame_max = client.connection().limits().frame_max;
    let (stream, connection, leftover) = client.into_parts();
    let ready = stream.set_write_timeout(None).and_then(|()| stream.set_nonblocking(true));
    ready.map_err(|error| failed(error.into()))?;
    let stream = mio::net::TcpStream::from_std(stream);
    let role = match &plan.members {
        Members::Publishers { group, seats } => {
            Role::Publishing(publishing(group, seats, frame_max))
        }
        Members::Consumers { group, seats, .. } => Role::Consuming(consuming(group, seats)),
    };
    Ok(Link { socket: Socket::new(stream, connection, leftover), role, is_closed: false })
}

fn prepare(plan: &LinkPlan<'_>, client: &mut Client) -> Result<(), ClientError> {
    for number in 0..plan.channels {
        let channel = client.open_channel()?;
        match &plan.members {
            Members::Publishers { group, .. } if group.confirm_window.is_some() => {
                client.call(channel, &Request::ConfirmSelect)?;
            }
            Members::Publishers { .. } => {}
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
