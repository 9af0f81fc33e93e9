//! What an experiment says in plain text: the sentences first, then every comparison.

use std::{fmt::Write, time::Duration};

use rabbitscope_analysis::experiment::{change, median_of_arm, p_in_words, value_in_words};
use rabbitscope_runs::experiment::{
    Comparison, ComparisonRole, ExperimentResult, RunOfArm, Verdict,
};
use rabbitscope_text::{Align, escapes, table};

use super::{Plan, plan::rough};

/// Dropped rounds that are listed; the page has all of them.
const MAX_DROPPED_SHOWN: usize = 10;

/// Sentences that are said; of a sweep the table says more.
const MAX_SENTENCES: usize = 6;

/// The whole result.
pub fn text(result: &ExperimentResult) -> String {
    let mut text = format!("{}\n", result.name);
    for sentence in result.sentences.iter().take(MAX_SENTENCES) {
        let _ = writeln!(text, "{}", escapes::value(sentence));
    }
    if let Some(known) = &result.known {
        let _ = writeln!(text, "{} Source: {}.", escapes::value(&known.sentence), known.source);
    }
    let _ = writeln!(text, "\n{}", comparisons(result));
    text += &dropped(result);
    if let Some(reason) = &result.aborted {
        let _ = writeln!(text, "\nNot complete: {}", escapes::value(reason));
    }
    text
}

fn comparisons(result: &ExperimentResult) -> String {
    let columns = [
        ("arm", Align::Left),
        ("metric", Align::Left),
        ("baseline", Align::Right),
        ("arm", Align::Right),
        ("change", Align::Right),
        ("interval", Align::Right),
        ("p", Align::Right),
        ("", Align::Left),
    ];
    let rows: Vec<[String; 8]> = result.comparisons.iter().map(|it| row(result, it)).collect();
    table(columns, &rows)
}

fn row(result: &ExperimentResult, comparison: &Comparison) -> [String; 8] {
    let metric = &result.metrics[comparison.metric];
    let median = |arm: usize| {
        let found = median_of_arm(result, comparison, arm);
        found.map(|value| value_in_words(value, &metric.unit)).unwrap_or_default()
    };
    let interval = comparison.low.zip(comparison.high);
    [
        result.arms[comparison.arm].name.clone(),
        metric.name.clone(),
        median(0),
        median(comparison.arm),
        comparison.ratio.map(change).unwrap_or_default(),
        interval
            .map(|(low, high)| format!("{} to {}", change(low), change(high)))
            .unwrap_or_default(),
        comparison.adjusted_p.map(p_in_words).unwrap_or_default(),
        word(comparison).to_owned(),
    ]
}

fn word(comparison: &Comparison) -> &'static str {
    match (comparison.role, comparison.verdict) {
        (ComparisonRole::Control, Verdict::Differs) => {
            "differs from itself: chance, or no fair order"
        }
        (ComparisonRole::Control, _) => "control",
        (_, Verdict::Differs) => "differs",
        (_, Verdict::Equivalent) => "the same",
        (_, Verdict::Undecided) => "undecided",
    }
}

fn dropped(result: &ExperimentResult) -> String {
    let mut text = String::new();
    for it in result.dropped.iter().take(MAX_DROPPED_SHOWN) {
        let (arm, reason) = (&result.arms[it.arm].name, escapes::value(&it.reason));
        let _ = writeln!(text, "round {} is left out: {arm}: {reason}", it.round);
    }
    let more = result.dropped.len().saturating_sub(MAX_DROPPED_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "… and {more} more; experiment.json has all of them");
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// A run that has ended, in one line.
pub(super) fn run_of_arm(plan: &Plan, run: &RunOfArm, left: Duration) -> String {
    let doubts = match run.doubts.first() {
        None => String::new(),
        Some(doubt) => format!(" (left out: {doubt})"),
    };
    let rounds = plan.experiment.design.rounds;
    let of = if run.round <= rounds {
        format!("of {rounds}")
    } else {
        "in place of one that is left out".to_owned()
    };
    format!(
        "round {} {of}, run {} of {}: {}{doubts}; about {} left",
        run.round,
        run.position,
        plan.arms.len(),
        plan.arms[run.arm].arm.name,
        rough(left),
    )
}
