//! Differences of two arms, round by round.

use rabbitscope_runs::experiment::ExperimentResult;

/// Returns the logarithms of the ratios of two arms in a metric, for each counted round in which both have a value. If
/// `against` ran several times in a round, as an anchor, its value is interpolated between the runs before and after
/// the other run.
pub(super) fn differences(
    result: &ExperimentResult,
    (arm, against): (usize, usize),
    metric: usize,
    counted: &[u32],
) -> Vec<(u32, f64)> {
    let values = |round: u32, arm: usize| {
        let runs = result.runs.iter().filter(move |run| run.round == round && run.arm == arm);
        runs.filter_map(move |run| {
            Some((f64::from(run.position), run.values.get(metric).copied()??.ln()))
        })
    };
    let difference = |round: u32| {
        let (position, value) = values(round, arm).next()?;
        let anchors: Vec<_> = values(round, against).collect();
        Some((round, value - level_at(&anchors, position)?))
    };
    counted.iter().filter_map(|round| difference(*round)).collect()
}

/// Interpolates the value at a position between the nearest values before and after it. Outside of the anchors the
/// nearest value counts. `anchors` has ascending positions with values; the result is absent if it is empty.
fn level_at(anchors: &[(f64, f64)], position: f64) -> Option<f64> {
    let after = anchors.partition_point(|(anchor, _)| *anchor < position);
    let before = after.checked_sub(1).map(|index| anchors[index]);
    match (before, anchors.get(after).copied()) {
        (Some((from, first)), Some((to, second))) => {
            Some(first + (second - first) * (position - from) / (to - from))
        }
        (one, other) => one.or(other).map(|(_, value)| value),
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::experiment::{ArmFacts, RunOfArm};

    use super::*;

    #[test]
    fn drift_between_anchors_falls_out() {
        // The machine becomes slower by a tenth from one run to the next; the second arm is twice as fast.
        let run = |(position, arm): (u32, usize)| {
            let speed = if arm == 1 { 2.0 } else { 1.0 };
            let values = vec![Some(speed * 1000.0 * (-0.1 * f64::from(position)).exp())];
            RunOfArm { round: 1, position, arm, values, ..RunOfArm::default() }
        };
        let result = ExperimentResult {
            arms: vec![ArmFacts::default(); 3],
            runs: [(1, 0), (2, 2), (3, 1), (4, 0)].map(run).into(),
            ..ExperimentResult::default()
        };
        let found = |arm| differences(&result, (arm, 0), 0, &[1])[0].1.exp();
        assert!((found(1) - 2.0).abs() < 1e-9 && (found(2) - 1.0).abs() < 1e-9);
        assert!(differences(&result, (1, 0), 0, &[2]).is_empty());
    }

    #[test]
    fn outside_of_the_anchors_the_nearest_counts() {
        let anchors = [(2.0, 5.0), (4.0, 9.0)];
        let levels = [1.0, 2.0, 3.0, 5.0].map(|position| level_at(&anchors, position));
        assert_eq!(levels, [Some(5.0), Some(5.0), Some(7.0), Some(9.0)]);
        assert_eq!(level_at(&[], 1.0), None);
    }
}
