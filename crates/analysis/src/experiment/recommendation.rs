//! Recommendation of a sweep's value: the smallest above which larger values were not better.

use rabbitscope_runs::experiment::{ExperimentResult, Goal};

use super::{
    SignedRank,
    differences::differences,
    figures::{Scale, percent},
};

/// The error rate for two bounds, each at 5 %.
const ALPHA: f64 = 0.1;

/// Fewest rounds for such bounds.
const MIN_ROUNDS: usize = 5;

/// Combinations that differ in one key only, as pairs of number and arm, in ascending order of its numbers.
type Curve = Vec<(f64, usize)>;

/// Returns a sentence for each curve of the first key with numbers; none outside of a sweep.
pub(super) fn sentences(result: &ExperimentResult, counted: &[u32]) -> Vec<String> {
    if result.axes.is_empty() || result.metrics.is_empty() {
        return Vec::new();
    }
    let Some(axis) = (0..result.axes.len()).find(|axis| numbers(result, *axis).is_some()) else {
        return vec!["No value is recommended: no varied key has numbers.".to_owned()];
    };
    if counted.len() < MIN_ROUNDS {
        return vec![format!(
            "No value is recommended: a recommendation needs {MIN_ROUNDS} rounds that count."
        )];
    }
    let sweep = |curve| Sweep { result, key: &result.axes[axis].key, curve, counted };
    curves(result, axis).into_iter().map(|curve| sweep(curve).sentence()).collect()
}

fn numbers(result: &ExperimentResult, axis: usize) -> Option<Vec<f64>> {
    let values = result.axes[axis].values.iter();
    values.map(|value| value.parse().ok().filter(|number: &f64| number.is_finite())).collect()
}

/// Returns the curves along an axis, one for each combination of the other values.
fn curves(result: &ExperimentResult, axis: usize) -> Vec<Curve> {
    let numbers = numbers(result, axis).unwrap_or_default();
    let mut curves: Vec<(Vec<usize>, Curve)> = Vec::new();
    for (arm_index, arm) in result.arms.iter().enumerate() {
        let Some(number) = arm.cell.get(axis).and_then(|place| numbers.get(*place)) else {
            continue;
        };
        let mut others = arm.cell.clone();
        others.remove(axis);
        match curves.iter_mut().find(|(known, _)| *known == others) {
            Some((_, curve)) => curve.push((*number, arm_index)),
            None => curves.push((others, vec![(*number, arm_index)])),
        }
    }
    let sorted = |mut curve: Curve| {
        curve.sort_by(|one, other| one.0.total_cmp(&other.0));
        curve
    };
    curves.into_iter().map(|(_, curve)| sorted(curve)).collect()
}

/// A curve with the source of its values.
struct Sweep<'r> {
    result: &'r ExperimentResult,
    key: &'r str,
    curve: Curve,
    counted: &'r [u32],
}

impl Sweep<'_> {
    fn name(&self, at: usize) -> &str {
        &self.result.arms[self.curve[at].1].name
    }

    fn metric(&self) -> &str {
        &self.result.metrics[0].name
    }

    /// Returns the gains of all larger values, as bounds of the logarithm of a ratio; absent without bounds.
    fn gains(&self, at: usize) -> Vec<Option<(f64, f64)>> {
        self.curve[at + 1..].iter().map(|(_, arm)| self.gain(*arm, self.curve[at].1)).collect()
    }

    fn gain(&self, arm: usize, against: usize) -> Option<(f64, f64)> {
        let sign = if self.result.metrics[0].goal == Goal::Lower { -1.0 } else { 1.0 };
        let pairs = differences(self.result, (arm, against), 0, self.counted);
        let values: Vec<f64> = pairs.into_iter().map(|(_, difference)| sign * difference).collect();
        SignedRank::new(&values).interval(ALPHA)
    }

    fn is_enough(&self, at: usize) -> bool {
        let interest = self.result.interest().ln_1p();
        self.gains(at).iter().all(|gain| gain.is_some_and(|(_, most)| most <= interest))
    }

    fn is_too_small(&self, at: usize) -> bool {
        self.gains(at).iter().flatten().any(|(least, _)| *least > 0.0)
    }

    /// Returns the smallest value that is enough. Values are tested from the largest down to the first that fails, so
    /// that the error rate is that of one test.
    fn enough(&self) -> Option<usize> {
        (0..self.curve.len() - 1).rev().take_while(|index| self.is_enough(*index)).last()
    }

    fn sentence(&self) -> String {
        let Some(enough) = self.enough() else { return self.without() };
        let gains = self.gains(enough).into_iter().flatten().map(|(_, most)| most);
        let most = Scale::Percent.change(gains.fold(0.0, f64::max).exp());
        format!(
            "Enough for {}: {}. No larger value was better by {} (by {most} at most, 95 % bound); {}.",
            self.metric(),
            self.name(enough),
            percent(self.result.interest()),
            self.smaller(enough)
        )
    }

    /// Describes the values below the recommended one.
    fn smaller(&self, enough: usize) -> String {
        match (0..enough).find(|index| !self.is_too_small(*index)) {
            Some(index) => {
                format!(
                    "{} may also be enough: these rounds do not show that it is worse",
                    self.name(index)
                )
            }
            None if enough == 0 => "it is the smallest value of the sweep".to_owned(),
            None => format!("with {} it is worse", self.name(enough - 1)),
        }
    }

    /// Explains the lack of a recommendation.
    fn without(&self) -> String {
        let last = self.curve.len() - 1;
        let Some(before) = last.checked_sub(1) else {
            return format!("No {} is recommended: the sweep has only one value.", self.key);
        };
        let (key, metric) = (self.key, self.metric());
        let (before_name, last_name) = (self.name(before), self.name(last));
        if self.is_too_small(before) {
            return format!(
                "No {key} is recommended: {metric} is still better with {last_name} than with {before_name}. Vary it \
                 further."
            );
        }
        format!(
            "No {key} is recommended: these rounds cannot tell whether {last_name} is better than {before_name} by {} \
             in {metric}.",
            percent(self.result.interest())
        )
    }
}
