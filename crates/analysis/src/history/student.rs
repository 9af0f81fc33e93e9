//! Student's test for two samples with one variance.

/// Number of values, mean and sum of squared deviations of a sample.
#[derive(Clone, Copy, Debug)]
pub(super) struct Sample {
    pub(super) mean: f64,
    count: f64,
    squares: f64,
}

impl Sample {
    pub(super) fn new(values: &[f64]) -> Self {
        let count = values.len() as f64;
        let mean = values.iter().sum::<f64>() / count;
        let squares = values.iter().map(|value| (value - mean).powi(2)).sum();
        Self { mean, count, squares }
    }

    /// Returns the two-sided p-value for the same mean of both samples, each of two or more values.
    pub(super) fn p_value(&self, other: &Self) -> f64 {
        let freedom = self.count + other.count - 2.0;
        let variance = (self.squares + other.squares) / freedom;
        let difference = (other.mean - self.mean).powi(2);
        if difference <= 0.0 {
            return 1.0;
        }
        let t_squared = difference / (variance * (1.0 / self.count + 1.0 / other.count));
        // The share of Student's distribution beyond t on both sides (Abramowitz and Stegun, 26.7.1).
        regularized_beta(freedom / (freedom + t_squared), freedom / 2.0, 0.5)
    }
}

/// Returns the regularized incomplete beta function of x with the parameters a and b (Abramowitz and Stegun, 6.6.2).
fn regularized_beta(x: f64, a: f64, b: f64) -> f64 {
    if x <= 0.0 {
        return 0.0;
    }
    if x >= 1.0 {
        return 1.0;
    }
    let front = a * x.ln() + b * (-x).ln_1p() + ln_gamma(a + b) - ln_gamma(a) - ln_gamma(b);
    // The continued fraction converges quickly below this bound, and the other way round above it.
    if x < (a + 1.0) / (a + b + 2.0) {
        front.exp() * beta_fraction(x, a, b) / a
    } else {
        1.0 - front.exp() * beta_fraction(1.0 - x, b, a) / b
    }
}

/// Returns the continued fraction of the incomplete beta function (Abramowitz and Stegun, 26.5.8), from the front by
/// Lentz's method.
fn beta_fraction(x: f64, a: f64, b: f64) -> f64 {
    const TERMS: u32 = 300;
    const TINY: f64 = 1e-300;
    let away_from_zero = |value: f64| if value.abs() < TINY { TINY } else { value };
    let (mut numerator, mut denominator) =
        (1.0, 1.0 / away_from_zero(1.0 - (a + b) * x / (a + 1.0)));
    let mut fraction = denominator;
    for term in 1..TERMS {
        let m = f64::from(term);
        let even = m * (b - m) * x / ((a + 2.0 * m - 1.0) * (a + 2.0 * m));
        let odd = -(a + m) * (a + b + m) * x / ((a + 2.0 * m) * (a + 2.0 * m + 1.0));
        let mut change = 1.0;
        for coefficient in [even, odd] {
            denominator = 1.0 / away_from_zero(1.0 + coefficient * denominator);
            numerator = away_from_zero(1.0 + coefficient / numerator);
            change = numerator * denominator;
            fraction *= change;
        }
        if (change - 1.0).abs() < 1e-15 {
            break;
        }
    }
    fraction
}

/// Returns the logarithm of the gamma function, for arguments above 0, by Stirling's series (Abramowitz and Stegun,
/// 6.1.41). Small arguments are first raised by the recurrence.
fn ln_gamma(mut x: f64) -> f64 {
    let mut product = 1.0;
    while x < 15.0 {
        product *= x;
        x += 1.0;
    }
    let inverse = 1.0 / (x * x);
    let series =
        (1.0 / 12.0 - inverse * (1.0 / 360.0 - inverse * (1.0 / 1260.0 - inverse / 1680.0))) / x;
    (x - 0.5) * x.ln() - x + 0.5 * std::f64::consts::TAU.ln() + series - f64::ln(product)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn gamma_of_whole_and_half_numbers() {
        fn check(x: f64, expected: f64) {
            assert!((ln_gamma(x) - expected.ln()).abs() < 1e-13, "{x}: {}", ln_gamma(x));
        }
        check(1.0, 1.0);
        check(5.0, 24.0);
        check(0.5, std::f64::consts::PI.sqrt());
        check(20.0, 121_645_100_408_832_000.0);
    }

    /// Student's quantiles, from the tables of Abramowitz and Stegun (26.10).
    #[test]
    fn tails_of_students_distribution() {
        fn check(t: f64, freedom: f64, expected: f64) {
            let tail = regularized_beta(freedom / (freedom + t * t), freedom / 2.0, 0.5);
            assert!((tail / expected - 1.0).abs() < 2e-3, "{t} {freedom}: {tail}");
        }
        check(12.706, 1.0, 0.05);
        check(4.303, 2.0, 0.05);
        check(2.228, 10.0, 0.05);
        check(3.169, 10.0, 0.01);
        check(2.042, 30.0, 0.05);
        check(3.373, 120.0, 0.001);
        check(0.7, 10.0, 0.4999);
    }

    #[test]
    fn equal_and_constant_samples() {
        let p = |one: &[f64], other: &[f64]| Sample::new(one).p_value(&Sample::new(other));
        assert!((p(&[1.0, 2.0], &[1.0, 2.0]) - 1.0).abs() < 1e-12);
        assert!((p(&[1.0, 1.0], &[1.0, 1.0]) - 1.0).abs() < 1e-12);
        assert!(p(&[1.0, 1.0], &[2.0, 2.0]) < 1e-12);
    }
}
