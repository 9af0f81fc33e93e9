//! Figures of this page as cells and text.

use rabbitscope_text::{Unit, grouped, short_time};
use rabbitscope_wire::report::RoundTrips;

use crate::document::{Cell, Tone};

/// Returns a part of a whole, 0 to 1; 0 if the whole is 0.
pub(super) fn share(part: u64, whole: u64) -> f64 {
    if whole == 0 { 0.0 } else { part as f64 / whole as f64 }
}

/// Clamps an external share to 0 to 1.
pub(super) fn bounded(share: f64) -> f64 {
    if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 }
}

/// Writes a share as `0 %`, `under 0.01 %`, `0.83 %`, `83.4 %`.
pub(super) fn percent(share: f64) -> String {
    let percent = 100.0 * share;
    if percent <= 0.0 {
        "0 %".to_owned()
    } else if percent < 0.01 {
        "under 0.01 %".to_owned()
    } else if percent < 9.995 {
        format!("{percent:.2} %")
    } else if percent < 99.95 {
        format!("{percent:.1} %")
    } else {
        format!("{percent:.0} %")
    }
}

/// Writes a time since the first packet, to the microsecond: `12.345678 s`.
pub(super) fn instant(nanos: u64) -> String {
    format!("{}.{:06} s", grouped(nanos / 1_000_000_000), nanos / 1000 % 1_000_000)
}

/// Returns a cell with a number.
pub(super) fn number(number: u64) -> Cell {
    Cell::figure(number as f64, Unit::Things)
}

/// Returns the cell of a number that is mostly 0: 0 is pale and without details, others stand out.
pub(super) fn rare(cell: Cell, value: u64) -> Cell {
    if value == 0 { number(0).tone(Tone::Soft) } else { cell.tone(Tone::Bad) }
}

/// Writes the smallest, mean and largest round trip.
pub(super) fn round_trips(trips: &RoundTrips) -> String {
    if trips.count == 0 {
        return "–".to_owned();
    }
    [trips.min, trips.mean, trips.max].map(short_time).join(" · ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_have_figures_that_count() {
        fn check(share: f64, expected: &str) {
            assert_eq!(percent(share), expected);
        }
        check(0.0, "0 %");
        check(0.000_01, "under 0.01 %");
        check(0.008_34, "0.83 %");
        check(0.099_96, "10.0 %");
        check(0.833_7, "83.4 %");
        check(1.0, "100 %");
        assert_eq!(percent(share(1, 0)), "0 %");
        assert_eq!(percent(bounded(f64::NAN)), "0 %");
    }

    #[test]
    fn instants_are_exact_to_the_microsecond() {
        assert_eq!(instant(12_345_678_901), "12.345678 s");
        assert_eq!(instant(0), "0.000000 s");
    }
}
