//! The step from the runs of an experiment to its comparisons.

use std::collections::BTreeMap;

use rabbitscope_runs::experiment::{
    Comparison, ComparisonRole, Difference, DroppedRound, ExperimentResult, KnownExpectation,
    MetricRole, RunOfArm, Verdict,
};

use super::{
    SignedRank,
    differences::differences,
    holm, known,
    looks::{equivalence_alpha, normal_quantile},
    recommendation, sentences,
};

/// Share of experiments in which the advised number of rounds misses a change of the wanted size.
const MISSED: f64 = 0.2;

/// Fewest rounds in which the test can find a difference at 5 %.
const MIN_ROUNDS: u32 = 6;

/// Derives dropped rounds, comparisons, sentences and the result on known facts from the runs. Replaces earlier ones.
pub fn conclude(result: &mut ExperimentResult, expected: &[KnownExpectation]) {
    let (counted, dropped) = rounds_of(result);
    result.dropped = dropped;
    result.comparisons = compared(result, &counted);
    result.equivalence_alpha.get_or_insert_with(|| equivalence_alpha(&result.looks));
    adjust(result);
    for index in 0..result.comparisons.len() {
        let verdict = verdict_of(result, &result.comparisons[index]);
        let comparison = &mut result.comparisons[index];
        (comparison.verdict, comparison.rounds_to_decide) = verdict;
        let sentence = sentences::of_comparison(result, &result.comparisons[index], counted.len());
        result.comparisons[index].sentence = sentence;
    }
    result.sentences = sentences::of_result(result, counted.len());
    result.sentences.extend(recommendation::sentences(result, &counted));
    known::judge(result, expected, &counted);
}

/// Returns whether every arm's primary comparison is decided, so that a declared look may end the experiment.
pub fn is_decided(result: &ExperimentResult) -> bool {
    let mut primary = result
        .comparisons
        .iter()
        .filter(|comparison| comparison.role == ComparisonRole::Primary)
        .peekable();
    primary.peek().is_some() && primary.all(|comparison| comparison.verdict != Verdict::Undecided)
}

/// Returns the complete rounds without doubts, and the dropped runs. An incomplete round is in neither list, because it
/// is not finished yet.
fn rounds_of(result: &ExperimentResult) -> (Vec<u32>, Vec<DroppedRound>) {
    let mut rounds: BTreeMap<u32, Vec<&RunOfArm>> = BTreeMap::new();
    for run in &result.runs {
        rounds.entry(run.round).or_default().push(run);
    }
    let (mut counted, mut dropped) = (Vec::new(), Vec::new());
    for (round, runs) in rounds {
        let doubtful: Vec<&&RunOfArm> = runs.iter().filter(|run| !run.doubts.is_empty()).collect();
        dropped.extend(doubtful.iter().map(|run| DroppedRound {
            round,
            arm: run.arm,
            reason: run.doubts.join("; "),
        }));
        let has_all = (0..result.arms.len()).all(|arm| runs.iter().any(|run| run.arm == arm));
        if doubtful.is_empty() && has_all {
            counted.push(round);
        }
    }
    (counted, dropped)
}

/// Compares every arm with the baseline in every metric, without verdicts.
fn compared(result: &ExperimentResult, counted: &[u32]) -> Vec<Comparison> {
    let arms = 1..result.arms.len();
    let pairs = arms.flat_map(|arm| (0..result.metrics.len()).map(move |metric| (arm, metric)));
    let compare = |(arm, metric): (usize, usize)| {
        let pairs = differences(result, (arm, 0), metric, counted);
        let test =
            SignedRank::new(&pairs.iter().map(|(_, difference)| *difference).collect::<Vec<_>>());
        let interval = test.interval(result.alpha);
        let ratio = |round, difference: f64| Difference { round, ratio: difference.exp() };
        Comparison {
            arm,
            metric,
            role: role_of(result, arm, metric),
            differences: pairs
                .into_iter()
                .map(|(round, difference)| ratio(round, difference))
                .collect(),
            ratio: test.estimate().map(f64::exp),
            low: interval.map(|(low, _)| low.exp()),
            high: interval.map(|(_, high)| high.exp()),
            p: test.p_value(),
            ..Comparison::default()
        }
    };
    pairs.map(compare).collect()
}

fn role_of(result: &ExperimentResult, arm: usize, metric: usize) -> ComparisonRole {
    match (result.arms[arm].control, result.metrics[metric].role) {
        (true, _) => ComparisonRole::Control,
        (false, MetricRole::Primary) => ComparisonRole::Primary,
        (false, MetricRole::Secondary) => ComparisonRole::Secondary,
    }
}

/// Adjusts the p-values of two families: the primary metric of all arms, and everything else except the controls.
fn adjust(result: &mut ExperimentResult) {
    for role in [ComparisonRole::Primary, ComparisonRole::Secondary] {
        let family: Vec<usize> = (0..result.comparisons.len())
            .filter(|index| {
                result.comparisons[*index].role == role && result.comparisons[*index].p.is_some()
            })
            .collect();
        let p_values: Vec<f64> =
            family.iter().filter_map(|index| result.comparisons[*index].p).collect();
        for (index, adjusted) in family.into_iter().zip(holm::adjusted(&p_values)) {
            result.comparisons[index].adjusted_p = Some(adjusted);
        }
    }
    for control in result
        .comparisons
        .iter_mut()
        .filter(|comparison| comparison.role == ComparisonRole::Control)
    {
        control.adjusted_p = control.p;
    }
}

/// Returns the verdict of a comparison, and the number of rounds that would decide it.
fn verdict_of(result: &ExperimentResult, comparison: &Comparison) -> (Verdict, Option<u32>) {
    let differences: Vec<f64> =
        comparison.differences.iter().map(|difference| difference.ratio.ln()).collect();
    let alpha = result.equivalence_alpha.unwrap_or_else(|| equivalence_alpha(&result.looks));
    let narrow = SignedRank::new(&differences).interval(alpha);
    let is_equivalent = result
        .indifferent
        .zip(narrow)
        .is_some_and(|(share, (low, high))| -share.ln_1p() <= low && high <= share.ln_1p());
    if is_equivalent {
        return (Verdict::Equivalent, None);
    }
    if comparison.adjusted_p.is_some_and(|p| p <= result.alpha) {
        return (Verdict::Differs, None);
    }
    (Verdict::Undecided, Some(rounds_to_decide(result, comparison)))
}

/// Returns the number of rounds in which 8 of 10 experiments find a change of exactly the size of interest.
///
/// The width of an interval falls with the square root of the number of rounds. A change is found if its estimate lies
/// beyond the half-width of the interval at the error rate of its family. Estimates scatter about the change, so it
/// must exceed the half-width by the distance that 8 of 10 estimates stay within (Lehr 1992).
#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "at most a million")]
fn rounds_to_decide(result: &ExperimentResult, comparison: &Comparison) -> u32 {
    let Some((low, high)) = comparison.low.zip(comparison.high) else { return MIN_ROUNDS };
    let half_width = (high.ln() - low.ln()) / 2.0;
    let wanted = result.interest().ln_1p();
    let family = result
        .comparisons
        .iter()
        .filter(|other| other.role == comparison.role && other.p.is_some());
    let alpha = result.alpha / family.count().max(1) as f64;
    let needed = normal_quantile(alpha / 2.0) + normal_quantile(MISSED);
    let ratio = half_width / wanted * needed / normal_quantile(result.alpha / 2.0);
    let rounds = comparison.differences.len() as f64 * ratio.powi(2);
    (rounds.ceil().min(1e6) as u32).max(MIN_ROUNDS)
}
