//! The bars of the timeline of several windows.

use std::time::Duration;

use super::name::WindowName;

/// Most bars, so that each has pixels on a screen.
const MAX_BARS: u64 = 600;

const DAY: u64 = 86_400;

/// Lengths of a bar up to a day, in seconds.
const SECONDS: [u64; 17] =
    [1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200, 14_400, 28_800, DAY];

/// Returns the time of a bar: round, and at least the usual window, but nothing for a single window, whose own times are
/// finer. `windows` are in order of time.
pub(super) fn length_of_bar(windows: &[&WindowName]) -> Duration {
    let [first, .., last] = windows else { return Duration::ZERO };
    let mut lengths: Vec<u64> = windows.iter().map(|window| window.duration_millis).collect();
    lengths.sort_unstable();
    let usual = lengths[lengths.len() / 2];
    let end = last.started_millis.saturating_add(last.duration_millis);
    let covered = end.saturating_sub(first.started_millis).div_ceil(1000);
    // The end of a window is late by some milliseconds.
    let shortest = (usual / 1000).max(covered.div_ceil(MAX_BARS));
    let round = SECONDS.into_iter().find(|&seconds| seconds >= shortest);
    Duration::from_secs(round.unwrap_or_else(|| shortest.div_ceil(DAY).saturating_mul(DAY)))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn check(started_seconds: &[u64], length_millis: u64, expected_seconds: u64) {
        let window = |&second: &u64| WindowName {
            started_millis: 1_000 * second,
            duration_millis: length_millis,
            event: "cpu",
            weight_millis: 1,
            node: String::new(),
            version: String::new(),
            pid: 1,
        };
        let windows: Vec<WindowName> = started_seconds.iter().map(window).collect();
        let windows: Vec<&WindowName> = windows.iter().collect();
        assert_eq!(length_of_bar(&windows).as_secs(), expected_seconds, "{started_seconds:?}");
    }

    #[test]
    fn a_bar_is_a_window_until_there_are_too_many() {
        check(&[], 10_000, 0);
        check(&[7], 10_000, 0);
        check(&[7, 17], 10_040, 10);
        check(&[7, 8], 200, 1);
        check(&[0, 5_990], 10_000, 10);
        check(&[0, 6_000], 10_000, 20);
        check(&[0, DAY], 10_000, 300);
        check(&[0, 7 * DAY], 10_000, 1800);
        check(&[0, 1_000 * DAY], 10_000, 2 * DAY);
    }
}
