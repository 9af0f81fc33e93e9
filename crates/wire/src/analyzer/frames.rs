//! Frames by kind and sender.

use crate::{
    protocols::{Frame, Protocol},
    report::{FrameCount, Side},
};

/// Counts frames. Kinds are few, and the same ones come again and again, so that a list is faster than a map. Kinds that come
/// often move to its front.
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
        // Mostly the same text at the same place; the same text may stand at several.
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
        self.0.iter().map(|it| it.frames).sum()
    }

    /// Most first.
    pub(super) fn report(&self) -> Vec<FrameCount> {
        let mut counts = self.0.clone();
        counts.sort_by(|one, other| {
            other
                .frames
                .cmp(&one.frames)
                .then_with(|| (one.kind, one.sender).cmp(&(other.kind, other.sender)))
        });
        let counted = |it: &Count| FrameCount {
            protocol: it.protocol.name().to_owned(),
            kind: it.kind.to_owned(),
            from: it.sender,
            frames: it.frames,
            bytes: it.bytes,
        };
        counts.iter().map(counted).collect()
    }
}
