//! Sessions and links of a connection. Each link has a number, which is the channel of its events, and counts its messages.

use rustc_hash::FxHashMap;

use super::{
    super::{
        action::{Action, Delivered, Published, SettledRange, Settlement},
        event::Event,
        links::{Joined, OfAmqp10},
        properties::{Content, HEADER_BYTES, Headers, Properties},
    },
    ids::{Ids, Run},
    opening,
};
use crate::{
    protocols::{
        ContentHeader, Details, Disposition, Frame, Sections as MessageSections, Transfer,
        address_and_subject, hash, peer_of,
    },
    report::Side,
};

/// Maximum of sessions and of links of a connection that are followed. RabbitMQ permits 64 sessions.
const SESSIONS_MAX: usize = 256;
const LINKS_MAX: usize = 1024;
/// Maximum of links of a session that wait for the broker's `attach`.
const ATTACHING_MAX: usize = 256;
/// Maximum of deliveries of all sessions together, and the number of new ones after which they are counted.
const DELIVERIES_MAX: usize = 131_072;
const COUNTED_EVERY: usize = 65_536;

/// Descriptors of outcomes.
const REJECTED: u8 = 0x25;
const RELEASED: u8 = 0x26;
const MODIFIED: u8 = 0x27;

/// State of a connection.
#[derive(Debug, Default)]
pub(in super::super) struct Sessions {
    /// By the client's channel.
    by_channel: FxHashMap<u16, Session>,
    /// The client's channel of a session by the broker's, where they differ.
    client_channels: FxHashMap<u16, u16>,
    links: FxHashMap<u16, LinkState>,
    last_link: u16,
    /// New deliveries since all were counted.
    new_deliveries: usize,
}

#[derive(Debug, Default)]
struct Session {
    /// By sender.
    ends: [End; 2],
    /// Hash of the name, role and number of links that the broker has not answered.
    attaching: Vec<(u64, bool, u16)>,
}

#[derive(Debug, Default)]
struct End {
    /// Numbers of links by handle.
    links: FxHashMap<u32, u16>,
    ids: Ids,
}

#[derive(Debug, Default)]
struct LinkState {
    /// Number of the last unsettled message.
    last: u64,
    message: Option<Message>,
}

/// A message of which transfers may be missing.
#[derive(Debug)]
struct Message {
    id: u32,
    bytes: u64,
    sections: Option<MessageSections>,
    arguments: Vec<u8>,
    is_settled: bool,
    first_packet: u64,
    frames: u32,
}

impl Sessions {
    /// Processes the next performative.
    pub(in super::super) fn frame(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        match (frame.kind, &frame.details) {
            ("open", _) if frame.sender == Side::Client => {
                let (client, vhost) = opening::open(frame.arguments);
                each(&Event::new(frame, Action::Start(client)));
                if let Some(vhost) = vhost {
                    each(&Event::new(frame, Action::Open(vhost)));
                }
            }
            (_, Details::Begin(peer)) => self.begin(frame, *peer),
            ("attach", _) => self.attach(frame, each),
            ("flow", _) if frame.sender == Side::Client => self.flow(frame, each),
            (_, Details::Transfer(transfer)) => self.transfer(frame, transfer, each),
            (_, Details::Disposition(disposition)) => self.disposition(frame, disposition, each),
            ("detach", _) => self.detach(frame, each),
            ("end", _) => self.end(frame, each),
            ("empty", _) => each(&Event::new(frame, Action::Ping)),
            _ => {}
        }
    }

    /// Records that frames of a side were missed.
    pub(in super::super) fn forget(&mut self, sender: Side) {
        self.links.values_mut().for_each(|link| link.message = None);
        for session in self.by_channel.values_mut() {
            session.ends[sender as usize].ids.clear();
        }
    }

    fn begin(&mut self, frame: &Frame<'_>, peer: Option<u16>) {
        match (frame.sender, peer) {
            (Side::Broker, Some(client)) if client != frame.channel => {
                if self.client_channels.len() < SESSIONS_MAX {
                    self.client_channels.insert(frame.channel, client);
                }
            }
            (Side::Broker, _) => drop(self.client_channels.remove(&frame.channel)),
            (Side::Client, _) => drop(self.by_channel.remove(&frame.channel)),
        }
    }

    fn channel(&self, frame: &Frame<'_>) -> u16 {
        match frame.sender {
            Side::Client => frame.channel,
            Side::Broker => {
                self.client_channels.get(&frame.channel).copied().unwrap_or(frame.channel)
            }
        }
    }

