//! Publishes of a channel and their confirms.
//!
//! Publishes have no number on the wire: the first one after `confirm.select` is 1. In the middle of a connection the number of
//! a publish is unknown. It cannot be proved from the outside which publish a confirm is for, until nothing is
//! unconfirmed. That is concluded when neither a publish nor a confirm has come for a second, and the highest confirmed
//! number is as close to the count of publishes as it ever was: the next publish is one more. A later confirm
//! that contradicts it makes the numbers unknown again.
//!
//! Until then each confirm gives a latency that is too short rather than too long. Of `n` publishes seen so far, a confirm of
//! number `t` says that the first of them had a number above `t - n`: what was published before the capture was at least that
//! much. Counted from there, a confirm falls on its publish or on a later one.

use core::time::Duration;

use super::super::{
    latency::{Ending, Latency, Mark},
    outstanding::Outstanding,
};
use crate::{
    packet::Timestamp,
    protocols::Settlement,
    report::{LatencyKind, Unmatched},
};

/// Without a publish and a confirm for so long nothing is unconfirmed. A broker that confirms at all does so within
/// milliseconds; one that stalls for longer is found out by the next confirm.
const QUIET: Duration = Duration::from_secs(1);

#[derive(Clone, Copy, Debug)]
enum Numbering {
    /// The channel was opened, and publishes are not confirmed.
    Off,
    /// The next publish's number.
    Known(u64),
    Unknown(Unnumbered),
}

/// What is seen of publishes without numbers.
#[derive(Clone, Copy, Debug, Default)]
struct Unnumbered {
    published: u64,
    highest_confirmed: u64,
    /// The most that the highest confirmed number was ahead of the count of publishes. The number of the first publish
    /// is above it.
    lead: i128,
    last: Timestamp,
}

impl Unnumbered {
    fn lead_now(&self) -> i128 {
        i128::from(self.highest_confirmed) - i128::from(self.published)
    }

    /// Which publish a number is, counted from the first one that was seen, or a later one than it is; none for one before.
    fn place_of(&self, number: u64) -> Option<u64> {
        u64::try_from(i128::from(number) - self.lead).ok().filter(|place| *place > 0)
    }

    /// The next number, if nothing is unconfirmed.
    fn next(&self, now: Timestamp) -> Option<u64> {
        let is_quiet = self.highest_confirmed > 0 && now.since(self.last) >= QUIET;
        (is_quiet && self.lead == self.lead_now()).then(|| self.highest_confirmed.saturating_add(1))
    }
}

/// A confirm of publishes without known numbers.
fn settle_at_least(
    counted: &mut Outstanding,
    settlement: &Settlement,
    place: Option<u64>,
    ending: &Ending,
    sink: &mut impl FnMut(&Latency),
) {
    let ending = ending.of_kind(LatencyKind::PublishToConfirmAtLeast);
    match (settlement.multiple, settlement.tag, place) {
        (true, 0, _) => counted.settle_up_to(u64::MAX, &ending, sink),
        (true, _, Some(place)) => counted.settle_up_to(place, &ending, sink),
        (false, _, Some(place)) => counted.settle(place, &ending, sink),
        // Of publishes before the capture.
        (_, _, None) => {}
    }
}

/// Publishes of a channel that are not confirmed yet.
#[derive(Clone, Debug)]
pub(super) struct Confirms {
    numbering: Numbering,
    /// Numbers were concluded from silence.
    is_concluded: bool,
    outstanding: Outstanding,
    /// Publishes without known numbers, counted from the first one that was seen.
    counted: Outstanding,
}

impl Default for Confirms {
    fn default() -> Self {
        let numbering = Numbering::Unknown(Unnumbered { lead: i128::MIN, ..Unnumbered::default() });
        Self {
            numbering,
            is_concluded: false,
            outstanding: Outstanding::default(),
            counted: Outstanding::default(),
        }
    }
}

impl Confirms {
    /// `channel.open`
    pub(super) fn open(&mut self) {
        self.outstanding.forget();
        self.numbering = Numbering::Off;
        self.is_concluded = false;
    }

    /// `confirm.select`. It does nothing on a channel that has confirms already.
    pub(super) fn select(&mut self) {
        match self.numbering {
            Numbering::Off => self.numbering = Numbering::Known(1),
            Numbering::Unknown(seen) if seen.published == 0 && seen.highest_confirmed == 0 => {
                self.numbering = Numbering::Known(1);
            }
            Numbering::Known(_) | Numbering::Unknown(_) => {}
        }
    }

    /// A message was published.
    #[inline]
    pub(super) fn publish(&mut self, mark: Mark) {
        if let Numbering::Unknown(seen) = &self.numbering
            && let Some(next) = seen.next(mark.time)
        {
            self.numbering = Numbering::Known(next);
            self.is_concluded = true;
            self.counted = Outstanding::default();
        }
        match &mut self.numbering {
            Numbering::Off => {}
            Numbering::Known(next) => {
                self.outstanding.push(*next, mark);
                *next = next.saturating_add(1);
            }
            Numbering::Unknown(seen) => {
                seen.published += 1;
                seen.last = mark.time;
                self.counted.push(seen.published, mark);
            }
        }
    }

    /// A confirm, positive or negative.
    pub(super) fn confirm(
        &mut self,
        settlement: &Settlement,
        ending: &Ending,
        sink: &mut impl FnMut(&Latency),
        now: Timestamp,
    ) {
        let tag = settlement.tag;
        match &mut self.numbering {
            // Confirms of a channel without them: its opening was another one's.
            Numbering::Off => return self.outstanding.count_unknown_number(),
            Numbering::Known(next) if tag >= *next => self.contradict(),
            Numbering::Known(_) => {}
            Numbering::Unknown(seen) => {
                seen.highest_confirmed = seen.highest_confirmed.max(tag);
                seen.lead = seen.lead.max(seen.lead_now());
                seen.last = now;
                let counted = seen.place_of(tag);
                settle_at_least(&mut self.counted, settlement, counted, ending, sink);
            }
        }
        // Publishes before a gap have kept their numbers.
        let is_known = matches!(self.numbering, Numbering::Known(_));
        if !is_known && self.outstanding.is_empty() {
            return self.outstanding.count_unknown_number();
        }
        match (settlement.multiple, tag) {
            (true, 0) => self.outstanding.settle_up_to(u64::MAX, ending, sink),
            (true, _) => self.outstanding.settle_up_to(tag, ending, sink),
            (false, _) => self.outstanding.settle(tag, ending, sink),
        }
    }

    /// A number that was not published yet is confirmed: what was concluded was wrong, or publishes were lost.
    fn contradict(&mut self) {
        self.outstanding.forget();
        self.unnumber();
    }

    fn unnumber(&mut self) {
        *self = Self { outstanding: core::mem::take(&mut self.outstanding), ..Self::default() };
    }

    /// Publishes cannot be read. Confirms are off where they were off.
    pub(super) fn lose_publishes(&mut self) {
        if !matches!(self.numbering, Numbering::Off) {
            self.unnumber();
        }
    }

    /// Confirms cannot be read.
    pub(super) fn lose_confirms(&mut self) {
        self.outstanding.deafen();
    }

    /// Confirms can be read again.
    pub(super) fn find_confirms(&mut self) {
        self.outstanding.listen();
    }

    pub(super) const fn most_open(&self) -> u64 {
        self.outstanding.most_open()
    }

    pub(super) const fn is_concluded(&self) -> bool {
        self.is_concluded
    }

    pub(super) fn unmatched(&self) -> Unmatched {
        self.outstanding.unmatched()
    }
}
