//! Deliveries of one direction of a session by their ids, which the links of the session share.

use std::collections::VecDeque;

/// Maximum of deliveries that are followed.
const OPEN_MAX: usize = 65_536;

/// A delivery.
#[derive(Clone, Copy, Debug)]
struct Delivery {
    /// The link, and the delivery's number on it.
    link: u16,
    number: u64,
    is_open: bool,
}

/// Deliveries with successive ids (RFC 1982).
#[derive(Clone, Debug, Default)]
pub(super) struct Ids {
    /// Id of the first one.
    first: u32,
    deliveries: VecDeque<Delivery>,
}

/// Deliveries of a link with successive numbers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Run {
    pub(super) link: u16,
    pub(super) first: u64,
    pub(super) last: u64,
}

impl Ids {
    pub(super) fn clear(&mut self) {
        self.deliveries.clear();
    }

    /// Returns the number of deliveries that are followed.
    pub(super) fn count(&self) -> usize {
        self.deliveries.len()
    }

    /// Adds a delivery. One without a number is settled.
    pub(super) fn push(&mut self, id: u32, link: u16, number: Option<u64>) {
        let next = u32::try_from(self.deliveries.len()).map(|count| self.first.wrapping_add(count));
        if next != Ok(id) {
            self.deliveries.clear();
            self.first = id;
        }
        self.forget_settled(OPEN_MAX - 1);
        let (is_open, number) = (number.is_some(), number.unwrap_or_default());
        self.deliveries.push_back(Delivery { link, number, is_open });
    }

    /// Settles the deliveries from one id to another. Returns those that were not settled.
    pub(super) fn settle(&mut self, first: u32, last: u32) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let (start, end) = (self.place(first).max(0), self.place(last).saturating_add(1).max(0));
        let [start, end] = [start, end].map(|place| usize::try_from(place).unwrap_or(0));
        let end = end.min(self.deliveries.len());
        for delivery in self.deliveries.range_mut(start.min(end)..end) {
            if !core::mem::take(&mut delivery.is_open) {
                continue;
            }
            let Delivery { link, number, .. } = *delivery;
            match runs.iter_mut().rev().find(|run| run.link == link) {
                Some(run) if run.last + 1 == number => run.last = number,
                _ => runs.push(Run { link, first: number, last: number }),
            }
        }
        self.forget_settled(usize::MAX);
        runs
    }

    /// Returns the place of an id, negative for an earlier one.
    fn place(&self, id: u32) -> i64 {
        let distance = id.wrapping_sub(self.first);
        if distance < 1 << 31 { i64::from(distance) } else { i64::from(distance) - (1 << 32) }
    }

    /// Removes the first deliveries: settled ones, and those beyond a number.
    fn forget_settled(&mut self, most: usize) {
        while self.deliveries.front().is_some_and(|delivery| !delivery.is_open)
            || self.deliveries.len() > most
        {
            self.deliveries.pop_front();
            self.first = self.first.wrapping_add(1);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn runs(ids: &mut Ids, first: u32, last: u32) -> Vec<(u16, u64, u64)> {
        ids.settle(first, last).iter().map(|run| (run.link, run.first, run.last)).collect()
    }

    #[test]
    fn ranges_are_runs_of_each_link_also_through_zero() {
        let mut ids = Ids::default();
        for (at, (link, number)) in
            (0..).zip([(1, Some(1)), (2, Some(1)), (1, Some(2)), (1, None), (2, Some(2))])
        {
            ids.push(u32::MAX.wrapping_sub(1).wrapping_add(at), link, number);
        }
        assert_eq!(runs(&mut ids, u32::MAX, u32::MAX), [(2, 1, 1)]);
        assert_eq!(runs(&mut ids, u32::MAX - 9, 0), [(1, 1, 2)]);
        assert_eq!(runs(&mut ids, 0, 2), [(2, 2, 2)]);
        assert_eq!(runs(&mut ids, 0, u32::MAX), []);
        assert!(ids.deliveries.is_empty());
    }

    #[test]
    fn deliveries_behind_a_gap_begin_anew_and_are_bounded() {
        let mut ids = Ids::default();
        ids.push(5, 1, Some(1));
        ids.push(9, 1, Some(2));
        assert_eq!(runs(&mut ids, 0, 20), [(1, 2, 2)]);
        for id in 10..100_000 {
            ids.push(id, 1, Some(u64::from(id)));
        }
        assert_eq!(ids.deliveries.len(), OPEN_MAX);
        assert_eq!(runs(&mut ids, 0, 200_000), [(1, 100_000 - 65_536, 99_999)]);
    }
}
