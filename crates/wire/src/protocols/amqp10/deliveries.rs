//! Deliveries of several transfers. Only the first transfer of a delivery begins with a message.

use rustc_hash::FxHashSet;

use super::super::details::Transfer;

/// Maximum of links that are followed.
const LINKS_MAX: usize = 4096;

/// Links by channel and handle.
#[derive(Clone, Debug)]
pub(super) struct Deliveries {
    /// True if all transfers were seen.
    is_sure: bool,
    /// Links with an unfinished delivery.
    unfinished: FxHashSet<(u16, u32)>,
    /// Links whose last delivery ended, unless all transfers were seen.
    finished: FxHashSet<(u16, u32)>,
}

impl Deliveries {
    /// Creates the state of a direction. `is_sure` means that it is read from its beginning.
    pub(super) fn new(is_sure: bool) -> Self {
        Self { is_sure, unfinished: FxHashSet::default(), finished: FxHashSet::default() }
    }

    /// Notes a transfer. Returns whether it is surely the first one of a delivery.
    pub(super) fn begins(&mut self, channel: u16, transfer: &Transfer) -> bool {
        let link = (channel, transfer.handle);
        let was_unfinished = self.unfinished.contains(&link);
        let is_known = self.is_sure || self.finished.contains(&link);
        if transfer.more && !transfer.aborted {
            self.finished.remove(&link);
            if self.unfinished.len() >= LINKS_MAX {
                *self = Self::new(false);
            }
            self.unfinished.insert(link);
        } else {
            self.unfinished.remove(&link);
            if !self.is_sure && self.finished.len() < LINKS_MAX {
                self.finished.insert(link);
            }
        }
        is_known && !was_unfinished && transfer.delivery_id.is_some() && !transfer.aborted
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_delivery_begins_behind_the_end_of_the_last_one() {
        fn check(is_sure: bool, transfers: &[(Option<u32>, bool)], expected: &[bool]) {
            let mut deliveries = Deliveries::new(is_sure);
            let begins = transfers.iter().map(|(delivery_id, more)| {
                let transfer = Transfer {
                    handle: 1,
                    delivery_id: *delivery_id,
                    delivery_tag_bytes: None,
                    settled: false,
                    more: *more,
                    aborted: false,
                    payload_bytes: 1,
                    sections: None,
                };
                deliveries.begins(2, &transfer)
            });
            assert_eq!(begins.collect::<Vec<_>>(), expected, "{transfers:?}");
        }
        let one = (Some(1), false);
        check(true, &[one, one], &[true, true]);
        check(false, &[one, one], &[false, true]);
        check(
            true,
            &[(Some(1), true), (Some(1), true), (None, false), one],
            &[true, false, false, true],
        );
        check(false, &[(Some(1), true), (Some(1), false), one], &[false, false, true]);
        check(true, &[(None, false)], &[false]);
    }
}
