//! Wilcoxon's signed-rank test, exact, with the Hodges–Lehmann estimate and its interval.

/// Differences of pairs, prepared for the test. Here they are logarithms of ratios; the test accepts any real numbers.
#[derive(Clone, Debug)]
pub struct SignedRank {
    differences: Vec<f64>,
    /// The means of all pairs of differences, including each difference with itself, in ascending order.
    walsh: Vec<f64>,
}

impl SignedRank {
    /// Takes the finite differences and leaves out others.
    pub fn new(differences: &[f64]) -> Self {
        let differences: Vec<f64> =
            differences.iter().copied().filter(|difference| difference.is_finite()).collect();
        let pairs = differences.iter().enumerate();
        let mut walsh: Vec<f64> = pairs
            .flat_map(|(index, one)| {
                differences[index..].iter().map(move |other| f64::midpoint(*one, *other))
            })
            .collect();
        walsh.sort_unstable_by(f64::total_cmp);
        Self { differences, walsh }
    }

    /// Returns the Hodges–Lehmann estimate of the centre; absent without differences.
    pub fn estimate(&self) -> Option<f64> {
        let last = self.walsh.len().checked_sub(1)?;
        Some(f64::midpoint(self.walsh[last / 2], self.walsh[last.div_ceil(2)]))
    }

    /// Returns the two-sided p-value for a centre of 0. It is the share of all choices of signs for these differences
    /// whose sum of signed ranks is as far from 0. Equal sizes share the mean of their ranks. Differences of 0 take the
    /// lowest ranks and have no sign (Pratt 1959).
    pub fn p_value(&self) -> Option<f64> {
        if self.differences.is_empty() {
            return None;
        }
        let ranks = self.doubled_ranks();
        let signed = self.differences.iter().zip(&ranks);
        let positive: usize =
            signed.filter(|(difference, _)| **difference > 0.0).map(|(_, rank)| *rank).sum();
        let with_sign = self.differences.iter().zip(ranks);
        let ranks: Vec<usize> =
            with_sign.filter(|(difference, _)| **difference != 0.0).map(|(_, rank)| rank).collect();
        let total: usize = ranks.iter().sum();
        let shares = shares_of_sums(&ranks);
        let extreme = positive.min(total - positive);
        let tail: f64 = shares[..=extreme].iter().sum();
        Some((2.0 * tail).min(1.0))
    }

    /// Returns twice the rank of each difference by its size, so that mean ranks are whole numbers.
    fn doubled_ranks(&self) -> Vec<usize> {
        let sizes: Vec<f64> = self.differences.iter().map(|difference| difference.abs()).collect();
        let rank = |size: &f64| {
            let below = sizes.iter().filter(|other| *other < size).count();
            let equal = sizes.iter().filter(|other| (**other - size).abs() <= 0.0).count();
            2 * below + equal + 1
        };
        sizes.iter().map(rank).collect()
    }

    /// Returns the two-sided interval of all centres that the test does not reject at `alpha`. Absent if the
    /// differences are too few for bounds: below six at 0.05.
    pub fn interval(&self, alpha: f64) -> Option<(f64, f64)> {
        let ranks: Vec<usize> = (1..=self.differences.len()).collect();
        let mut tail = 0.0;
        let shares = shares_of_sums(&ranks);
        let beyond = shares.iter().take_while(|share| {
            tail += **share;
            tail <= alpha / 2.0
        });
        let outside = beyond.count().checked_sub(1)?;
        Some((self.walsh[outside], self.walsh[self.walsh.len() - 1 - outside]))
    }
}

