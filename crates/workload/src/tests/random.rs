//! Random times.

use std::time::Duration;

use rabbitscope_runs::Random;

/// Returns a gap of a Poisson process with this mean, in nanoseconds.
pub(crate) fn exponential(random: &mut Random, mean: u64) -> u64 {
    let uniform = (random.below(1 << 30) + 1) as f64 / f64::from(1 << 30);
    let gap = Duration::from_nanos(mean).mul_f64(-uniform.ln());
    u64::try_from(gap.as_nanos()).unwrap_or(u64::MAX)
}
