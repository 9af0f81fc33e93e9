//! When messages are due: an absolute schedule, so that nothing is forgotten and nothing saved up.

use crate::clock::SECOND;

/// Message `k` (from 0) is due `offset + k / rate` after the start.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pace {
    rate: f64,
    offset_nanos: f64,
}

impl Pace {
    /// `rate` messages a second; the group's `member` of `count` starts so that members take turns.
    pub(crate) fn new(rate: f64, member: u32, count: u32) -> Self {
        let turn = f64::from(member) / f64::from(count.max(1));
        Self { rate, offset_nanos: turn * SECOND as f64 / rate }
    }

    /// When message `index` is due, in nanoseconds since the start.
    pub(crate) fn due(&self, index: u64) -> u64 {
        let nanos = self.offset_nanos + index as f64 * (SECOND as f64 / self.rate);
        whole(nanos.ceil())
    }

    /// How many messages are due at `now`.
    pub(crate) fn count_at(&self, now: u64) -> u64 {
        let late = now as f64 - self.offset_nanos;
        if late < 0.0 {
            return 0;
        }
        let count = whole((late * self.rate / SECOND as f64).floor());
        // Rounding must not let a message go before `due` says so, nor hold it back.
        if self.due(count) <= now { count + 1 } else { count }
    }
}

#[expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    reason = "not negative, and below 2^53 for runs of up to 100 days"
)]
fn whole(nanos: f64) -> u64 {
    nanos as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn due_and_count_agree() {
        for rate in [0.5, 3.0, 999.9, 14_000.0, 1_000_000.0] {
            for member in 0..3 {
                let pace = Pace::new(rate, member, 3);
                for index in (0..5_000).chain(10_000_000..10_000_100) {
                    let due = pace.due(index);
                    assert_eq!(pace.count_at(due), index + 1, "{rate} {index}");
                    if due > 0 {
                        assert_eq!(pace.count_at(due - 1), index, "{rate} {index}");
                    }
                }
            }
        }
    }

    #[test]
    fn members_take_turns() {
        fn check(member: u32, expected: u64) {
            assert_eq!(Pace::new(10.0, member, 4).due(0), expected);
        }
        check(0, 0);
        check(1, 25_000_000);
        check(3, 75_000_000);
    }

    #[test]
    fn a_second_holds_the_rate() {
        let pace = Pace::new(14_000.0, 0, 1);
        for second in 2..100 {
            let count =
                pace.count_at(second * SECOND - 1) - pace.count_at((second - 1) * SECOND - 1);
            assert!((13_999..=14_001).contains(&count), "{count}");
        }
    }
}
