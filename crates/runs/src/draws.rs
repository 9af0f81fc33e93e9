//! Random choices by shares.

use std::sync::Arc;

use crate::Random;

/// Choices among things with shares. The choice with a number is always the same, so that a message that is sent again
/// has its old size and key.
#[derive(Clone, Debug)]
pub struct Draws {
    random: Random,
    /// The end of each thing's part of all 64-bit numbers.
    ends: Arc<[u64]>,
}

impl Draws {
    /// Returns the choices of a generator among things with these shares, relative to their sum. All are 0 or more, and
    /// one is above.
    pub fn new(random: Random, shares: &[f64]) -> Self {
        let total: f64 = shares.iter().sum();
        let mut sum = 0.0;
        let ends = shares.iter().map(|share| {
            sum += share;
            #[expect(
                clippy::cast_possible_truncation,
                clippy::cast_sign_loss,
                reason = "it saturates"
            )]
            let end = (sum / total * 2_f64.powi(64)) as u64;
            end
        });
        Self { random, ends: ends.collect() }
    }

    /// Returns the index of the thing that is chosen with this number.
    #[inline]
    pub fn choice(&self, number: u64) -> usize {
        let bits = self.random.nth(number);
        self.ends.partition_point(|end| *end <= bits).min(self.ends.len().saturating_sub(1))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Counts the choices among things with these shares.
    fn counts(shares: &[f64], draws: u64) -> Vec<u64> {
        let choices = Draws::new(Random::new(3), shares);
        let mut counts = vec![0; shares.len()];
        (0..draws).for_each(|number| counts[choices.choice(number)] += 1);
        counts
    }

    #[test]
    fn each_has_its_share() {
        let counts = counts(&[6.0, 0.0, 3.0, 1.0], 100_000);
        for (count, share) in counts.iter().zip([0.6_f64, 0.0, 0.3, 0.1]) {
            // Four standard deviations.
            let noise = 4.0 * (100_000.0 * share * (1.0 - share)).sqrt();
            assert!((*count as f64 - 100_000.0 * share).abs() <= noise, "{counts:?}");
        }
    }

    #[test]
    fn the_last_one_has_the_rest() {
        assert_eq!(counts(&[1e-300], 10), [10]);
        assert_eq!(counts(&[1.0, 1e-30], 1000), [1000, 0]);
    }
}
