//! Comparison of the measured intervals with known results.

use rabbitscope_runs::experiment::{ExperimentResult, KnownExpectation, ProfileComparison};

use super::{SignedRank, differences::differences, figures::change};

/// Judges the known results by intervals alone. An interval that holds both answers leaves a result open.
pub(super) fn judge(result: &mut ExperimentResult, expected: &[KnownExpectation], counted: &[u32]) {
    let judged: Vec<(Option<bool>, String)> =
        expected.iter().map(|known| judge_one(result, known, counted)).collect();
    let Some(known) = &mut result.known else { return };
    known.met = if judged.iter().any(|(met, _)| *met == Some(false)) {
        Some(false)
    } else if judged.is_empty() || judged.iter().any(|(met, _)| met.is_none()) {
        None
    } else {
        Some(true)
    };
    let sentences: Vec<String> = judged.into_iter().map(|(_, sentence)| sentence).collect();
    known.sentence = sentences.join(" ");
}

fn judge_one(
    result: &ExperimentResult,
    expected: &KnownExpectation,
    counted: &[u32],
) -> (Option<bool>, String) {
    let (met, found) = match expected {
        KnownExpectation::Ratio { arm, against, bound, is_above } => {
            let interval = interval_of(result, (arm, against), counted);
            let met = interval.and_then(|interval| side_of(interval, *bound, *is_above));
            (met, described(arm, against, interval))
        }
        KnownExpectation::Order(arms) => {
            let pairs = arms.windows(2).map(|pair| {
                let interval = interval_of(result, (&pair[0], &pair[1]), counted);
                let met = interval.and_then(|interval| side_of(interval, 1.0, true));
                (met, described(&pair[0], &pair[1], interval))
            });
            let (met, found): (Vec<_>, Vec<_>) = pairs.unzip();
            let all = if met.contains(&Some(false)) {
                Some(false)
            } else {
                met.iter().all(Option::is_some).then_some(true)
            };
            (all, found.join(", "))
        }
        KnownExpectation::Share { arm, function, falls } => share_of(result, arm, function, *falls),
    };
    let word = match met {
        Some(true) => "met",
        Some(false) => "not met",
        None => "cannot be decided from these rounds",
    };
    (met, format!("Known: {expected}; {word} ({found})."))
}

/// Judges the direction in which a function's share of the profile moved, if it moved by more than runs differ.
fn share_of(
    result: &ExperimentResult,
    arm: &str,
    function: &str,
    falls: bool,
) -> (Option<bool>, String) {
    let of_arm = |profiles: &&ProfileComparison| {
        result.arms[profiles.arm].name == arm && profiles.refusal.is_empty()
    };
    let Some(profiles) = result.profiles.iter().find(of_arm) else {
        return (None, format!("{arm}: no profiles to compare"));
    };
    let index = profiles.changes.iter().position(|change| change.function == function);
    let Some((index, change)) = index.map(|index| (index, &profiles.changes[index])) else {
        return (None, format!("{function} changed by no more than runs differ"));
    };
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let [before, after] = if change.moved == "own" { change.own } else { change.total };
    let found = format!(
        "{function}: {} share {} to {}, {} of {} changes",
        if change.moved == "own" { "own" } else { "total" },
        percent(before),
        percent(after),
        index + 1,
        profiles.changes.len()
    );
    (Some((after < before) == falls), found)
}

/// Returns the interval of the ratio of two arms in the primary metric.
fn interval_of(
    result: &ExperimentResult,
    (arm, against): (&str, &str),
    counted: &[u32],
) -> Option<(f64, f64)> {
    let index = |name: &str| result.arms.iter().position(|arm| arm.name == name);
    let pairs = differences(result, (index(arm)?, index(against)?), 0, counted);
    let differences: Vec<f64> = pairs.into_iter().map(|(_, difference)| difference).collect();
    let (low, high) = SignedRank::new(&differences).interval(result.alpha)?;
    Some((low.exp(), high.exp()))
}

fn side_of((low, high): (f64, f64), bound: f64, is_above: bool) -> Option<bool> {
    match (low > bound, high < bound) {
        (true, _) => Some(is_above),
        (_, true) => Some(!is_above),
        (false, false) => None,
    }
}

fn described(arm: &str, against: &str, interval: Option<(f64, f64)>) -> String {
    interval.map_or_else(
        || format!("{arm} against {against}: too few rounds"),
        |(low, high)| format!("{arm} against {against}: {} to {}", change(low), change(high)),
    )
}
