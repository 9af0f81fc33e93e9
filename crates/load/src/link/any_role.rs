//! The role of a connection, picked by its plan.

use rabbitscope_amqp::Connection;
use rabbitscope_amqp10 as amqp10;
use rabbitscope_mqtt as mqtt;
use rabbitscope_protocol::Wire as _;
use rabbitscope_runs::scenario::PublisherGroup;
use rabbitscope_streams as streams;
use rabbitscope_timing::RunInstant;

use super::{answering::Answering, driven::Driven};
use crate::{
    connect::{ONE_PROTOCOL, Prepared, PreparedConnection},
    link::{
        calling::Calling,
        churning::Churning,
        consuming::Consuming,
        publishing::{Publisher, PublisherProgress, Publishing, Sends},
        receiving::Receiving,
        sharing::{Part, Sharing},
    },
    message::{Messages, Payload},
    pacing::ArrivalSchedule,
    plan::{LinkPlan, Members, Placement},
};

/// One of the roles, with the socket of its connection. [`with_role!`] calls a method of it.
pub(super) enum AnyRole {
    Publishing(Driven<Publishing<Connection>>),
    Amqp10Publishing(Driven<Publishing<amqp10::Connection>>),
    Amqp10Receiving(Driven<Receiving<amqp10::Connection>>),
    StreamPublishing(Driven<Publishing<streams::Connection>>),
    StreamReceiving(Driven<Receiving<streams::Connection>>),
    MqttPublishing(Driven<Publishing<mqtt::Connection>>),
    MqttReceiving(Driven<Receiving<mqtt::Connection>>),
    Consuming(Driven<Consuming>),
    Sharing(Driven<Sharing>),
    Calling(Driven<Calling>),
    Answering(Driven<Answering>),
    Churning(Driven<Churning>),
}

/// Evaluates an expression for any role: the only match over the roles.
macro_rules! with_role {
    ($any:expr, $one:ident => $call:expr) => {
        match $any {
            AnyRole::Publishing($one) => $call,
            AnyRole::Amqp10Publishing($one) => $call,
            AnyRole::Amqp10Receiving($one) => $call,
            AnyRole::StreamPublishing($one) => $call,
            AnyRole::StreamReceiving($one) => $call,
            AnyRole::MqttPublishing($one) => $call,
            AnyRole::MqttReceiving($one) => $call,
            AnyRole::Consuming($one) => $call,
            AnyRole::Sharing($one) => $call,
            AnyRole::Calling($one) => $call,
            AnyRole::Answering($one) => $call,
            AnyRole::Churning($one) => $call,
        }
    };
}
pub(super) use with_role;

impl AnyRole {
    /// Creates the role of the members of `plan` on their connection.
    pub(super) fn new(plan: &LinkPlan<'_>, prepared: PreparedConnection) -> Self {
        match prepared {
            PreparedConnection::Amqp091(prepared) => Self::amqp091(plan, prepared),
            PreparedConnection::Amqp10(prepared) => Self::amqp10(plan, prepared),
            PreparedConnection::Stream(prepared) => Self::stream(plan, prepared),
            PreparedConnection::Mqtt(prepared) => Self::mqtt(plan, prepared),
        }
    }

    fn amqp10(plan: &LinkPlan<'_>, prepared: Prepared<amqp10::Connection>) -> Self {
        match &plan.members {
            Members::Publishers { group, messages, placements } => {
                let frame_max = prepared.connection.sent_frame_max();
                let addressing = prepared.connection.addressing();
                let publishers = placements.iter().map(|placement| {
                    let (member, lane) = (placement.member, placement.channel);
                    let payload = messages.amqp10_payload(member, lane, frame_max, addressing);
                    publisher(group, messages, *placement, payload)
                });
                let role = Publishing::new(publishers.collect(), group);
                Self::Amqp10Publishing(Driven::new(role, prepared))
            }
            Members::Consumers { plan, placements } => {
                Self::Amqp10Receiving(Driven::new(Receiving::new(plan, placements), prepared))
            }
            Members::Callers { .. } | Members::Responders { .. } | Members::Churn { .. } => {
                unreachable!("{ONE_PROTOCOL}")
            }
        }
    }

    fn stream(plan: &LinkPlan<'_>, prepared: Prepared<streams::Connection>) -> Self {
        match &plan.members {
            Members::Publishers { group, messages, placements } => {
                let publishers = placements.iter().map(|placement| {
                    let payload = messages.stream_payload(placement.member, placement.channel);
                    publisher(group, messages, *placement, payload)
                });
                let role = Publishing::new(publishers.collect(), group);
                Self::StreamPublishing(Driven::new(role, prepared))
            }
            Members::Consumers { plan, placements } => {
                Self::StreamReceiving(Driven::new(Receiving::new(plan, placements), prepared))
            }
            Members::Callers { .. } | Members::Responders { .. } | Members::Churn { .. } => {
                unreachable!("{ONE_PROTOCOL}")
            }
        }
    }

