//! The role of a connection, picked by its plan.

use rabbitscope_runs::scenario::PublisherGroup;

use super::answering::Answering;
use crate::{
    link::{
        calling::Calling,
        churning::Churning,
        consuming::Consuming,
        publishing::{Publisher, PublisherProgress, Publishing},
    },
    message::Messages,
    pacing::ArrivalSchedule,
    plan::{LinkPlan, Members, Placement},
};

/// One of the roles. [`with_role!`] calls a method of it.
pub(super) enum AnyRole {
    Publishing(Publishing),
    Consuming(Consuming),
    Calling(Calling),
    Answering(Answering),
    Churning(Churning),
}

/// Evaluates an expression for any role: the only match over the roles.
macro_rules! with_role {
    ($any:expr, $role:ident => $call:expr) => {
        match $any {
            AnyRole::Publishing($role) => $call,
            AnyRole::Consuming($role) => $call,
            AnyRole::Calling($role) => $call,
            AnyRole::Answering($role) => $call,
            AnyRole::Churning($role) => $call,
        }
    };
}
pub(super) use with_role;

impl AnyRole {
    /// Creates the role of the members of `plan`, on connections with frames of at most `frame_max` bytes.
    pub(super) fn new(plan: &LinkPlan<'_>, frame_max: u32) -> Self {
        match &plan.members {
            Members::Publishers { group, messages, placements } => {
                let publishers = placements
                    .iter()
                    .map(|placement| publisher(group, messages, *placement, frame_max));
                Self::Publishing(Publishing::new(publishers.collect(), group))
            }
            Members::Consumers { plan, placements } => {
                Self::Consuming(Consuming::new(plan, placements))
            }
            Members::Callers { group, random, placements, queues } => {
                Self::Calling(Calling::new(group, random, placements, queues))
            }
            Members::Responders { group, placements, queues } => {
                Self::Answering(Answering::new(group, placements, queues))
            }
            Members::Churn { churn, placements } => {
                Self::Churning(Churning::new(churn, placements))
            }
        }
    }
}

fn publisher(
    group: &PublisherGroup,
    messages: &Messages<'_>,
    placement: Placement,
    frame_max: u32,
) -> Publisher {
    let start = messages.start(placement.member);
    Publisher {
        channel: placement.channel,
        payload: messages.payload(placement.member, placement.channel, frame_max),
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
        progress: PublisherProgress::default(),
    }
}
