//! Figures of single arms, formatted for readers.

use rabbitscope_runs::experiment::{Comparison, ExperimentResult, unit_from_name};

/// Returns the values of the baseline and of an arm that fit the estimate of their ratio.
///
/// The first is the baseline's median over the rounds of the comparison. The second is the first times the ratio, not
/// the arm's own median. The ratio comes from pairs, and if the machine drifts, medians may differ the other way.
pub fn values_of_pair(result: &ExperimentResult, comparison: &Comparison) -> Option<[f64; 2]> {
    let is_counted =
        |round: u32| comparison.differences.iter().any(|difference| difference.round == round);
    let runs = result.runs.iter().filter(|run| run.arm == 0 && is_counted(run.round));
    let values = runs.filter_map(|run| *run.values.get(comparison.metric)?);
    let baseline = median(values.collect())?;
    Some([baseline, baseline * comparison.ratio?])
}

/// Returns the median; absent without values.
pub(super) fn median(mut values: Vec<f64>) -> Option<f64> {
    values.sort_unstable_by(f64::total_cmp);
    let last = values.len().checked_sub(1)?;
    Some(f64::midpoint(values[last / 2], values[last.div_ceil(2)]))
}

/// Formats a value of a metric, whose unit is named as in `experiment.json`.
pub fn value_in_words(value: f64, unit: &str) -> String {
    unit_from_name(unit).map_or_else(|| format!("{value:.3}"), |unit| unit.display(value))
}

/// The common unit of several changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scale {
    /// Percent: `+4.1 %`.
    Percent,
    /// Factors, for ratios that are hard to read as a percentage: `×3.52`.
    Times,
}

impl Scale {
    /// Returns the unit in which all these ratios are readable.
    pub fn new(ratios: impl IntoIterator<Item = f64>) -> Self {
        let is_small = ratios.into_iter().all(|ratio| (0.5..2.0).contains(&ratio));
        if is_small { Self::Percent } else { Self::Times }
    }

    /// Returns the unit for a comparison's estimate and interval.
    pub fn from_comparison(comparison: &Comparison) -> Self {
        Self::new([comparison.ratio, comparison.low, comparison.high].into_iter().flatten())
    }

    /// Formats a ratio as a change.
    pub fn change(self, ratio: f64) -> String {
        let percent = 100.0 * (ratio - 1.0);
        match self {
            Self::Times => times(ratio),
            Self::Percent if percent.abs() < 0.05 => "0.0 %".to_owned(),
            Self::Percent => format!("{percent:+.1} %"),
        }
    }

    /// Formats both ends of an interval.
    pub fn interval(self, (low, high): (f64, f64)) -> String {
        format!("{} to {}", self.change(low), self.change(high))
    }
}

/// Formats a single ratio as a change: `+4.1 %`, `×3.52`.
pub fn change(ratio: f64) -> String {
    Scale::new([ratio]).change(ratio)
}

/// Formats a factor with at least two significant digits: `×3.52`, `×0.021`.
fn times(ratio: f64) -> String {
    match ratio {
        0.1.. => format!("×{ratio:.2}"),
        0.01.. => format!("×{ratio:.3}"),
        _ => format!("×{ratio:.4}"),
    }
}

/// Formats a share in percent, with one decimal unless it is zero: `95 %`, `97.6 %`.
pub fn percent(share: f64) -> String {
    let percent = format!("{:.1}", 100.0 * share);
    format!("{} %", percent.strip_suffix(".0").unwrap_or(&percent))
}

/// Formats a p-value: `0.031`, `<0.001`.
pub fn p_in_words(p: f64) -> String {
    if p < 0.001 { "<0.001".to_owned() } else { format!("{p:.3}") }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::experiment::{Difference, RunOfArm};

    use super::*;

    #[test]
    fn values_never_contradict_the_change() {
        // The machine becomes faster by half between two rounds, so that medians differ the other way.
        let run = |(round, arm, value)| RunOfArm {
            round,
            arm,
            values: vec![Some(value)],
            ..RunOfArm::default()
        };
        let rounds = [(1, 0, 100.0), (1, 1, 90.0), (2, 0, 200.0), (2, 1, 260.0), (3, 0, 184.0)];
        let runs = rounds.into_iter().chain([(3, 1, 165.6)]).map(run).collect();
        let result = ExperimentResult { runs, ..ExperimentResult::default() };
        let difference = |round| Difference { round, ratio: 0.9 };
        let comparison = Comparison {
            arm: 1,
            differences: [1, 2, 3].map(difference).into(),
            ratio: Some(0.9),
            ..Comparison::default()
        };
        let [baseline, arm] = values_of_pair(&result, &comparison).unwrap();
        assert!((baseline - 184.0).abs() < 1e-9 && (arm - 165.6).abs() < 1e-9, "{baseline} {arm}");
        assert_eq!(values_of_pair(&result, &Comparison::default()), None);
    }

    #[test]
    fn an_interval_has_one_unit() {
        let check = |low: f64, high: f64, expected: &str| {
            let comparison = Comparison {
                ratio: Some(0.8),
                low: Some(low),
                high: Some(high),
                ..Comparison::default()
            };
            assert_eq!(Scale::from_comparison(&comparison).interval((low, high)), expected);
        };
        check(0.7, 1.093, "-30.0 % to +9.3 %");
        check(0.34, 1.093, "×0.34 to ×1.09");
        check(0.7, 2.5, "×0.70 to ×2.50");
        assert_eq!(Scale::new([0.34, 1.093]).change(1.05), "×1.05");
    }

    #[test]
    fn units_are_those_of_people() {
        assert_eq!(value_in_words(51_234.4, "messages/s"), "51,234/s");
        assert_eq!(value_in_words(1_500_000.0, "nanoseconds"), "1.50 ms");
        assert_eq!(value_in_words(2_097_152.0, "bytes"), "2.0 MiB");
        assert_eq!(value_in_words(2_097_152.0, "bytes/s"), "2.0 MiB/s");
        assert_eq!(value_in_words(1.5, "of a later version"), "1.500");
    }

    #[test]
    fn changes_are_shares_until_they_are_large() {
        let changes: Vec<String> = [1.041, 0.9, 0.99996, 3.521, 0.1, 0.0213].map(change).into();
        assert_eq!(changes, ["+4.1 %", "-10.0 %", "0.0 %", "×3.52", "×0.10", "×0.021"]);
    }
}