    fn session(&mut self, frame: &Frame<'_>) -> Option<&mut Session> {
        let channel = self.channel(frame);
        if self.by_channel.len() >= SESSIONS_MAX && !self.by_channel.contains_key(&channel) {
            return None;
        }
        Some(self.by_channel.entry(channel).or_default())
    }

    /// Returns the number of a new link; none if there are too many.
    fn new_link(&mut self) -> Option<u16> {
        if self.links.len() >= LINKS_MAX {
            return None;
        }
        loop {
            self.last_link = self.last_link.wrapping_add(1);
            if !self.links.contains_key(&self.last_link) {
                self.links.insert(self.last_link, LinkState::default());
                return Some(self.last_link);
            }
        }
    }

    fn attach(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        let Some(link) = opening::attach(frame.arguments) else { return };
        let side = frame.sender as usize;
        if frame.sender == Side::Broker {
            let Some(session) = self.session(frame) else { return };
            let mut waiting = session.attaching.iter();
            let of_client = (hash(link.name), !link.is_receiver);
            let found = waiting.position(|(name, role, _)| (*name, *role) == of_client);
            if let Some(place) = found {
                let (.., number) = session.attaching.swap_remove(place);
                session.ends[side].links.insert(link.handle, number);
            }
            return;
        }
        let Some(number) = self.new_link() else { return };
        let Some(session) = self.session(frame) else { return };
        let replaced = session.ends[side].links.insert(link.handle, number);
        if session.attaching.len() < ATTACHING_MAX {
            session.attaching.push((hash(link.name), link.is_receiver, number));
        }
        if let Some(replaced) = replaced {
            self.links.remove(&replaced);
        }
        each(&Event::of_link(frame, number, Action::Attach(link.attach)));
    }

    fn flow(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        let Some((handle, credit)) = opening::flow(frame.arguments) else { return };
        let Some(session) = self.session(frame) else { return };
        if let Some(link) = session.ends[frame.sender as usize].links.get(&handle) {
            each(&Event::of_link(frame, *link, Action::Credit(credit)));
        }
    }

    fn detach(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        let Some(handle) = opening::detach(frame.arguments) else { return };
        let side = frame.sender as usize;
        let Some(session) = self.session(frame) else { return };
        let Some(link) = session.ends[side].links.remove(&handle) else { return };
        session.ends[1 - side].links.retain(|_, other| *other != link);
        session.attaching.retain(|(.., other)| *other != link);
        if self.links.remove(&link).is_some() {
            each(&Event::of_link(frame, link, Action::Detach));
        }
    }

