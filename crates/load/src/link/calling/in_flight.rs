//! Requests that wait for their replies.
//!
//! They form a ring in the order of sending. The correlation id is the position of the request, so that a reply finds
//! its request without a search. The first request is the first to time out. An answered request stays until all before
//! it are answered. The ring is thus never longer than the requests of one timeout.

use std::collections::VecDeque;

use rabbitscope_timing::RunInstant;

/// Digits of a correlation id.
const DIGITS: usize = 16;

/// A request, remembered until its reply.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Waiting {
    /// Time of sending.
    pub(super) sent_at: RunInstant,
    /// Scheduled time; the same as `sent_at` without a schedule.
    pub(super) intended_at: RunInstant,
    /// Number of the caller on its connection.
    pub(super) caller: u32,
}

/// All requests of a connection that wait for a reply.
#[derive(Debug, Default)]
pub(super) struct InFlight {
    /// An absent request has its reply. The first entry is never absent.
    ring: VecDeque<Option<Waiting>>,
    /// Correlation id of the first entry.
    first: u64,
    waiting: u64,
}

impl InFlight {
    /// Adds a request and returns its correlation id.
    #[inline]
    pub(super) fn push(&mut self, request: Waiting) -> [u8; DIGITS] {
        let id = self.first + self.ring.len() as u64;
        self.ring.push_back(Some(request));
        self.waiting += 1;
        encode(id)
    }

    /// Takes the request with this correlation id; absent if it no longer waits.
    #[inline]
    pub(super) fn take(&mut self, correlation_id: &[u8]) -> Option<Waiting> {
        let place = decode(correlation_id)?.checked_sub(self.first)?;
        let request = self.ring.get_mut(usize::try_from(place).ok()?)?.take()?;
        self.waiting -= 1;
        self.forget_answered();
        Some(request)
    }

    /// Takes the first request if it was sent before `limit`.
    pub(super) fn take_before(&mut self, limit: RunInstant) -> Option<Waiting> {
        let request = self.ring.front_mut()?.take_if(|request| request.sent_at < limit)?;
        self.waiting -= 1;
        self.forget_answered();
        Some(request)
    }

    fn forget_answered(&mut self) {
        while let Some(None) = self.ring.front() {
            self.ring.pop_front();
            self.first += 1;
        }
    }

    /// Returns the time at which the first request was sent.
    pub(super) fn oldest(&self) -> Option<RunInstant> {
        self.ring.front()?.map(|request| request.sent_at)
    }

    /// Returns the number of requests that wait for a reply.
    pub(super) fn len(&self) -> u64 {
        self.waiting
    }
}

/// Encodes an id in hexadecimal digits, because clients in all languages treat a correlation id as text.
#[inline]
fn encode(id: u64) -> [u8; DIGITS] {
    let mut digits = [0; DIGITS];
    for (at, digit) in digits.iter_mut().enumerate() {
        let value = id >> (4 * (DIGITS - 1 - at)) & 0xf;
        *digit = b"0123456789abcdef"[usize::try_from(value).unwrap_or(0)];
    }
    digits
}

#[inline]
fn decode(digits: &[u8]) -> Option<u64> {
    if digits.len() != DIGITS {
        return None;
    }
    digits
        .iter()
        .try_fold(0_u64, |id, digit| Some(id << 4 | u64::from(char::from(*digit).to_digit(16)?)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn at(nanos: u64) -> RunInstant {
        RunInstant::from_nanos(nanos)
    }

    fn request(caller: u32) -> Waiting {
        let at = at(u64::from(caller) * 100);
        Waiting { sent_at: at, intended_at: at, caller }
    }

    #[test]
    fn correlation_ids_read_back() {
        for id in [0, 1, 0xfedc_ba98_7654_3210, u64::MAX] {
            assert_eq!(decode(&encode(id)), Some(id));
        }
        assert_eq!(&encode(0x1f), b"000000000000001f");
        for wrong in [&b""[..], b"000000000000001", b"000000000000001g", b"00000000000000011"] {
            assert_eq!(decode(wrong), None, "{wrong:?}");
        }
    }

    #[test]
    fn replies_find_their_requests_in_any_order() {
        let mut calls = InFlight::default();
        let ids: Vec<_> = (0..5).map(|caller| calls.push(request(caller))).collect();
        for (place, expected) in [(3, Some(3)), (0, Some(0)), (3, None), (4, Some(4)), (0, None)] {
            assert_eq!(calls.take(&ids[place]).map(|taken| taken.caller), expected, "{place}");
        }
        assert_eq!((calls.len(), calls.oldest()), (2, Some(at(100))));
        assert_eq!(calls.take(b"what is this?"), None);
        assert_eq!(calls.take(&encode(77)), None);
        let next = calls.push(request(9));
        assert_eq!(next, encode(5));
        assert_eq!(calls.take(&ids[1]).map(|taken| taken.caller), Some(1));
        assert_eq!(calls.take(&ids[2]).map(|taken| taken.caller), Some(2));
        assert_eq!((calls.len(), calls.ring.len()), (1, 1));
    }

    #[test]
    fn the_oldest_time_out_first() {
        let mut calls = InFlight::default();
        let ids: Vec<_> = (0..4).map(|caller| calls.push(request(caller))).collect();
        calls.take(&ids[1]);
        let mut expired = Vec::new();
        while let Some(request) = calls.take_before(at(300)) {
            expired.push(request.caller);
        }
        assert_eq!(expired, [0, 2]);
        assert_eq!(calls.take(&ids[2]), None, "comes too late");
        assert_eq!((calls.len(), calls.oldest()), (1, Some(at(300))));
    }
}
