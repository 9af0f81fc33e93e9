//! Looks at a result before the last round.

/// The common error rate of all looks.
pub(super) const ERROR_RATE: f64 = 0.05;

/// Number of grid points for the integration of densities, which is odd. Twice as many change the result by less than
/// 0.0001.
const POINTS: usize = 161;

/// Number of halvings of the boundaries' range, to 10⁻⁷.
const HALVINGS: usize = 24;

/// Returns the equal error rate of each look with which all looks together find a false difference in 5 % of the
/// experiments. `looks` are numbers of rounds in ascending order.
pub fn alpha_of_each_look(looks: &[u32]) -> f64 {
    alpha_within(looks, ERROR_RATE)
}

/// Returns the error rate for each look's interval that must lie within the indifferent range.
///
/// The rate belongs to two one-sided tests. In 5 % of the experiments, all looks together take a change at the edge of
/// that range for one within it.
pub fn equivalence_alpha(looks: &[u32]) -> f64 {
    alpha_within(looks, 2.0 * ERROR_RATE)
}

/// Returns the error rate of each look for a given rate of all looks together (Pocock 1977).
///
/// The statistic at successive looks is modelled as a Brownian motion with the number of rounds as time, and integrated
/// from look to look (Armitage and others 1969).
fn alpha_within(looks: &[u32], rate: f64) -> f64 {
    if looks.len() < 2 {
        return rate;
    }
    let last = f64::from(*looks.last().unwrap_or(&1));
    let times: Vec<f64> = looks.iter().map(|look| f64::from(*look) / last).collect();
    let (mut low, mut high) = (1.5, 4.0);
    for _ in 0..HALVINGS {
        let boundary = f64::midpoint(low, high);
        if 1.0 - chance_to_stay(&times, boundary) > rate {
            low = boundary;
        } else {
            high = boundary;
        }
    }
    2.0 * normal_tail(f64::midpoint(low, high))
}

/// Returns the probability that the motion is within ± `boundary` standard deviations at every time.
fn chance_to_stay(times: &[f64], boundary: f64) -> f64 {
    let mut grid = Grid::until(boundary * times[0].sqrt());
    let mut density: Vec<f64> =
        grid.points().map(|point| normal_density(point, times[0].sqrt())).collect();
    for pair in times.windows(2) {
        let next = Grid::until(boundary * pair[1].sqrt());
        let step = (pair[1] - pair[0]).sqrt();
        density = next
            .points()
            .map(|to| grid.integral(&density, |from| normal_density(to - from, step)))
            .collect();
        grid = next;
    }
    grid.integral(&density, |_| 1.0)
}

/// Equally spaced points from −`end` to `end`.
struct Grid {
    end: f64,
}

impl Grid {
    fn until(end: f64) -> Self {
        Self { end }
    }

    fn width(&self) -> f64 {
        2.0 * self.end / (POINTS - 1) as f64
    }

    fn points(&self) -> impl Iterator<Item = f64> {
        let (end, width) = (self.end, self.width());
        (0..POINTS).map(move |index| index as f64 * width - end)
    }

    /// Integrates the density times `weight` by Simpson's rule.
    fn integral(&self, density: &[f64], weight: impl Fn(f64) -> f64) -> f64 {
        let terms = self.points().zip(density).enumerate().map(|(index, (point, density))| {
            let factor = match index {
                0 => 1.0,
                index if index == POINTS - 1 => 1.0,
                index if index % 2 == 1 => 4.0,
                _ => 2.0,
            };
            factor * density * weight(point)
        });
        terms.sum::<f64>() * self.width() / 3.0
    }
}

fn normal_density(value: f64, deviation: f64) -> f64 {
    let scaled = value / deviation;
    (-0.5 * scaled * scaled).exp() / (deviation * std::f64::consts::TAU.sqrt())
}

/// Returns the probability of a standard normal value above `at`, which is at least 0. Uses Simpson's rule up to 12
/// standard deviations.
pub(super) fn normal_tail(at: f64) -> f64 {
    const STEPS: usize = 2000;
    let width = (12.0 - at) / STEPS as f64;
    let terms = (0..=STEPS).map(|step| {
        let factor = match step {
            0 | STEPS => 1.0,
            step if step % 2 == 1 => 4.0,
            _ => 2.0,
        };
        factor * normal_density(at + step as f64 * width, 1.0)
    });
    terms.sum::<f64>() * width / 3.0
}

/// Returns the standard normal value that a share of all values exceeds, for shares below one half.
///
/// Uses an approximation (Abramowitz and Stegun 26.2.23) and one step of Newton's method.
pub(super) fn normal_quantile(share: f64) -> f64 {
    let root = (-2.0 * share.ln()).sqrt();
    let above = 2.515_517 + root * (0.802_853 + root * 0.010_328);
    let below = 1.0 + root * (1.432_788 + root * (0.189_269 + root * 0.001_308));
    let near = root - above / below;
    near + (normal_tail(near) - share) / normal_density(near, 1.0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn known_boundaries() {
        fn check(looks: &[u32], expected: f64) {
            let alpha = alpha_of_each_look(looks);
            assert!((alpha - expected).abs() < 2e-4, "{looks:?}: {alpha}");
        }
        // Looks with equal spacing, as in Pocock's table.
        check(&[20], 0.05);
        check(&[10, 20], 0.0294);
        check(&[10, 20, 30], 0.0221);
        check(&[5, 10, 15, 20, 25], 0.0158);
    }

    #[test]
    fn looks_at_equivalence_have_their_own_rate() {
        assert!((equivalence_alpha(&[20]) - 0.1).abs() < 1e-9);
        // Pocock's constant for two looks and 10 % is 1.875.
        assert!((equivalence_alpha(&[10, 20]) - 0.0608).abs() < 3e-4);
    }

    #[test]
    fn tails_of_the_normal_distribution() {
        assert!((normal_tail(0.0) - 0.5).abs() < 1e-9);
        assert!((normal_tail(1.959_964) - 0.025).abs() < 1e-7);
        assert!((normal_quantile(0.2) - 0.841_621).abs() < 1e-5);
        assert!((normal_quantile(0.025) - 1.959_964).abs() < 1e-5);
    }
}