    fn end(&mut self, frame: &Frame<'_>, each: &mut impl FnMut(&Event<'_>)) {
        let channel = self.channel(frame);
        let Some(session) = self.by_channel.remove(&channel) else { return };
        let all = session.ends.iter().flat_map(|end| end.links.values());
        for link in all {
            if self.links.remove(link).is_some() {
                each(&Event::of_link(frame, *link, Action::Detach));
            }
        }
    }

    /// Returns the link of a transfer. One that was attached before the capture gets a number now.
    fn link(
        &mut self,
        frame: &Frame<'_>,
        handle: u32,
        each: &mut impl FnMut(&Event<'_>),
    ) -> Option<u16> {
        let side = frame.sender as usize;
        if let Some(link) = self.session(frame)?.ends[side].links.get(&handle) {
            return Some(*link);
        }
        let link = self.new_link()?;
        self.session(frame)?.ends[side].links.insert(handle, link);
        let session = self.channel(frame);
        each(&Event::of_link(frame, link, Action::Joined(Joined { session, handle })));
        Some(link)
    }

    fn transfer(
        &mut self,
        frame: &Frame<'_>,
        transfer: &Transfer,
        each: &mut impl FnMut(&Event<'_>),
    ) {
        let Some(number) = self.link(frame, transfer.handle, each) else { return };
        let Some(link) = self.links.get_mut(&number) else { return };
        let message = link.message.take();
        let is_next = |message: &Message| transfer.delivery_id.is_none_or(|id| id == message.id);
        let message = match (message.filter(is_next), transfer.delivery_id) {
            (Some(message), _) => message,
            (None, Some(id)) => Message::new(id, frame, transfer),
            // Its begin was missed.
            (None, None) => return,
        };
        let message = message.with(transfer);
        if transfer.aborted {
            return;
        }
        if transfer.more {
            link.message = Some(message);
            return;
        }
        let unsettled = (!message.is_settled).then(|| {
            link.last += 1;
            link.last
        });
        if let Some(session) = self.session(frame) {
            session.ends[frame.sender as usize].ids.push(message.id, number, unsettled);
        }
        self.bound();
        let handle = transfer.handle.to_string();
        let action = message.action(frame.sender, unsettled, handle.as_bytes());
        let (first_packet, frames) = (message.first_packet, message.frames);
        each(&Event { first_packet, frames, ..Event::of_link(frame, number, action) });
    }

    /// Forgets all deliveries if there are too many.
    fn bound(&mut self) {
        self.new_deliveries += 1;
        if self.new_deliveries < COUNTED_EVERY {
            return;
        }
        self.new_deliveries = 0;
        let ends = || self.by_channel.values().flat_map(|session| &session.ends);
        if ends().map(|end| end.ids.count()).sum::<usize>() > DELIVERIES_MAX {
            let ends = self.by_channel.values_mut().flat_map(|session| &mut session.ends);
            ends.for_each(|end| end.ids.clear());
        }
    }

    fn disposition(
        &mut self,
        frame: &Frame<'_>,
        disposition: &Disposition,
        each: &mut impl FnMut(&Event<'_>),
    ) {
        let Disposition { is_receiver, first, last, settled, outcome, state } = *disposition;
        // That of a sender settles nothing that the receiver has not settled.
        if !is_receiver || (outcome.is_none() && !settled) {
            return;
        }
        let settlement = match state {
            Some(REJECTED) => Settlement::Reject { requeue: false },
            Some(RELEASED) => Settlement::Reject { requeue: true },
            Some(MODIFIED) => {
                Settlement::Nack { requeue: !opening::is_undeliverable(frame.arguments) }
            }
            _ => Settlement::Ack,
        };
        let sender = peer_of(frame.sender) as usize;
        let Some(session) = self.session(frame) else { return };
        for Run { link, first, last } in session.ends[sender].ids.settle(first, last) {
            let action = Action::SettleRange(SettledRange { first, last, settlement });
            each(&Event::of_link(frame, link, action));
        }
    }
}

impl Message {
    fn new(id: u32, frame: &Frame<'_>, transfer: &Transfer) -> Self {
        Self {
            id,
            bytes: 0,
            sections: transfer.sections,
            arguments: frame.arguments.to_vec(),
            is_settled: false,
            first_packet: frame.place.first_packet,
            frames: 0,
        }
    }

    fn with(mut self, transfer: &Transfer) -> Self {
        self.bytes = self.bytes.saturating_add(u64::from(transfer.payload_bytes));
        self.is_settled |= transfer.settled;
        self.frames = self.frames.saturating_add(1);
        self
    }

    fn content(&self) -> Content {
        let sections = self.sections.unwrap_or_default();
        let body_bytes = self.bytes.saturating_sub(u64::from(sections.before_body));
        let overhead = u32::from(sections.entries) * u32::try_from(HEADER_BYTES).unwrap_or(0);
        let headers = Headers {
            count: sections.entries,
            bytes: sections.entry_bytes.saturating_add(overhead),
        };
        let properties = Properties {
            headers: (sections.entries > 0).then_some(headers),
            priority: sections.priority,
            expiration: sections.ttl.map(u64::from),
            text_bytes: sections.text_bytes,
            ..Properties::default()
        };
        Content {
            header: ContentHeader {
                body_bytes,
                is_persistent: sections.durable == Some(true),
                is_read: true,
                ..ContentHeader::default()
            },
            properties: self.sections.map(|_| properties),
            amqp10: Some(OfAmqp10 {
                is_settled: self.is_settled,
                has_header: sections.durable.is_some(),
                is_read: self.sections.is_some(),
            }),
            ..Content::default()
        }
    }

    fn action<'a>(&'a self, sender: Side, number: Option<u64>, handle: &'a [u8]) -> Action<'a> {
        let (address, subject) = address_and_subject(&self.arguments);
        let exchange = address.unwrap_or_default();
        let routing_key = subject.unwrap_or_default();
        let content = self.content();
        match sender {
            Side::Client => {
                let mandatory = false;
                Action::Publish(Published { exchange, routing_key, mandatory, number, content })
            }
            Side::Broker => Action::Deliver(Delivered {
                consumer_tag: Some(handle),
                delivery_tag: number.unwrap_or_default(),
                redelivered: false,
                exchange,
                routing_key,
                content,
            }),
        }
    }
}
