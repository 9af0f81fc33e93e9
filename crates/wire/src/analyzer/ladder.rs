//! The first frames of a connection, drawn as a ladder.

use crate::{
    packet::Timestamp,
    protocols::{Details, Frame},
    report::{Ladder, LadderFrame, Side},
};

/// Maximum of rungs of a ladder.
const MAX_FRAMES: usize = 80;

/// Keeps the first frames of a connection. Header and body become part of the method before them.
#[derive(Clone, Debug, Default)]
pub(super) struct LadderRecorder {
    rungs: Vec<Rung>,
    left_out: u64,
}

#[derive(Clone, Copy, Debug)]
struct Rung {
    time: Timestamp,
    sender: Side,
    channel: u16,
    kind: &'static str,
    bytes: u64,
    body_bytes: Option<u64>,
    packet: u64,
    answers_after: Option<u64>,
}

impl LadderRecorder {
    pub(super) fn frame(&mut self, frame: &Frame<'_>) {
        let place = frame.place;
        if let (Details::Header(_) | Details::Body(_), Some(last)) =
            (frame.details, self.rung_mut(frame))
        {
            last.bytes += place.bytes();
            last.time = place.time;
            last.packet = place.last_packet;
            if let Details::Header(header) = frame.details {
                last.body_bytes = Some(header.body_bytes);
            }
            return;
        }
        if self.rungs.len() == MAX_FRAMES {
            self.left_out += 1;
            return;
        }
        self.rungs.push(Rung {
            time: place.time,
            sender: frame.sender,
            channel: frame.channel,
            kind: frame.kind,
            bytes: place.bytes(),
            body_bytes: None,
            packet: place.last_packet,
            answers_after: None,
        });
    }

    /// Returns the rung to which a part of a content belongs: the last one of its sender and channel.
    fn rung_mut(&mut self, frame: &Frame<'_>) -> Option<&mut Rung> {
        if self.left_out > 0 {
            return None;
        }
        let is_same =
            |rung: &&mut Rung| rung.sender == frame.sender && rung.channel == frame.channel;
        self.rungs.iter_mut().rev().find(is_same)
    }

    /// Records that the frame completed by `packet` answers one that came `nanos` before.
    pub(super) fn answer(&mut self, packet: u64, sender: Side, nanos: u64) {
        if self.left_out > 0 {
            return;
        }
        let is_it = |rung: &&mut Rung| rung.packet == packet && rung.sender == sender;
        if let Some(rung) = self.rungs.iter_mut().rev().take(4).find(is_it) {
            // One confirm may answer several publishes: the longest wait is shown.
            rung.answers_after = rung.answers_after.max(Some(nanos));
        }
    }

    /// Returns the ladder; none for a connection without frames.
    pub(super) fn report(&self, connection: &str, first: Timestamp) -> Option<Ladder> {
        let rung = |rung: &Rung| LadderFrame {
            nanos: nanos_between(first, rung.time),
            from: rung.sender,
            label: label(rung),
            bytes: rung.bytes,
            packet: rung.packet,
            answers_after_nanos: rung.answers_after,
        };
        // The channel of the messages. Frames of the connection itself have channel 0.
        let channel = self.rungs.iter().map(|rung| rung.channel).max()?;
        Some(Ladder {
            connection: connection.to_owned(),
            channel: u32::from(channel),
            frames: self.rungs.iter().map(rung).collect(),
            left_out: self.left_out,
        })
    }
}

fn label(rung: &Rung) -> String {
    match rung.body_bytes {
        Some(bytes) => format!("{} ({bytes} B)", rung.kind),
        None => rung.kind.to_owned(),
    }
}

/// Returns the nanoseconds from one instant to a later one.
pub(super) fn nanos_between(first: Timestamp, later: Timestamp) -> u64 {
    later.unix_nanos().saturating_sub(first.unix_nanos())
}
