//! Offset of a remote clock, estimated from pings.
//!
//! The remote process answers between our sending of the ping and our receipt of the answer. The offset is therefore
//! known to within half the round trip, however that time divides into the two directions. The ping with the smallest
//! round trip gives the best estimate (Cristian 1989; NTP, RFC 5905, section 8, has the same formula).

use serde::{Deserialize, Serialize};

use super::identity::ClockIdentity;

/// Timestamps of a ping and its answer. Sent and returned are on our clock, received and answered on the remote one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[expect(clippy::struct_field_names, reason = "the unit belongs into the name")]
pub(crate) struct Exchange {
    pub(crate) sent_nanos: u64,
    pub(crate) received_nanos: u64,
    pub(crate) answered_nanos: u64,
    pub(crate) returned_nanos: u64,
}

/// Estimate of a remote clock.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct ClockEstimate {
    /// Remote clock minus ours.
    pub(crate) offset_nanos: i64,
    /// Error bound of the offset (±). 0: both are the same clock.
    pub(crate) error_nanos: u64,
    /// Number of answered pings.
    pub(crate) pings: u32,
}

impl Exchange {
    fn round_trip(self) -> u64 {
        let there = self.returned_nanos.saturating_sub(self.sent_nanos);
        there.saturating_sub(self.answered_nanos.saturating_sub(self.received_nanos))
    }

    fn offset(self) -> i64 {
        let difference = |theirs: u64, ours: u64| i128::from(theirs) - i128::from(ours);
        let sum = difference(self.received_nanos, self.sent_nanos)
            + difference(self.answered_nanos, self.returned_nanos);
        i64::try_from(sum / 2).unwrap_or(0)
    }
}

impl ClockEstimate {
    /// Estimates the clock from the exchange with the smallest round trip. Returns none without exchanges.
    pub(crate) fn from_exchanges(exchanges: &[Exchange]) -> Option<Self> {
        let best = exchanges.iter().min_by_key(|exchange| exchange.round_trip())?;
        Some(Self {
            offset_nanos: best.offset(),
            error_nanos: best.round_trip().div_ceil(2).max(1),
            pings: u32::try_from(exchanges.len()).unwrap_or(u32::MAX),
        })
    }

    /// Converts a time on our clock to the remote clock.
    pub(crate) fn theirs(self, ours_nanos: u64) -> u64 {
        u64::try_from(i128::from(ours_nanos) + i128::from(self.offset_nanos)).unwrap_or(0)
    }

    /// Returns the change of the offset since `earlier`.
    pub(crate) fn drift_since(self, earlier: Self) -> i64 {
        self.offset_nanos.saturating_sub(earlier.offset_nanos)
    }
}

/// Replaces each estimate by the best estimate of the same clock. Our own clock has offset and error 0.
pub(crate) fn shared_estimates(
    own: &ClockIdentity,
    measured: &[(ClockIdentity, ClockEstimate)],
) -> Vec<ClockEstimate> {
    let best = |(identity, estimate): &(ClockIdentity, ClockEstimate)| {
        if identity == own {
            return ClockEstimate { offset_nanos: 0, error_nanos: 0, pings: estimate.pings };
        }
        let same = measured.iter().filter(|(other, _)| other == identity);
        let best = same.map(|(_, estimate)| *estimate).min_by_key(|same| same.error_nanos);
        best.unwrap_or(*estimate)
    };
    measured.iter().map(best).collect()
}

/// Largest error of a latency between any two of these clocks; 0 if all are the same clock.
pub(crate) fn latency_error_nanos(clocks: &[(ClockIdentity, u64)]) -> u64 {
    let mut errors: Vec<u64> = Vec::new();
    let mut seen: Vec<&ClockIdentity> = Vec::new();
    for (identity, error) in clocks {
        if !seen.contains(&identity) {
            seen.push(identity);
            errors.push(*error);
        }
    }
    errors.sort_unstable();
    match errors[..] {
        [.., second, first] => first.saturating_add(second),
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clock(name: &str) -> ClockIdentity {
        ClockIdentity { boot: name.to_owned(), time_namespace: String::new() }
    }

    /// A ping with these times for the way there, the remote process, and the way back. The remote clock is an hour
    /// ahead.
    fn exchange(there: u64, inside: u64, back: u64) -> Exchange {
        let (sent, ahead) = (1_000_000, 3_600_000_000_000);
        Exchange {
            sent_nanos: sent,
            received_nanos: sent + there + ahead,
            answered_nanos: sent + there + inside + ahead,
            returned_nanos: sent + there + inside + back,
        }
    }

    #[test]
    fn the_truth_is_within_the_error() {
        let exchanges = [exchange(900, 5, 100), exchange(70, 9_999, 10), exchange(200, 5, 200)];
        let estimate = ClockEstimate::from_exchanges(&exchanges).unwrap();
        assert_eq!((estimate.offset_nanos, estimate.error_nanos), (3_600_000_000_030, 40));
        assert_eq!(estimate.theirs(7), 3_600_000_000_037);
        for there in [0, 1, 50, 99, 100] {
            let one = ClockEstimate::from_exchanges(&[exchange(there, 3, 100 - there)]).unwrap();
            let wrong = one.offset_nanos.abs_diff(3_600_000_000_000);
            assert!(wrong <= one.error_nanos, "{wrong} {}", one.error_nanos);
        }
        assert_eq!(ClockEstimate::from_exchanges(&[]), None);
    }

    #[test]
    fn processes_of_one_machine_have_one_clock() {
        let estimate =
            |offset_nanos, error_nanos| ClockEstimate { offset_nanos, error_nanos, pings: 1 };
        let measured = [
            (clock("here"), estimate(5, 100)),
            (clock("there"), estimate(900, 80)),
            (clock("there"), estimate(950, 60)),
            (clock("far"), estimate(-7, 500)),
        ];
        let shared = shared_estimates(&clock("here"), &measured);
        let shared = shared.iter().map(|estimate| (estimate.offset_nanos, estimate.error_nanos));
        let shared: Vec<_> = shared.collect();
        assert_eq!(shared, [(0, 0), (950, 60), (950, 60), (-7, 500)]);
    }

    #[test]
    fn the_error_of_a_latency_is_that_of_both_clocks() {
        let error = |clocks: &[(&str, u64)]| {
            let clocks: Vec<_> = clocks.iter().map(|(name, error)| (clock(name), *error)).collect();
            latency_error_nanos(&clocks)
        };
        assert_eq!(error(&[("a", 60), ("a", 60), ("a", 60)]), 0);
        assert_eq!(error(&[("here", 0), ("a", 60)]), 60);
        assert_eq!(error(&[("a", 60), ("b", 40), ("c", 50), ("a", 60)]), 110);
    }
}
