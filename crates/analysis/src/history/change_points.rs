//! Runs at which a metric changed for good.
//!
//! The series is cut where the energy distance of both sides is largest, again and again, as long as a weak test of
//! Student agrees (E-divisive, Matteson and James 2014). Then the weakest cut is removed until all that are left pass
//! a strict test: the cut was chosen by its distance, so its p-value is too small. Windows keep a change from being
//! outweighed by the other changes of a long series (as in Hunter, Fleming et al. 2023).
//!
//! With 3 % noise and no change, at most 1 of 100 series of 200 runs has a change point. Half of the shifts of 3 % in
//! such a series are found, and nearly all of 5 % or more (see the tests).

use super::student::Sample;

/// Least number of runs before, between and after changes. So the newest runs, one less than that, cannot be a change.
pub const MIN_RUNS: usize = 5;

/// Number of runs that are searched together, and the distance of two such windows.
const WINDOW: usize = 50;
const WINDOW_STEP: usize = WINDOW / 2;

/// Largest p-value of a change.
const MAX_P_VALUE: f64 = 0.0001;

/// Largest p-value of a cut in the first pass.
const WEAK_P_VALUE: f64 = 10.0 * MAX_P_VALUE;

/// A lasting change of a metric.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct ChangePoint {
    /// Index of the first run after the change.
    pub index: usize,
    /// Mean of the runs since the change before, or the beginning.
    pub before: f64,
    /// Mean of the runs until the next change, or the end.
    pub after: f64,
    /// Student's two-sided p-value for no change. Too small, because the place was chosen by the values.
    pub p_value: f64,
}

/// Returns the changes of a metric, from its values in the order of the runs. Values must be finite.
pub fn change_points(values: &[f64]) -> Vec<ChangePoint> {
    let mut cuts = Vec::new();
    for start in (0..values.len()).step_by(WINDOW_STEP) {
        let end = values.len().min(start + WINDOW);
        cut(values, start, end, &mut cuts);
    }
    cuts.sort_unstable();
    cuts.dedup();
    while let Some(weakest) = weakest(values, &cuts) {
        cuts.remove(weakest);
    }
    (0..cuts.len()).map(|position| point(values, &cuts, position)).collect()
}

/// Adds the cuts between these two indices.
fn cut(values: &[f64], start: usize, end: usize, cuts: &mut Vec<usize>) {
    let Some(middle) = farthest(&values[start..end]).map(|index| start + index) else { return };
    if p_value(&values[start..middle], &values[middle..end]) <= WEAK_P_VALUE {
        cut(values, start, middle, cuts);
        cuts.push(middle);
        cut(values, middle, end, cuts);
    }
}

/// Returns the cut with the largest energy distance, with [`MIN_RUNS`] on both sides. The distance of samples with n
/// and m values, scaled by n m / (n + m), is twice the mean distance between them, less that within each.
fn farthest(values: &[f64]) -> Option<usize> {
    let last = values.len().checked_sub(MIN_RUNS)?;
    let distances_to =
        |one: f64, others: &[f64]| others.iter().map(|other| (one - other).abs()).sum::<f64>();
    let within = |values: &[f64]| -> f64 {
        (1..values.len()).map(|index| distances_to(values[index], &values[..index])).sum()
    };
    let (mut left, mut right) = (0.0, within(values));
    let total = right;
    let mut best: Option<(f64, usize)> = None;
    for index in 1..=last {
        // One more value belongs to the left side.
        let moved = values[index - 1];
        left += distances_to(moved, &values[..index - 1]);
        right -= distances_to(moved, &values[index..]);
        if index < MIN_RUNS {
            continue;
        }
        let (n, m) = (index as f64, (values.len() - index) as f64);
        let between = total - left - right;
        let pairs = |count: f64| count * (count - 1.0) / 2.0;
        let energy = 2.0 * between / (n * m) - left / pairs(n) - right / pairs(m);
        let scaled = energy * n * m / (n + m);
        if best.is_none_or(|(most, _)| scaled > most) {
            best = Some((scaled, index));
        }
    }
    best.map(|(_, index)| index)
}

/// Returns the position of the cut to remove next: one without [`MIN_RUNS`] on a side, or else the one with the largest
/// p-value, if that is too large.
fn weakest(values: &[f64], cuts: &[usize]) -> Option<usize> {
    let close = cuts.windows(2).position(|pair| pair[1] - pair[0] < MIN_RUNS);
    if let Some(first) = close {
        // Two windows have found the same change. The cut that is better on its own stays.
        let alone = |position: usize, without: usize| {
            let mut others = cuts.to_vec();
            others.remove(without);
            point(values, &others, position.min(first)).p_value
        };
        let first_is_better = alone(first, first + 1) <= alone(first + 1, first);
        return Some(if first_is_better { first + 1 } else { first });
    }
    let p_values =
        (0..cuts.len()).map(|position| (point(values, cuts, position).p_value, position));
    let weakest = p_values.max_by(|one, other| one.0.total_cmp(&other.0));
    weakest.filter(|(p_value, _)| *p_value > MAX_P_VALUE).map(|(_, position)| position)
}

