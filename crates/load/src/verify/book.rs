//! One publisher's messages: which were accepted, which were delivered, and where.

use super::window::{Bits, ROW, before};

/// Where messages are delivered: a queue, or a stream as one of its consumers reads it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Outlet {
    pub(super) place: u32,
    /// Of a stream, whose consumers get every message each.
    pub(super) consumer: Option<u32>,
    /// Messages from before its first one are none of its business: a stream, read from where it is.
    pub(super) joins_late: bool,
}

/// What a delivery was.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Delivery {
    /// As it should be.
    Fine,
    /// Delivered before, and not marked; `republished`: the publisher had sent it again.
    Duplicate { republished: bool },
    /// A consumer began again and reads what it has read.
    ReadAgain,
    /// Older than the window.
    Unchecked,
}

/// Accepted messages that did not arrive.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Shortfall {
    /// That many at least.
    pub(super) missing: u64,
    /// Those behind the last one that arrived, where messages arrive in order.
    pub(super) tail: u64,
    /// It cannot be told of these.
    pub(super) unjudged: u64,
}

/// The latest messages of a publisher.
#[derive(Debug)]
pub(super) struct Book {
    /// Rows of the window.
    rows: u64,
    /// The oldest row of it.
    oldest: u64,
    /// One more than the highest number that was seen.
    end: u64,
    accepted: Bits,
    /// At any outlet, or returned.
    delivered: Bits,
    republished: Option<Bits>,
    outlets: Vec<AtOutlet>,
    gone: Gone,
    /// Of messages before this one nobody knows whether the broker had got them.
    unsure_before: u64,
    accepted_count: u64,
    unjudged: u64,
}

#[derive(Debug)]
struct AtOutlet {
    outlet: Outlet,
    received: Bits,
    /// By deliveries that were not marked as redelivered.
    unmarked: Bits,
    end: u64,
    gone: Gone,
    /// What it has received of messages before this one it may read again.
    again_before: u64,
    /// Its next message is where it joins.
    is_joining: bool,
}

/// What left the window.
#[derive(Clone, Copy, Debug, Default)]
struct Gone {
    /// Accepted and not delivered when it left.
    missing: u64,
    unsure: u64,
    /// Deliveries that came afterwards: each may be one of those missing.
    late: u64,
}

impl Book {
    /// `rows`: a power of two.
    pub(super) fn new(rows: usize) -> Self {
        Self {
            rows: rows as u64,
            oldest: 0,
            end: 0,
            accepted: Bits::new(rows),
            delivered: Bits::new(rows),
            republished: None,
            outlets: Vec::new(),
            gone: Gone::default(),
            unsure_before: 0,
            accepted_count: 0,
            unjudged: 0,
        }
    }

    /// One more than the highest number that was seen.
    pub(super) fn end(&self) -> u64 {
        self.end
    }

    /// Messages that the broker accepted.
    pub(super) fn accepted_count(&self) -> u64 {
        self.accepted_count
    }

    pub(super) fn accept(&mut self, sequence: u64) {
        if !self.reach(sequence) {
            self.accepted_count += 1;
            self.unjudged += 1;
        } else if !self.accepted.set(sequence) {
            self.accepted_count += 1;
        }
    }

    pub(super) fn republish(&mut self, sequence: u64) {
        if self.reach(sequence) {
            let rows = usize::try_from(self.rows).unwrap_or(1);
            self.republished.get_or_insert_with(|| Bits::new(rows)).set(sequence);
        }
    }

    pub(super) fn doubt_before(&mut self, sequence: u64) {
        self.unsure_before = self.unsure_before.max(sequence);
    }

    /// It was returned, so that nobody will get it.
    pub(super) fn take_back(&mut self, sequence: u64) {
        if self.reach(sequence) {
            self.delivered.set(sequence);
            for at in &mut self.outlets {
                at.received.set(sequence);
            }
        }
    }

    #[inline]
    pub(super) fn deliver(&mut self, outlet: Outlet, sequence: u64, redelivered: bool) -> Delivery {
        let is_in_window = self.reach(sequence);
        let index = self.outlet(outlet);
        if self.outlets[index].is_joining {
            self.join(index, sequence);
        }
        let at = &mut self.outlets[index];
        if !is_in_window {
            at.gone.late += 1;
            self.gone.late += 1;
            return Delivery::Unchecked;
        }
        at.end = at.end.max(sequence + 1);
        self.delivered.set(sequence);
        let was_received = at.received.set(sequence);
        if was_received && sequence < at.again_before {
            return Delivery::ReadAgain;
        }
        if !redelivered && at.unmarked.set(sequence) {
            let again = self.republished.as_ref();
            let republished = again.is_some_and(|again| again.has(sequence));
            return Delivery::Duplicate { republished };
        }
        Delivery::Fine
    }

