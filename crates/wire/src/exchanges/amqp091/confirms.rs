//! Publishes of a channel and their confirms.
//!
//! Publishes have no number on the wire: the first one after `confirm.select` is 1. In the middle of a connection, and
//! after bytes that were not seen, the number of a publish is unknown. Then no observer can prove which publish a
//! confirm is for. In that case there is only a lower bound (`bounds`), from publishes seen since. The numbers are
//! known again when the channel is opened again.

use super::{
    super::{
        latency::{Ending, Latency, Mark},
        outstanding::Outstanding,
    },
    bounds::Bounds,
};
use crate::{protocols::Settlement, report::Unmatched};

#[derive(Clone, Debug)]
enum Numbering {
    /// The channel was opened, and publishes are not confirmed.
    Off,
    /// Number of the next publish.
    Known(u64),
    Unknown(Bounds),
}

/// Unconfirmed publishes of a channel.
#[derive(Clone, Debug)]
pub(super) struct Confirms {
    numbering: Numbering,
    outstanding: Outstanding,
}

impl Default for Confirms {
    fn default() -> Self {
        Self {
            numbering: Numbering::Unknown(Bounds::default()),
            outstanding: Outstanding::default(),
        }
    }
}

impl Confirms {
    /// `channel.open`
    pub(super) fn open(&mut self) {
        self.outstanding.forget();
        self.numbering = Numbering::Off;
    }

    /// `confirm.select`. It has no effect on a channel that already has confirms.
    pub(super) fn select(&mut self) {
        match &self.numbering {
            Numbering::Off => self.numbering = Numbering::Known(1),
            Numbering::Unknown(bounds) if bounds.is_empty() => {
                self.numbering = Numbering::Known(1);
            }
            Numbering::Known(_) | Numbering::Unknown(_) => {}
        }
    }

    /// Records a publish; without a mark its time is unknown.
    #[inline]
    pub(super) fn publish(&mut self, mark: Option<Mark>) {
        match (&mut self.numbering, mark) {
            // Without a mark it counts as one of those before the first counted one.
            (Numbering::Off, _) | (Numbering::Unknown(_), None) => {}
            (Numbering::Known(next), mark) => {
                match mark {
                    Some(mark) => self.outstanding.push(*next, mark),
                    None => self.outstanding.count_unknown_number(),
                }
                *next = next.saturating_add(1);
            }
            (Numbering::Unknown(bounds), Some(mark)) => bounds.publish(mark),
        }
    }

    /// Records a confirm, positive or negative; without an ending its time is unknown.
    pub(super) fn confirm(
        &mut self,
        settlement: &Settlement,
        ending: Option<&Ending>,
        sink: &mut impl FnMut(&Latency),
    ) {
        let tag = settlement.tag;
        match &mut self.numbering {
            // Confirms on a channel without them: the `channel.open` was that of another channel.
            Numbering::Off => return self.outstanding.count_unknown_number(),
            Numbering::Known(next) if tag >= *next => self.contradict(),
            Numbering::Known(_) => {}
            Numbering::Unknown(bounds) => bounds.confirm(tag, ending, sink),
        }
        // Publishes before a gap have kept their numbers.
        let is_known = matches!(self.numbering, Numbering::Known(_));
        if !is_known && self.outstanding.is_empty() {
            return self.outstanding.count_unknown_number();
        }
        let up_to = match (settlement.multiple, tag) {
            (true, 0) => Some(u64::MAX),
            (multiple, tag) => multiple.then_some(tag),
        };
        match (ending, up_to) {
            (None, up_to) => self.outstanding.drop_settled(tag, up_to),
            (Some(ending), Some(up_to)) => self.outstanding.settle_up_to(up_to, ending, sink),
            (Some(ending), None) => self.outstanding.settle(tag, ending, sink),
        }
    }

    /// Handles a confirm of a number that was not published yet: publishes were lost.
    fn contradict(&mut self) {
        self.outstanding.forget();
        self.unnumber();
    }

    fn unnumber(&mut self) {
        self.numbering = Numbering::Unknown(Bounds::default());
    }

    /// Records that publishes cannot be read. If confirms were off, they stay off.
    pub(super) fn lose_publishes(&mut self) {
        if !matches!(self.numbering, Numbering::Off) {
            self.unnumber();
        }
    }

    /// Records that publishes were missed, or arrive later than frames sent after them. Unknown numbers are counted
    /// anew.
    pub(super) fn count_anew(&mut self) {
        if matches!(self.numbering, Numbering::Unknown(_)) {
            self.unnumber();
        }
    }

    /// Records that confirms cannot be read.
    pub(super) fn lose_confirms(&mut self) {
        self.outstanding.deafen();
        self.count_anew();
    }

    /// Records that confirms can be read again.
    pub(super) fn find_confirms(&mut self) {
        self.outstanding.listen();
    }

    pub(super) const fn most_open(&self) -> u64 {
        self.outstanding.most_open()
    }

    pub(super) fn unmatched(&self) -> Unmatched {
        self.outstanding.unmatched()
    }
}