    fn mqtt(plan: &LinkPlan<'_>, prepared: Prepared<mqtt::Connection>) -> Self {
        match &plan.members {
            Members::Publishers { group, messages, placements } => {
                let publishers = placements.iter().map(|placement| {
                    let payload = messages.mqtt_payload(placement.member);
                    publisher(group, messages, *placement, payload)
                });
                let role = Publishing::new(publishers.collect(), group);
                Self::MqttPublishing(Driven::new(role, prepared))
            }
            Members::Consumers { plan, placements } => {
                Self::MqttReceiving(Driven::new(Receiving::new(plan, placements), prepared))
            }
            Members::Callers { .. } | Members::Responders { .. } | Members::Churn { .. } => {
                unreachable!("{ONE_PROTOCOL}")
            }
        }
    }

    fn amqp091(plan: &LinkPlan<'_>, prepared: Prepared<Connection>) -> Self {
        let frame_max = prepared.connection.frame_max();
        if !plan.guests.is_empty() {
            let host = (&plan.members, plan.slot);
            let guests = plan.guests.iter().map(|guest| (&guest.members, guest.slot));
            let parts = std::iter::once(host).chain(guests);
            let parts = parts
                .map(|(members, slot)| (part(members, frame_max), slot, members.channel_range()));
            return Self::Sharing(Driven::new(Sharing::new(parts), prepared));
        }
        match &plan.members {
            Members::Publishers { group, messages, placements } => {
                let role = publishing((group, messages, placements), frame_max);
                Self::Publishing(Driven::new(role, prepared))
            }
            Members::Consumers { plan, placements } => {
                Self::Consuming(Driven::new(Consuming::new(plan, placements), prepared))
            }
            Members::Callers { group, random, placements, queues } => {
                let role = Calling::new(group, random, placements, queues);
                Self::Calling(Driven::new(role, prepared))
            }
            Members::Responders { group, placements, queues } => {
                Self::Answering(Driven::new(Answering::new(group, placements, queues), prepared))
            }
            Members::Churn { churn, placements } => {
                Self::Churning(Driven::new(Churning::new(churn, placements), prepared))
            }
        }
    }

    /// Continues on a new connection, which has the protocol of the one before.
    pub(super) fn on_reconnect(&mut self, prepared: PreparedConnection, now: RunInstant) {
        match self {
            Self::Publishing(one) => one.socket.on_reconnect(prepared.amqp091(), now),
            Self::Amqp10Publishing(one) => one.socket.on_reconnect(prepared.amqp10(), now),
            Self::Amqp10Receiving(one) => one.socket.on_reconnect(prepared.amqp10(), now),
            Self::StreamPublishing(one) => one.socket.on_reconnect(prepared.stream(), now),
            Self::StreamReceiving(one) => one.socket.on_reconnect(prepared.stream(), now),
            Self::MqttPublishing(one) => one.socket.on_reconnect(prepared.mqtt(), now),
            Self::MqttReceiving(one) => one.socket.on_reconnect(prepared.mqtt(), now),
            Self::Consuming(one) => one.socket.on_reconnect(prepared.amqp091(), now),
            Self::Sharing(one) => one.socket.on_reconnect(prepared.amqp091(), now),
            Self::Calling(one) => one.socket.on_reconnect(prepared.amqp091(), now),
            Self::Answering(one) => one.socket.on_reconnect(prepared.amqp091(), now),
            Self::Churning(one) => one.socket.on_reconnect(prepared.amqp091(), now),
        }
    }
}

/// Returns the role of a group on a shared connection.
fn part(members: &Members<'_>, frame_max: u32) -> Part {
    match members {
        Members::Publishers { group, messages, placements } => {
            Part::Publishing(Box::new(publishing((group, messages, placements), frame_max)))
        }
        Members::Consumers { plan, placements } => {
            Part::Consuming(Box::new(Consuming::new(plan, placements)))
        }
        Members::Callers { .. } | Members::Responders { .. } | Members::Churn { .. } => {
            unreachable!("only publishers and consumers share connections")
        }
    }
}

fn publishing(
    (group, messages, placements): (&PublisherGroup, &Messages<'_>, &[Placement]),
    frame_max: u32,
) -> Publishing<Connection> {
    let publishers = placements.iter().map(|placement| {
        let payload = messages.payload(placement.member, placement.channel, frame_max);
        publisher(group, messages, *placement, payload)
    });
    Publishing::new(publishers.collect(), group)
}

fn publisher<W: Sends>(
    group: &PublisherGroup,
    messages: &Messages<'_>,
    placement: Placement,
    payload: Payload<W>,
) -> Publisher<W> {
    let start = messages.start(placement.member);
    Publisher {
        lane: placement.channel,
        payload,
        number: placement.number,
        window: group.confirm_window.or(group.tx_size),
        republishes: group.republish_unconfirmed == Some(true),
        tx_size: group.tx_size,
        start,
        limit: group.messages,
        arrivals: ArrivalSchedule::new(
            &group.schedule(),
            placement.member,
            group.count,
            messages.seed(placement.member),
            start,
        ),
        late: group.late.unwrap_or_default(),
        has_reference: group.reference,
        progress: PublisherProgress::default(),
    }
}
