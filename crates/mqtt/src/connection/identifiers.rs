//! Packet identifiers, and the positions of the messages that have them.

use std::collections::VecDeque;

/// Number of identifiers, which are 1 to 65,535.
pub(super) const ALL: u16 = u16::MAX;

/// Positions of messages count from 1.
const FREE: u64 = 0;

/// A request without a message.
const REQUEST: u64 = u64::MAX;

/// The identifiers in use. They are given out in turn, and each is free again when its packet is acknowledged.
///
/// `entries` are the identifiers from the oldest in use to the newest, so it is as long as the messages on their way are
/// far apart. If the next identifier is still in use it is the oldest one: its entry moves to the end.
#[derive(Debug, Default)]
pub(super) struct Identifiers {
    /// Position of the message with each identifier from `first` on. The first is always in use.
    entries: VecDeque<u64>,
    /// Identifier of the first entry, counted from 0 and not wrapped.
    first: u64,
    in_use: u16,
    /// Messages that were sent.
    sent: u64,
}

impl Identifiers {
    /// Returns the number of identifiers in use.
    #[inline]
    pub(super) fn in_use(&self) -> u16 {
        self.in_use
    }

    /// Returns an identifier for the next message.
    #[inline]
    pub(super) fn take(&mut self) -> u16 {
        self.sent += 1;
        self.insert(self.sent)
    }

    /// Returns an identifier for a request.
    pub(super) fn take_for_request(&mut self) -> u16 {
        self.insert(REQUEST)
    }

    #[inline]
    fn insert(&mut self, entry: u64) -> u16 {
        assert!(self.in_use < ALL, "the caller asks for room before");
        while self.entries.len() >= ALL.into()
            && let Some(oldest) = self.entries.pop_front()
        {
            self.first += 1;
            self.entries.push_back(oldest);
            self.drop_free();
        }
        self.entries.push_back(entry);
        self.in_use += 1;
        identifier(self.first + self.entries.len() as u64 - 1)
    }

    /// Returns the position of the message with this identifier; `None` if no message has it.
    #[inline]
    pub(super) fn position(&self, identifier: u16) -> Option<u64> {
        let entry = *self.entries.get(self.index(identifier)?)?;
        (entry != FREE && entry != REQUEST).then_some(entry)
    }

    /// Frees the identifier of a message or of a request. Returns false if nothing of that kind has it.
    #[inline]
    pub(super) fn release(&mut self, identifier: u16, is_request: bool) -> bool {
        let Some(index) = self.index(identifier) else { return false };
        let Some(entry) = self.entries.get_mut(index) else { return false };
        if *entry == FREE || (*entry == REQUEST) != is_request {
            return false;
        }
        *entry = FREE;
        self.in_use -= 1;
        self.drop_free();
        true
    }

    /// Returns the index of an identifier in `entries`, or one behind them.
    #[inline]
    fn index(&self, identifier: u16) -> Option<usize> {
        let ahead = u64::from(identifier.checked_sub(1)?) + u64::from(ALL);
        let index = (ahead - self.first % u64::from(ALL)) % u64::from(ALL);
        usize::try_from(index).ok()
    }

    #[inline]
    fn drop_free(&mut self) {
        while self.entries.front() == Some(&FREE) {
            self.entries.pop_front();
            self.first += 1;
        }
    }
}

/// Returns an identifier that is counted from 0 and not wrapped as the protocol has it.
#[inline]
fn identifier(counted: u64) -> u16 {
    u16::try_from(counted % u64::from(ALL)).unwrap_or(0) + 1
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn identifiers_wrap_behind_65535() {
        let mut identifiers = Identifiers::default();
        for position in 1..=140_000_u64 {
            let expected = u16::try_from((position - 1) % 65_535 + 1).unwrap();
            assert_eq!(identifiers.take(), expected);
            assert_eq!(identifiers.position(expected), Some(position));
            assert!(identifiers.release(expected, false) && !identifiers.release(expected, false));
        }
        assert_eq!(identifiers.in_use(), 0);
    }

    #[test]
    fn an_identifier_in_use_is_skipped() {
        let mut identifiers = Identifiers::default();
        let held = [identifiers.take(), identifiers.take_for_request(), identifiers.take()];
        assert_eq!(held, [1, 2, 3]);
        for _ in 0..2 {
            for expected in 4..=65_535 {
                let identifier = identifiers.take();
                assert_eq!(identifier, expected);
                assert!(identifiers.release(identifier, false));
            }
        }
        assert_eq!([1, 2, 3].map(|held| identifiers.position(held)), [Some(1), None, Some(2)]);
        assert!(identifiers.release(2, true) && identifiers.release(1, false));
        assert_eq!(identifiers.take(), 1);
    }

    #[test]
    fn all_identifiers_may_be_in_use_and_freed_in_any_order() {
        let mut identifiers = Identifiers::default();
        let mut random = 3_u64;
        let mut by_identifier = vec![0; 65_536];
        let mut in_use = Vec::new();
        let mut position = 0;
        while position < 200_000 {
            while identifiers.in_use() < ALL {
                position += 1;
                let identifier = identifiers.take();
                assert_eq!(
                    std::mem::replace(&mut by_identifier[usize::from(identifier)], position),
                    0
                );
                in_use.push(identifier);
            }
            for _ in 0..30_000 {
                random = random.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
                let at = usize::try_from(random >> 33).unwrap() % in_use.len();
                let identifier = in_use.swap_remove(at);
                let expected = std::mem::take(&mut by_identifier[usize::from(identifier)]);
                assert_eq!(identifiers.position(identifier), Some(expected));
                assert!(identifiers.release(identifier, false));
            }
        }
    }

    #[test]
    fn no_other_number_has_a_position() {
        let mut identifiers = Identifiers::default();
        let taken = identifiers.take();
        assert_eq!(
            [0, taken, taken + 1, 65_535].map(|one| identifiers.position(one)),
            [None, Some(1), None, None]
        );
        assert!(!identifiers.release(0, false) && !identifiers.release(taken, true));
    }
}
