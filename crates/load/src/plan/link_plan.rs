//! A connection and the members of a group that use it.

use std::{ops::RangeInclusive, sync::Arc};

use rabbitscope_runs::{
    Random,
    scenario::{Protocol, PublisherGroup, RequestGroup, ResponderGroup},
};

use super::{churn::ChurnMembers, consumer_plan::ConsumerPlan, placement::Placement};
use crate::message::Messages;

/// One connection and its members.
#[derive(Clone, Debug)]
pub(crate) struct LinkPlan<'a> {
    /// Number among all connections of the scenario, over all processes.
    pub(crate) number: usize,
    /// Token of the run, for names.
    pub(crate) run: String,
    /// Name of the connection in the broker's management.
    pub(crate) name: String,
    /// Channels to open, numbered from 1.
    pub(crate) channels: u16,
    /// Slot of the latencies of its members.
    pub(crate) slot: u16,
    pub(crate) members: Members<'a>,
    /// Members of other groups on the same connection, each group on channels of its own.
    pub(crate) guests: Vec<Guest<'a>>,
}

/// Members of a group on the connection of another group.
#[derive(Clone, Debug)]
pub(crate) struct Guest<'a> {
    /// Slot of their latencies.
    pub(crate) slot: u16,
    pub(crate) members: Members<'a>,
}

impl<'a> Guest<'a> {
    /// Puts members onto channels from `first` on.
    pub(super) fn new(slot: u16, mut members: Members<'a>, first: u16) -> Self {
        for placement in members.placements_mut() {
            placement.channel += first - 1;
        }
        Self { slot, members }
    }
}

/// The members of a group that use a connection.
#[derive(Clone, Debug)]
pub(crate) enum Members<'a> {
    Publishers {
        group: &'a PublisherGroup,
        messages: Arc<Messages<'a>>,
        placements: Vec<Placement>,
    },
    Consumers {
        plan: Arc<ConsumerPlan<'a>>,
        placements: Vec<Placement>,
    },
    Callers {
        group: &'a RequestGroup,
        random: Random,
        placements: Vec<Placement>,
        queues: Vec<String>,
    },
    Responders {
        group: &'a ResponderGroup,
        placements: Vec<Placement>,
        queues: Vec<String>,
    },
    Churn {
        churn: ChurnMembers<'a>,
        placements: Vec<Placement>,
    },
}

impl Members<'_> {
    /// Returns the protocol of their connection.
    pub(crate) fn protocol(&self) -> Protocol {
        match self {
            Self::Publishers { group, .. } => group.protocol,
            Self::Consumers { plan, .. } => plan.group.protocol,
            Self::Callers { .. } | Self::Responders { .. } | Self::Churn { .. } => {
                Protocol::Amqp091
            }
        }
    }

    /// Returns the streams of members of the stream protocol, each with the place of its member.
    pub(crate) fn streams(&self) -> Vec<(Placement, String)> {
        match self {
            Self::Publishers { messages, placements, .. } => placements
                .iter()
                .flat_map(|placement| {
                    let streams = messages.streams(placement.member).into_iter();
                    streams.map(|stream| (*placement, stream))
                })
                .collect(),
            Self::Consumers { plan, placements } => placements
                .iter()
                .flat_map(|placement| {
                    let streams = plan.queues_of(*placement);
                    streams.map(|stream| (*placement, plan.queues[stream].clone()))
                })
                .collect(),
            Self::Callers { .. } | Self::Responders { .. } | Self::Churn { .. } => Vec::new(),
        }
    }

    /// Returns whether each publisher writes to the partitions of a super stream.
    pub(crate) fn has_partitions(&self) -> bool {
        matches!(self, Self::Publishers { messages, .. } if messages.has_partitions())
    }

    /// Returns the name under which a stream remembers a publisher's messages; empty for none. No other run has it.
    pub(crate) fn reference(&self, run: &str, place: Placement) -> String {
        match self {
            Self::Publishers { group, .. } if group.reference => {
                format!("rabbitscope-{run}-{}", place.number)
            }
            _ => String::new(),
        }
    }

    /// Returns the numbers of the channels, from the lowest to the highest.
    pub(crate) fn channel_range(&self) -> RangeInclusive<u16> {
        let least = self.placements().iter().map(|placement| placement.channel).min();
        least.unwrap_or(1)..=self.channels()
    }

    /// Returns the highest number of a channel; 1 without members.
    fn channels(&self) -> u16 {
        self.placements().iter().map(|placement| placement.channel).max().unwrap_or(1)
    }

    fn placements_mut(&mut self) -> &mut [Placement] {
        match self {
            Self::Publishers { placements, .. }
            | Self::Consumers { placements, .. }
            | Self::Callers { placements, .. }
            | Self::Responders { placements, .. }
            | Self::Churn { placements, .. } => placements,
        }
    }

    fn placements(&self) -> &[Placement] {
        match self {
            Self::Publishers { placements, .. }
            | Self::Consumers { placements, .. }
            | Self::Callers { placements, .. }
            | Self::Responders { placements, .. }
            | Self::Churn { placements, .. } => placements,
        }
    }
}

pub(super) fn link_plan<'a>(
    group: &str,
    at: usize,
    slot: u16,
    members: Members<'a>,
) -> LinkPlan<'a> {
    LinkPlan {
        number: 0,
        run: String::new(),
        name: format!("rabbitscope {group} {at}"),
        channels: members.channels(),
        slot,
        members,
        guests: Vec::new(),
    }
}
