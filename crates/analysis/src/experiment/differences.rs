//! Differences of two arms, round by round.

use rabbitscope_runs::experiment::ExperimentResult;

/// The logarithms of the ratios of two arms in a metric, for each counted round in which both have a value.
pub(super) fn differences(
    result: &ExperimentResult,
    (arm, against): (usize, usize),
    metric: usize,
    counted: &[u32],
) -> Vec<(u32, f64)> {
    let value = |round: u32, arm: usize| {
        let run = result.runs.iter().find(|run| run.round == round && run.arm == arm)?;
        *run.values.get(metric)?
    };
    let pairs = counted
        .iter()
        .filter_map(|&round| Some((round, value(round, arm)?.ln() - value(round, against)?.ln())));
    pairs.collect()
}
