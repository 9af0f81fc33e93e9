//! The stream protocol: publishing ids and their confirms by publisher, and commands and their answers by correlation.

use rustc_hash::FxHashMap;

use super::{
    latency::{Ending, Latency, Mark, add},
    outstanding::Outstanding,
    requests::Requests,
};
use crate::{
    protocols::{Details, Frame, StreamPublish},
    report::{LatencyKind, Side, Unmatched},
};

/// Publishers and commands of a connection.
#[derive(Clone, Debug, Default)]
pub(super) struct Publishers {
    by_id: FxHashMap<u8, Outstanding>,
    is_deaf: bool,
    commands: Requests,
    /// Number of publishing ids that were not read.
    left_out: u64,
}

impl Publishers {
    pub(super) fn frame(&mut self, frame: &Frame<'_>, sink: &mut impl FnMut(&Latency)) {
        match &frame.details {
            Details::StreamPublish(publish) => self.publishing(publish, frame, sink),
            Details::StreamCommand(command) => {
                let Some(number) = command.correlation else { return };
                if command.is_response {
                    let ending = Ending::new(LatencyKind::Method, frame, 0);
                    let request = frame.kind.trim_end_matches("-response");
                    self.commands.answer(frame.sender, (request, number), &ending, sink);
                } else {
                    self.commands.open(frame.sender, frame.kind, number, Mark::from_frame(frame));
                }
            }
            _ => {}
        }
    }

    fn publishing(
        &mut self,
        publish: &StreamPublish,
        frame: &Frame<'_>,
        sink: &mut impl FnMut(&Latency),
    ) {
        self.left_out += u64::from(publish.left_out);
        let is_deaf = self.is_deaf;
        let publisher = self.by_id.entry(publish.publisher).or_insert_with(|| {
            let mut outstanding = Outstanding::default();
            if is_deaf {
                outstanding.deafen();
            }
            outstanding
        });
        let ids = frame.identifiers.iter().flat_map(|run| {
            let last = run.first.saturating_add(run.count - 1);
            run.first..=last
        });
        match frame.sender {
            Side::Client => ids.for_each(|id| publisher.push(id, Mark::from_frame(frame))),
            Side::Broker => {
                let ending = Ending::new(LatencyKind::PublishToConfirm, frame, 0);
                ids.for_each(|id| publisher.settle(id, &ending, sink));
            }
        }
    }

    pub(super) fn lose(&mut self, sender: Side) {
        self.commands.lose(sender);
        if sender == Side::Broker {
            self.is_deaf = true;
            self.by_id.values_mut().for_each(Outstanding::deafen);
        }
    }

    pub(super) fn find(&mut self, sender: Side) {
        self.commands.find(sender);
        if sender == Side::Broker {
            self.is_deaf = false;
            self.by_id.values_mut().for_each(Outstanding::listen);
        }
    }

    pub(super) fn unmatched(&self, kind: LatencyKind) -> Unmatched {
        match kind {
            LatencyKind::PublishToConfirm => {
                let left_out = Unmatched { left_out: self.left_out, ..Unmatched::default() };
                self.by_id.values().map(Outstanding::unmatched).fold(left_out, add)
            }
            LatencyKind::Method => self.commands.unmatched(),
            LatencyKind::PublishToConfirmAtLeast
            | LatencyKind::DeliverToAck
            | LatencyKind::RequestToReply
            | LatencyKind::ServiceTime => Unmatched::default(),
        }
    }

    pub(super) fn most_unconfirmed(&self) -> u64 {
        self.by_id.values().map(Outstanding::most_open).max().unwrap_or(0)
    }
}
