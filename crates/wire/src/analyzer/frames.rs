//! Frames by kind and sender.

use crate::{
    protocols::{Frame, Protocol},
    report::{FrameCount, Side},
};

/// Counts frames. Kinds are few, and the same ones come again and again, so that a list is faster than a map.
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
        let known = self.0.iter_mut().find(|it| it.is_of(protocol, kind, sender));
        let bytes = frame.place.bytes();
        if let Some(count) = known {
            count.frames += 1;
            count.bytes += bytes;
        } else {
            self.0.push(Count { protocol, kind, sender, frames: 1, bytes });
        }
    }

    pub(super) fn all(&self) -> u64 {
        self.0.iter().map(|it| it.frames).sum()
    }

    /// Most first.
    pub(super) fn report(&self) -> Vec<FrameCount> {
        let mut counts = self.0.clone();
        counts.sort_by(|one, other| {
            other.frames.cmp(&one.frames).then_with(|| one.kind.cmp(other.kind))
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