    /// A consumer of a stream begins again.
    pub(super) fn resubscribe(&mut self, place: u32, consumer: u32) {
        let is_it =
            |at: &&mut AtOutlet| at.outlet.place == place && at.outlet.consumer == Some(consumer);
        if let Some(at) = self.outlets.iter_mut().find(is_it) {
            at.again_before = at.end;
            at.is_joining = at.outlet.joins_late;
        }
    }

    /// Makes the window reach a message; false: it is too old.
    #[inline]
    fn reach(&mut self, sequence: u64) -> bool {
        let row = sequence / ROW;
        if row < self.oldest {
            return false;
        }
        while row >= self.oldest + self.rows {
            self.retire();
        }
        self.end = self.end.max(sequence + 1);
        true
    }

    /// Takes the oldest row out of the window.
    fn retire(&mut self) {
        let row = self.oldest;
        let accepted = self.accepted.row(row);
        let unsure = before(row, self.unsure_before);
        self.gone.leave(accepted & !self.delivered.row(row), unsure);
        for at in &mut self.outlets {
            at.gone.leave(accepted & !at.received.row(row), unsure);
            at.received.clear(row);
            at.unmarked.clear(row);
        }
        self.accepted.clear(row);
        self.delivered.clear(row);
        if let Some(again) = &mut self.republished {
            again.clear(row);
        }
        self.oldest += 1;
    }

    fn outlet(&mut self, outlet: Outlet) -> usize {
        let known = self.outlets.iter().position(|at| at.outlet == outlet);
        known.unwrap_or_else(|| {
            let rows = usize::try_from(self.rows).unwrap_or(1);
            self.outlets.push(AtOutlet {
                outlet,
                received: Bits::new(rows),
                unmarked: Bits::new(rows),
                end: 0,
                gone: Gone::default(),
                again_before: 0,
                is_joining: outlet.joins_late,
            });
            self.outlets.len() - 1
        })
    }

    /// What came since the outlet's last message, and before this one, it was not there for.
    fn join(&mut self, index: usize, sequence: u64) {
        let window = self.oldest * ROW;
        let at = &mut self.outlets[index];
        at.is_joining = false;
        if at.end < window {
            for gone in [&mut self.gone, &mut at.gone] {
                gone.unsure += std::mem::take(&mut gone.missing);
            }
        }
        for missed in at.end.max(window)..sequence {
            let is_new = !at.received.set(missed) & !self.delivered.set(missed);
            self.unjudged += u64::from(is_new && self.accepted.has(missed));
        }
    }

    /// What did not arrive at a queue; absent when nothing did. `is_ordered`: messages arrive there in
    /// order, so that what is behind the last one is still to come.
    pub(super) fn shortfall_at(&self, place: u32, is_ordered: bool) -> Option<Shortfall> {
        let mut outlets = self.outlets.iter().filter(|at| at.outlet.place == place).peekable();
        outlets.peek()?;
        let each = outlets.map(|at| {
            let tail_from = if is_ordered { at.end } else { u64::MAX };
            self.shortfall_of(&at.received, at.gone, tail_from)
        });
        Some(each.fold(Shortfall::default(), Shortfall::plus))
    }

    /// What did not arrive anywhere.
    pub(super) fn shortfall(&self, is_ordered: bool) -> Shortfall {
        let end = self.outlets.iter().map(|at| at.end).max().unwrap_or(0);
        let tail_from = if is_ordered { end } else { u64::MAX };
        self.shortfall_of(&self.delivered, self.gone, tail_from)
    }

    /// Messages whose fate is not known, whatever the outlet.
    pub(super) fn unjudged(&self) -> u64 {
        self.unjudged
    }

    fn shortfall_of(&self, got: &Bits, gone: Gone, tail_from: u64) -> Shortfall {
        let mut sum = Shortfall { unjudged: gone.unsure, ..Shortfall::default() };
        if tail_from <= self.oldest * ROW {
            sum.unjudged += gone.missing;
        } else {
            sum.missing = gone.missing.saturating_sub(gone.late);
            sum.unjudged += gone.missing.min(gone.late);
        }
        for row in self.oldest..self.end.div_ceil(ROW) {
            let missing = self.accepted.row(row) & !got.row(row);
            let (sure, arrived) = (!before(row, self.unsure_before), before(row, tail_from));
            sum.missing += ones(missing & sure & arrived);
            sum.tail += ones(missing & sure & !arrived);
            sum.unjudged += ones(missing & !sure);
        }
        sum
    }
}

impl Gone {
    fn leave(&mut self, missing: u64, unsure: u64) {
        self.missing += ones(missing & !unsure);
        self.unsure += ones(missing & unsure);
    }
}

impl Shortfall {
    pub(super) fn plus(self, other: Self) -> Self {
        Self {
            missing: self.missing + other.missing,
            tail: self.tail + other.tail,
            unjudged: self.unjudged + other.unjudged,
        }
    }
}

fn ones(bits: u64) -> u64 {
    u64::from(bits.count_ones())
}

#[cfg(test)]
mod tests;
