//! Frames by kind and sender.

use crate::{
    protocols::{Frame, Protocol},
    report::{FrameCount, Side},
};

/// Counts of frames by kind. Kinds are few and repeat, so a list is faster than a map. Frequent kinds move to its
/// front.
#[derive(Clone, Debug, Default)]
pub(super) struct FrameCounts(Vec<Count>);

#[derive(Clone, Copy, Debug)]
struct Count {
    protocol: Protocol,
    kind: &'static str,
    sender: Side,
    frames: u64,
    bytes: u64,
}

impl Count {
    fn is_of(&self, protocol: Protocol, kind: &'static str, sender: Side) -> bool {
        // Usually this is the same text at the same address, but equal texts may have several addresses.
        self.sender == sender
            && self.protocol == protocol
            && (std::ptr::eq(self.kind, kind) || self.kind == kind)
    }
}

impl FrameCounts {
    pub(super) fn add(&mut self, frame: &Frame<'_>) {
        let Frame { protocol, kind, sender, .. } = *frame;
        let bytes = frame.place.bytes();
        let known = self.0.iter().position(|count| count.is_of(protocol, kind, sender));
        let Some(place) = known else {
            return self.0.push(Count { protocol, kind, sender, frames: 1, bytes });
        };
        let count = &mut self.0[place];
        count.frames += 1;
        count.bytes += bytes;
        let is_more_frequent = place > 0 && self.0[place].frames > self.0[place - 1].frames;
        if is_more_frequent {
            self.0.swap(place, place - 1);
        }
    }

    pub(super) fn all(&self) -> u64 {
        self.0.iter().map(|count| count.frames).sum()
    }

    /// Returns the counts, largest first.
    pub(super) fn report(&self) -> Vec<FrameCount> {
        let mut counts = self.0.clone();
        counts.sort_by(|one, other| {
            other
                .frames
                .cmp(&one.frames)
                .then_with(|| (one.kind, one.sender).cmp(&(other.kind, other.sender)))
        });
        let counted = |count: &Count| FrameCount {
            protocol: count.protocol.name().to_owned(),
            kind: count.kind.to_owned(),
            from: count.sender,
            frames: count.frames,
            bytes: count.bytes,
        };
        counts.iter().map(counted).collect()
    }
}
