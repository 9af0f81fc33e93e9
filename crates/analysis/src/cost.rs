//! The cost of a function per message. Shares cannot show it, because their whole changes too: when one function
//! becomes faster, the shares of all others grow, but their costs per message do not.

use rabbitscope_profiles::{Event, Profile};
use rabbitscope_runs::record::SecondRow;

/// Messages that a load moved during a recording, by kind.
#[derive(Clone, Copy, Debug, Default, PartialEq)]
pub struct MessagesDuring {
    /// Length of the recorded part of the seconds.
    pub nanos: f64,
    published: f64,
    replies: f64,
    consumed: f64,
}

impl MessagesDuring {
    /// Sums the seconds between two times since the start of the load. A second that is partly outside counts in
    /// proportion.
    pub fn from_series(series: &[SecondRow], from_nanos: u64, to_nanos: u64) -> Self {
        let mut sum = Self::default();
        let mut begin = 0_u64;
        for row in series {
            let end = begin.saturating_add(row.interval_nanos);
            let inside = end.min(to_nanos).saturating_sub(begin.max(from_nanos)) as f64;
            let part = inside / row.interval_nanos.max(1) as f64;
            sum.nanos += inside;
            sum.published += part * row.counts.accepted_or_written() as f64;
            sum.replies += part * row.counts.replies as f64;
            sum.consumed += part * row.counts.consumed as f64;
            begin = end;
        }
        sum
    }

    /// Sums several recordings; absent if one of them has no counts.
    pub fn sum(parts: impl IntoIterator<Item = Option<Self>>) -> Option<Self> {
        parts.into_iter().try_fold(Self::default(), |sum, part| {
            let part = part?;
            Some(Self {
                nanos: sum.nanos + part.nanos,
                published: sum.published + part.published,
                replies: sum.replies + part.replies,
                consumed: sum.consumed + part.consumed,
            })
        })
    }
}

/// Message counts by which both sides of a comparison can be divided.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct MessageCounts {
    /// The counted kind: `published`, `answered` or `consumed`.
    pub what: &'static str,
    /// Counts in the first recording and in the second.
    pub counts: [f64; 2],
    /// The same counts per second.
    pub rates: [f64; 2],
}

/// The name of a kind of message, and its count.
type Kind = (&'static str, fn(&MessagesDuring) -> f64);

impl MessageCounts {
    /// Returns the first kind that occurred on both sides; absent if there is none.
    pub fn between(sides: [MessagesDuring; 2]) -> Option<Self> {
        let kinds: [Kind; 3] = [
            ("published", |during| during.published),
            ("answered", |during| during.replies),
            ("consumed", |during| during.consumed),
        ];
        let found =
            kinds.into_iter().find(|(_, count)| sides.iter().all(|during| count(during) >= 1.0));
        found.map(|(what, count)| Self {
            what,
            counts: [count(&sides[0]), count(&sides[1])],
            rates: sides.map(|during| count(&during) * 1e9 / during.nanos),
        })
    }
}

/// Returns the value of a unit of a profile's weight and that value's unit. CPU time is in nanoseconds if the clock's
/// period is known.
pub fn worth(profile: &Profile) -> (f64, &'static str) {
    match (profile.event, profile.capture.period_nanos) {
        (Event::Cpu, period @ 1..) => (period as f64, "nanoseconds"),
        (event, _) => (1.0, event.unit()),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::Counters;

    use super::*;

    fn row(published: u64, consumed: u64) -> SecondRow {
        SecondRow {
            interval_nanos: 1_000_000_000,
            counts: Counters {
                published,
                accepted: published.into(),
                consumed,
                ..Counters::default()
            },
            ..SecondRow::default()
        }
    }

    #[test]
    fn seconds_count_for_the_part_that_was_recorded() {
        let series = [row(1000, 10), row(2000, 20), row(4000, 40)];
        let found = MessagesDuring::from_series(&series, 500_000_000, 2_250_000_000);
        let expected = MessagesDuring {
            nanos: 1.75e9,
            published: 500.0 + 2000.0 + 1000.0,
            replies: 0.0,
            consumed: 5.0 + 20.0 + 10.0,
        };
        assert_eq!(found, expected);
        assert_eq!(
            MessagesDuring::from_series(&series, 4_000_000_000, 5_000_000_000),
            MessagesDuring::default()
        );
    }

    #[test]
    fn both_sides_are_divided_by_the_same_thing() {
        let during = |published, consumed| {
            MessagesDuring::from_series(&[row(published, consumed)], 0, 1_000_000_000)
        };
        let counts = MessageCounts::between([during(100, 50), during(200, 50)]).unwrap();
        assert_eq!(
            (counts.what, counts.counts, counts.rates),
            ("published", [100.0, 200.0], [100.0, 200.0])
        );
        let counts = MessageCounts::between([during(0, 50), during(200, 70)]).unwrap();
        assert_eq!((counts.what, counts.counts), ("consumed", [50.0, 70.0]));
        assert_eq!(MessageCounts::between([during(0, 50), during(200, 0)]), None);
    }
}