/// Returns the change at a cut, from the runs since the cut before until the next one.
fn point(values: &[f64], cuts: &[usize], position: usize) -> ChangePoint {
    let index = cuts[position];
    let start = position.checked_sub(1).map_or(0, |before| cuts[before]);
    let end = cuts.get(position + 1).copied().unwrap_or(values.len());
    let (before, after) = (Sample::new(&values[start..index]), Sample::new(&values[index..end]));
    ChangePoint { index, before: before.mean, after: after.mean, p_value: before.p_value(&after) }
}

fn p_value(before: &[f64], after: &[f64]) -> f64 {
    Sample::new(before).p_value(&Sample::new(after))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::Random;

    use super::*;

    /// Values around 100 with this noise, as a share. Every fiftieth is an outlier if there are any.
    fn series(random: &mut Random, count: usize, noise: f64, outliers: bool) -> Vec<f64> {
        let uniform = |random: &mut Random| random.below(1 << 53) as f64 / (1_u64 << 53) as f64;
        (0..count)
            .map(|_| {
                // The sum of twelve uniform numbers is close to normal.
                let normal = (0..12).map(|_| uniform(random)).sum::<f64>() - 6.0;
                let is_outlier = outliers && random.below(50) == 0;
                let size = if is_outlier { 0.7 } else { 1.0 };
                100.0 * size * (1.0 + noise * normal)
            })
            .collect()
    }

    /// Returns the share of series without a change for which one is found.
    fn false_share(count: usize, trials: u32, outliers: bool) -> f64 {
        let mut random = Random::new(7);
        let found = (0..trials)
            .filter(|_| !change_points(&series(&mut random, count, 0.03, outliers)).is_empty());
        found.count() as f64 / f64::from(trials)
    }

    /// Returns the share of shifts in the middle that are found within two runs.
    fn found_share(count: usize, trials: u32, shift: f64) -> f64 {
        let mut random = Random::new(11);
        let found = (0..trials).filter(|_| {
            let mut values = series(&mut random, count, 0.03, false);
            for value in &mut values[count / 2..] {
                *value *= 1.0 + shift;
            }
            change_points(&values).iter().any(|point| point.index.abs_diff(count / 2) <= 2)
        });
        found.count() as f64 / f64::from(trials)
    }

    #[test]
    fn few_series_without_a_change_have_one() {
        assert!(false_share(20, 1000, false) <= 0.005);
        assert!(false_share(20, 1000, true) <= 0.005);
        assert!(false_share(200, 200, false) <= 0.015);
        assert!(false_share(200, 200, true) <= 0.015);
    }

    #[test]
    fn shifts_are_found_where_they_are() {
        let shares = [(20, 0.1), (50, 0.05), (200, 0.03)]
            .map(|(count, shift)| found_share(count, 200, shift));
        println!("{shares:?}");
        assert!(shares[0] > 0.9 && shares[1] > 0.75 && shares[2] > 0.35, "{shares:?}");
    }

    #[test]
    fn several_changes_are_told_apart() {
        let mut random = Random::new(3);
        let levels = [100.0, 120.0, 90.0, 91.0];
        let mut values = series(&mut random, 120, 0.02, false);
        for (index, value) in values.iter_mut().enumerate() {
            *value *= levels[index / 30] / 100.0;
        }
        let found = change_points(&values);
        assert_eq!(
            found.iter().map(|point| point.index).collect::<Vec<_>>(),
            [30, 60],
            "{found:?}"
        );
        assert!((found[0].before - 100.0).abs() < 2.0 && (found[0].after - 120.0).abs() < 2.0);
        assert!((found[1].after - 90.5).abs() < 2.0, "{found:?}");
    }

    #[test]
    fn the_newest_runs_are_no_change() {
        let with_newest = |newest: usize| {
            let values = [vec![100.0; 30], vec![200.0; newest]].concat();
            change_points(&values).iter().map(|point| point.index).collect::<Vec<_>>()
        };
        // A jump in the four newest is found at the fifth, if at all.
        for newest in 1..MIN_RUNS {
            let last = 30 + newest - MIN_RUNS;
            assert!(with_newest(newest).iter().all(|index| *index <= last), "{newest}");
        }
        assert_eq!(with_newest(MIN_RUNS), [30]);
    }

    #[test]
    fn scale_and_offset_do_not_matter() {
        let mut random = Random::new(5);
        let mut values = series(&mut random, 80, 0.03, false);
        for value in &mut values[40..] {
            *value *= 1.2;
        }
        let indices = |values: &[f64]| {
            change_points(values).iter().map(|point| point.index).collect::<Vec<_>>()
        };
        let expected = indices(&values);
        assert_eq!(expected.len(), 1);
        for (factor, offset) in [(1e-6, 0.0), (1e9, 0.0), (-1.0, 1000.0)] {
            let changed: Vec<f64> = values.iter().map(|value| value * factor + offset).collect();
            assert_eq!(indices(&changed), expected, "{factor} {offset}");
        }
    }

    #[test]
    fn short_and_constant_series() {
        for count in 0..30 {
            assert!(change_points(&vec![5.0; count]).is_empty(), "{count}");
        }
        assert!(change_points(&[1.0, 2.0, 1.0, 900.0]).is_empty());
    }
}
