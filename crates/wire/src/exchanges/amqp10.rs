//! AMQP 1.0: transfers and their dispositions, by session.

use rustc_hash::FxHashMap;

use super::{
    latency::{Ending, Latency, Mark, add, index},
    outstanding::Outstanding,
};
use crate::{
    protocols::{Details, Disposition, Frame, Transfer, peer_of},
    report::{LatencyKind, Side, Unmatched},
};

/// Maximum of sessions of a connection that are followed.
const SESSIONS_MAX: usize = 4096;
/// Maximum of links of a session with an unfinished delivery of several transfers.
const PARTS_MAX: usize = 1024;

/// The sessions of a connection, by the client's channel.
#[derive(Clone, Debug, Default)]
pub(super) struct Sessions {
    by_channel: FxHashMap<u16, Session>,
    /// The client's channel of a session by the broker's. Each side chooses its own numbers; unknown pairs count as
    /// equal.
    client_channels: FxHashMap<u16, u16>,
    lost: [bool; 2],
    left_out: u64,
}

#[derive(Clone, Debug, Default)]
struct Session {
    /// Links by sender.
    links: [Links; 2],
}

#[derive(Clone, Debug, Default)]
struct Links {
    outstanding: Outstanding,
    /// Unfinished deliveries of several transfers, by handle.
    parts: FxHashMap<u32, u32>,
}

impl Sessions {
    pub(super) fn frame(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(&Latency)) {
        match &frame.details {
            Details::Begin(Some(peer)) => self.begin(frame, *peer),
            Details::Transfer(transfer) => {
                if let Some((_, session)) = self.session(frame) {
                    session.links[index(frame.sender)].transfer(transfer, Mark::from_frame(frame));
                }
            }
            Details::Disposition(disposition) => self.disposition(disposition, frame, sink),
            _ => {}
        }
    }

    fn begin(&mut self, frame: &Frame<'_>, peer: u16) {
        let (client, broker) = match frame.sender {
            Side::Client => (frame.channel, peer),
            Side::Broker => (peer, frame.channel),
        };
        if client == broker {
            self.client_channels.remove(&broker);
        } else if self.client_channels.len() < SESSIONS_MAX {
            self.client_channels.insert(broker, client);
        }
    }

    /// Returns the session of a frame, with the client's channel.
    fn session(&mut self, frame: &Frame<'_>) -> Option<(u16, &mut Session)> {
        let channel = match frame.sender {
            Side::Client => frame.channel,
            Side::Broker => {
                self.client_channels.get(&frame.channel).copied().unwrap_or(frame.channel)
            }
        };
        if self.by_channel.len() >= SESSIONS_MAX && !self.by_channel.contains_key(&channel) {
            self.left_out += 1;
            return None;
        }
        let lost = self.lost;
        let session = self.by_channel.entry(channel).or_insert_with(|| {
            let mut session = Session::default();
            for side in [Side::Client, Side::Broker].into_iter().filter(|side| lost[index(*side)]) {
                session.lose(side);
            }
            session
        });
        Some((channel, session))
    }

    fn disposition(
        &mut self,
        disposition: &Disposition,
        frame: &Frame<'_>,
        sink: &mut impl FnMut(&Latency),
    ) {
        // A disposition by the sender of a message settles nothing that the receiver has not settled.
        if !disposition.is_receiver || (disposition.outcome.is_none() && !disposition.settled) {
            return;
        }
        let Some((channel, session)) = self.session(frame) else { return };
        let sender = peer_of(frame.sender);
        let ending = Ending::new(kind_from(sender), frame, channel);
        let range = (u64::from(disposition.first), u64::from(disposition.last));
        session.links[index(sender)].outstanding.settle_range(range, &ending, sink);
    }

    pub(super) fn lose(&mut self, sender: Side) {
        self.lost[index(sender)] = true;
        self.by_channel.values_mut().for_each(|session| session.lose(sender));
    }

    pub(super) fn find(&mut self, sender: Side) {
        self.lost[index(sender)] = false;
        for session in self.by_channel.values_mut() {
            session.links[index(peer_of(sender))].outstanding.listen();
        }
    }

    pub(super) fn unmatched(&self, kind: LatencyKind) -> Unmatched {
        let Some(sender) = sender_of(kind) else { return Unmatched::default() };
        let left_out = Unmatched { left_out: self.left_out, ..Unmatched::default() };
        let all = self
            .by_channel
            .values()
            .map(|session| session.links[index(sender)].outstanding.unmatched());
        all.fold(left_out, add)
    }

    pub(super) fn most_open(&self, sender: Side) -> u64 {
        let all = self
            .by_channel
            .values()
            .map(|session| session.links[index(sender)].outstanding.most_open());
        all.max().unwrap_or(0)
    }

    pub(super) fn count(&self) -> u64 {
        self.by_channel.len() as u64
    }
}

impl Session {
    fn lose(&mut self, sender: Side) {
        self.links[index(sender)].parts.clear();
        self.links[index(peer_of(sender))].outstanding.deafen();
    }
}

impl Links {
    fn transfer(&mut self, transfer: &Transfer, mark: Mark) {
        let id = transfer.delivery_id.or_else(|| self.parts.get(&transfer.handle).copied());
        let Some(id) = id else { return };
        if transfer.more && !transfer.aborted {
            if self.parts.len() < PARTS_MAX {
                self.parts.insert(transfer.handle, id);
            }
            return;
        }
        self.parts.remove(&transfer.handle);
        if !transfer.settled && !transfer.aborted {
            self.outstanding.push(u64::from(id), mark);
        }
    }
}

/// Returns the kind of latency that begins with a transfer.
const fn kind_from(sender: Side) -> LatencyKind {
    match sender {
        Side::Client => LatencyKind::PublishToConfirm,
        Side::Broker => LatencyKind::DeliverToAck,
    }
}

const fn sender_of(kind: LatencyKind) -> Option<Side> {
    match kind {
        LatencyKind::PublishToConfirm => Some(Side::Client),
        LatencyKind::DeliverToAck => Some(Side::Broker),
        LatencyKind::PublishToConfirmAtLeast
        | LatencyKind::RequestToReply
        | LatencyKind::ServiceTime
        | LatencyKind::Method => None,
    }
}
