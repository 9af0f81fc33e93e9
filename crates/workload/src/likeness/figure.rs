//! A figure of both loads, and its verdict.

use serde::Serialize;

/// The part of the noise from which a difference is certain. Of a comparison's dozens of figures, one in twenty exceeds
/// the noise by luck; beyond this it is one in 300.
const CERTAIN: f64 = 1.5;

/// Bar of costs and speeds.
pub(super) const COST_BAR: f64 = 0.1;
/// Noise of costs and speeds between two runs of one load: the CPU times of ten pairs on a virtual machine differed by 8 to
/// 19 %.
const BETWEEN_RUNS: f64 = 0.19;

/// The result of a comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// The difference is within the bar, or within the noise of the source.
    Alike,
    /// There are too few messages to tell, or for certainty.
    NotJudged,
    /// The difference is larger.
    Differs,
}

impl Verdict {
    /// Returns the verdict in words.
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Alike => "alike",
            Self::NotJudged => "not judged",
            Self::Differs => "differs",
        }
    }
}

/// The unit of a figure's values.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) enum Unit {
    /// A number or a ratio.
    Number,
    /// Messages a second.
    Rate,
    /// Nanoseconds.
    Nanos,
    /// A mean size in bytes, beside a distance of distributions.
    Bytes,
    /// A share of 1.
    Share,
}

/// A figure of both loads.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Figure {
    pub(super) name: &'static str,
    pub(super) unit: Unit,
    pub(super) source: f64,
    pub(super) run: f64,
    /// The difference: a part of the source's value, a distance of distributions, or a share.
    pub(super) difference: f64,
    /// The largest difference of alike loads.
    pub(super) bar: f64,
    /// The difference of two captures of the source: 95 % of them differ less.
    pub(super) noise: f64,
    /// Values of the source, or of the run if it has fewer.
    pub(super) messages: u64,
    /// Values that the bar needs.
    pub(super) needed: u64,
    pub(super) verdict: Verdict,
}

/// A difference, with everything that judges it.
#[derive(Clone, Copy, Debug)]
pub(super) struct Difference {
    pub(super) distance: f64,
    pub(super) bar: f64,
    /// Noise by the blocks of the source.
    pub(super) between_blocks: f64,
    /// Noise by the number of values, and that number.
    pub(super) by_number: f64,
    pub(super) number: u64,
}

impl Difference {
    /// Creates an exact difference, which has no noise.
    pub(super) const fn exact(distance: f64, bar: f64) -> Self {
        Self { distance, bar, between_blocks: 0.0, by_number: 0.0, number: u64::MAX }
    }

    /// Creates the difference of a cost or a speed. These vary from run to run, so one run shows large differences only.
    pub(super) fn between_runs(distance: f64, between_blocks: f64) -> Self {
        Self { distance, bar: COST_BAR, between_blocks, by_number: BETWEEN_RUNS, number: 1 }
    }

    const fn noise(&self) -> f64 {
        self.between_blocks.max(self.by_number)
    }

    /// Returns the number of values with which the noise is as small as the bar, and as the difference needs. Noise
    /// falls with its square root.
    fn needed(&self) -> u64 {
        let for_bar = if self.bar > 0.0 { self.by_number / self.bar } else { 0.0 };
        let is_beyond = self.distance > self.bar.max(self.noise());
        let for_certainty = if is_beyond { CERTAIN * self.noise() / self.distance } else { 0.0 };
        let times = for_bar.max(for_certainty);
        if times <= 1.0 {
            return 0;
        }
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "positive")]
        let needed = (self.number as f64 * times.powi(2)).ceil() as u64;
        needed
    }
}

impl Figure {
    pub(super) fn new(
        name: &'static str,
        unit: Unit,
        (source, run): (f64, f64),
        of: Difference,
    ) -> Self {
        let noise = of.noise();
        let needed = of.needed();
        let verdict = if of.distance > of.bar.max(CERTAIN * noise) {
            Verdict::Differs
        } else if of.number < needed || of.distance.is_nan() {
            Verdict::NotJudged
        } else {
            Verdict::Alike
        };
        let Difference { distance: difference, bar, number, .. } = of;
        Self { name, unit, source, run, difference, bar, noise, messages: number, needed, verdict }
    }

    /// Returns the verdict.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }
}

/// Returns the difference of two values as a part of the first.
pub(super) fn relative(source: f64, run: f64) -> f64 {
    (run - source).abs() / source.abs().max(1e-9)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_larger_of_bar_and_noise_decides() {
        fn check(
            distance: f64,
            between_blocks: f64,
            (by_number, number): (f64, u64),
            expected: Verdict,
        ) {
            let of = Difference { distance, bar: 0.03, between_blocks, by_number, number };
            let figure = Figure::new("rate", Unit::Rate, (100.0, 101.0), of);
            assert_eq!(figure.verdict, expected, "{figure:?}");
        }
        check(0.02, 0.0, (0.01, 20_000), Verdict::Alike);
        check(0.05, 0.0, (0.01, 20_000), Verdict::Differs);
        check(0.05, 0.06, (0.01, 20_000), Verdict::Alike);
        // Few messages: a small difference says nothing, a large one does.
        check(0.02, 0.0, (0.09, 1_000), Verdict::NotJudged);
        check(0.20, 0.0, (0.09, 1_000), Verdict::Differs);
        // Beyond the noise, but perhaps by luck.
        check(0.10, 0.0, (0.09, 1_000), Verdict::NotJudged);
        check(0.05, 0.04, (0.01, 20_000), Verdict::NotJudged);
        check(0.07, 0.04, (0.01, 20_000), Verdict::Differs);
        let few = Difference {
            distance: 0.0,
            bar: 0.03,
            between_blocks: 0.0,
            by_number: 0.09,
            number: 1_000,
        };
        assert_eq!(few.needed(), 9_000);
        let perhaps = Difference { distance: 0.05, between_blocks: 0.04, ..few };
        assert_eq!(Difference { by_number: 0.02, ..perhaps }.needed(), 1_440);
    }
}