/// Returns for each sum the share of the subsets of `ranks` with that sum.
fn shares_of_sums(ranks: &[usize]) -> Vec<f64> {
    let mut shares = vec![0.0; ranks.iter().sum::<usize>() + 1];
    shares[0] = 1.0;
    let mut largest = 0;
    for &rank in ranks {
        largest += rank;
        for sum in (0..=largest).rev() {
            let without = shares[sum];
            let with = sum.checked_sub(rank).map_or(0.0, |rest| shares[rest]);
            shares[sum] = f64::midpoint(without, with);
        }
    }
    shares
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Enumerates all choices of signs.
    fn p_by_enumeration(differences: &[f64]) -> f64 {
        let ranks = SignedRank::new(differences).doubled_ranks();
        let sum = |signs: &dyn Fn(usize) -> f64| -> f64 {
            ranks.iter().enumerate().map(|(index, rank)| signs(index) * *rank as f64).sum()
        };
        let sign = |value: f64| if value == 0.0 { 0.0 } else { value.signum() };
        let found = sum(&|index| sign(differences[index])).abs();
        let all = 1_u32 << differences.len();
        let extreme = (0..all)
            .filter(|choice| {
                let chosen = |index: usize| {
                    let flipped = if choice >> index & 1 == 0 { 1.0 } else { -1.0 };
                    flipped * sign(differences[index]).abs()
                };
                sum(&chosen).abs() >= found - 1e-9
            })
            .count();
        extreme as f64 / f64::from(all)
    }

    #[test]
    fn p_values_are_those_of_all_choices_of_signs() {
        for differences in [
            &[0.1, 0.2, 0.3, 0.4, 0.5, 0.6][..],
            &[0.1, -0.2, 0.3, 0.4, 0.5, 0.6, -0.05],
            &[0.1, -0.1, 0.1, 0.2, 0.2, -0.3, 0.4],
            &[0.0, 0.0, 0.1, -0.2, 0.3, 0.3, 0.5],
            &[1.5, -0.3, 0.8, 0.9, -1.1, 2.2, 0.4, 0.1, -0.6, 1.7, 0.2, 0.7],
        ] {
            let (exact, p) =
                (p_by_enumeration(differences), SignedRank::new(differences).p_value().unwrap());
            assert!((exact - p).abs() < 1e-12, "{differences:?}: {exact} {p}");
        }
    }

    #[test]
    fn the_interval_holds_what_the_test_does_not_reject() {
        let differences = [1.5, -0.3, 0.8, 0.9, -1.1, 2.2, 0.4, 0.15, -0.6, 1.7, 0.25, 0.7];
        let (low, high) = SignedRank::new(&differences).interval(0.05).unwrap();
        let p_at = |center: f64| {
            let moved: Vec<f64> =
                differences.iter().map(|difference| difference - center).collect();
            SignedRank::new(&moved).p_value().unwrap()
        };
        assert!(p_at(low + 1e-6) > 0.05 && p_at(high - 1e-6) > 0.05, "{low} {high}");
        assert!(p_at(low - 1e-6) <= 0.05 && p_at(high + 1e-6) <= 0.05, "{low} {high}");
    }

    #[test]
    fn few_differences_set_no_bounds() {
        let test_of = |count: usize| SignedRank::new(&vec![0.1; count]);
        assert_eq!(test_of(5).interval(0.05), None);
        assert_eq!(test_of(6).interval(0.05), Some((0.1, 0.1)));
        assert_eq!(test_of(6).interval(0.02), None);
        assert!((test_of(6).p_value().unwrap() - 2.0 / 64.0).abs() < 1e-12);
        assert_eq!(
            (test_of(0).estimate(), test_of(0).p_value(), test_of(0).interval(0.05)),
            (None, None, None)
        );
    }

    #[test]
    fn the_estimate_is_the_median_of_the_means() {
        let estimate = |values: &[f64]| SignedRank::new(values).estimate().unwrap();
        assert!((estimate(&[1.0, 2.0, 9.0]) - 3.5).abs() < 1e-12);
        assert!((estimate(&[1.0, 2.0]) - 1.5).abs() < 1e-12);
        assert!((estimate(&[4.0, f64::NAN]) - 4.0).abs() < 1e-12);
    }
}
