//! Messages of AMQP 1.0, and the targets of their senders.

use std::{convert::Infallible, fmt, sync::Arc};

use rabbitscope_amqp10::{Addressing, Connection, Content, Parts, Properties, Sections};
use rabbitscope_timing::RunInstant;

use super::{
    amqp10_sections::sections,
    encoder::Encoder,
    messages::Messages,
    payload::{ComposedPayload, EncodedBodies, MemberRoutes, Payload},
};

impl Encoder for Connection {
    type Template = Content;
    /// The properties, with the routing key unless the target has it.
    type Route = Properties;
    type Content = Parts;
    type Packed = Infallible;

    #[inline]
    fn publish(&mut self, template: &Content, count: usize) -> impl Iterator<Item = &mut [u8]> {
        Connection::publish(self, template, count)
    }

    #[inline]
    fn publish_parts(&mut self, lane: u16, properties: &Properties, parts: &Parts, head: &[u8]) {
        Connection::publish_parts(self, session(lane), properties, parts, head);
    }

    fn publish_packed(
        &mut self,
        _lane: u16,
        packed: &mut Infallible,
        _now: RunInstant,
        _head: &[u8],
    ) -> u64 {
        match *packed {}
    }
}

/// Returns the session of a lane. Sessions are numbered from 0.
#[inline]
pub(crate) fn session(lane: u16) -> u16 {
    lane.saturating_sub(1)
}

/// Returns the lane of a session.
#[inline]
pub(crate) fn lane(session: u16) -> u16 {
    session.saturating_add(1)
}

/// The target of a sender.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Target {
    Queue(String),
    Exchange {
        name: String,
        /// Absent if each message has its own.
        key: Option<String>,
    },
}

impl Target {
    /// Returns the address of the link in the broker's form; absent if each message has its own.
    pub(crate) fn address(&self, addressing: Addressing) -> Option<String> {
        match (self, addressing) {
            (Self::Queue(name), _) => Some(addressing.queue(name)),
            (Self::Exchange { key: None, .. }, Addressing::V2) => None,
            (Self::Exchange { name, key }, _) => Some(addressing.exchange(name, key.as_deref())),
        }
    }
}

impl fmt::Display for Target {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Queue(name) => write!(f, "queue `{name}`"),
            Self::Exchange { name, .. } => write!(f, "exchange `{name}`"),
        }
    }
}

impl Messages<'_> {
    /// Returns the target of a sender of AMQP 1.0.
    pub(crate) fn amqp10_target(&self, member: u32) -> Target {
        let mut names = self.names_of(member);
        let first = names.next().unwrap_or_default().to_owned();
        if self.group.exchange().is_empty() {
            return Target::Queue(first);
        }
        let is_alone = names.next().is_none() && !first.is_empty();
        let name = self.group.exchange().to_owned();
        Target::Exchange { name, key: is_alone.then_some(first) }
    }

    /// Returns the frames of the largest message of AMQP 1.0, and the bytes of its body.
    pub(crate) fn amqp10_frames(&self, frame_max: u32, addressing: Addressing) -> (u32, usize) {
        let bodies = self.steps.iter().flat_map(|(_, bodies)| bodies);
        let body = bodies.max_by_key(|body| body.len()).map_or(&[][..], Vec::as_slice);
        let key = self.names.iter().max_by_key(|name| name.len()).map_or("", String::as_str);
        let sections = self.sections_to(key, addressing);
        (Content::new(0, &sections, body, frame_max).frames(), body.len())
    }

    /// Returns the payload of a sender of AMQP 1.0. `frame_max` is the largest frame in bytes.
    pub(crate) fn amqp10_payload(
        &self,
        member: u32,
        lane: u16,
        frame_max: u32,
        addressing: Addressing,
    ) -> Payload<Connection> {
        let sections = sections(self.group);
        let has_keys = matches!(self.amqp10_target(member), Target::Exchange { key: None, .. });
        if self.group.has_one_body() && !has_keys {
            let body = vec![0; self.group.size_bytes() as usize];
            let content = Content::new(session(lane), &sections, &body, frame_max);
            return Payload::Plain(content);
        }
        let routes: Vec<_> = if has_keys {
            let keys = self.names_of(member);
            keys.map(|key| Properties::new(&self.sections_to(key, addressing))).collect()
        } else {
            vec![Properties::new(&sections)]
        };
        let contents = self.amqp10_contents();
        let largest_route = routes.iter().map(Properties::wire_size).max().unwrap_or(0);
        Payload::Composed(Box::new(ComposedPayload {
            wire_size: contents.largest + largest_route,
            routes: MemberRoutes {
                mine: (0..u32::try_from(routes.len()).unwrap_or(u32::MAX)).collect(),
                routes: routes.into(),
                choice: self.keys_of(member),
            },
            contents,
            choice: self.bodies_of(member),
        }))
    }

    /// Returns the encoded bodies, which all members share.
    fn amqp10_contents(&self) -> Arc<EncodedBodies<Parts>> {
        let make = || {
            let sections = sections(self.group);
            let steps = self.steps.iter().map(|(end, bodies)| {
                (*end, bodies.iter().map(|body| Parts::new(&sections, body)).collect())
            });
            Arc::new(EncodedBodies::new(steps.collect()))
        };
        Arc::clone(self.parts.get_or_init(make))
    }

    /// Returns the sections of messages that have their routing key with them: as their subject, or since version 2 of
    /// addresses in their own address.
    fn sections_to(&self, key: &str, addressing: Addressing) -> Sections {
        let sections = sections(self.group);
        match addressing {
            Addressing::V1 => Sections { subject: Some(key.to_owned()), ..sections },
            Addressing::V2 => {
                let key = Some(key).filter(|key| !key.is_empty());
                let to = addressing.exchange(self.group.exchange(), key);
                Sections { to: Some(to), ..sections }
            }
        }
    }

    /// Returns the queues or keys of a member.
    fn names_of(&self, member: u32) -> impl Iterator<Item = &str> {
        let mine = self.routes(member).mine;
        mine.into_iter().filter_map(|key| self.names.get(key as usize)).map(String::as_str)
    }
}
