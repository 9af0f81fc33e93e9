//! Plain text of an experiment: the sentences first, then every comparison.

use std::{fmt::Write, time::Duration};

use rabbitscope_analysis::experiment::{Scale, p_in_words, value_in_words, values_of_pair};
use rabbitscope_runs::experiment::{
    Comparison, ComparisonRole, ExperimentResult, FunctionChange, LiveDesign, RunOfArm, Verdict,
};
use rabbitscope_text::{Align, escapes, table};

use super::{Plan, plan::rough};

/// Number of dropped rounds in the list; the page has all of them.
const MAX_DROPPED_SHOWN: usize = 10;

/// Number of functions with changed shares in the list; the page has all of them.
const MAX_FUNCTIONS: usize = 6;

/// Number of sentences; with many arms the table is more useful.
const MAX_SENTENCES: usize = 6;

/// Returns the whole result.
pub fn text(result: &ExperimentResult) -> String {
    let mut text = format!("{}\n", result.name);
    for sentence in result.sentences.iter().take(MAX_SENTENCES) {
        let _ = writeln!(text, "{}", escapes::value(sentence));
    }
    if let Some(known) = &result.known {
        let _ = writeln!(
            text,
            "{} Source: {}.",
            escapes::value(&known.sentence),
            escapes::value(&known.source)
        );
    }
    let _ = writeln!(text, "\n{}", comparisons(result));
    text += &profiles(result);
    text += &dropped(result);
    if let Some(reason) = &result.aborted {
        let _ = writeln!(text, "\nNot complete: {}", escapes::value(reason));
    }
    text
}

fn comparisons(result: &ExperimentResult) -> String {
    if !result.axes.is_empty() {
        return combinations(result);
    }
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
    let rows: Vec<[String; 8]> = result.comparisons.iter().map(|pair| row(result, pair)).collect();
    table(columns, &rows)
}

/// Returns the table of a sweep, whose curves are read as a whole. It lacks p and verdict of each combination.
fn combinations(result: &ExperimentResult) -> String {
    let columns = [
        ("combination", Align::Left),
        ("metric", Align::Left),
        ("first", Align::Right),
        ("here", Align::Right),
        ("change", Align::Right),
        ("interval", Align::Right),
    ];
    let rows = result.comparisons.iter().map(|comparison| {
        let [arm, metric, first, here, change, interval, ..] = row(result, comparison);
        [arm, metric, first, here, change, interval]
    });
    table(columns, &rows.collect::<Vec<_>>())
}

fn row(result: &ExperimentResult, comparison: &Comparison) -> [String; 8] {
    let metric = &result.metrics[comparison.metric];
    let values = values_of_pair(result, comparison);
    let values = values.map(|values| values.map(|value| value_in_words(value, &metric.unit)));
    let [baseline, arm] = values.unwrap_or_default();
    let (scale, interval) =
        (Scale::from_comparison(comparison), comparison.low.zip(comparison.high));
    [
        result.arms[comparison.arm].name.clone(),
        metric.name.clone(),
        baseline,
        arm,
        comparison.ratio.map(|ratio| scale.change(ratio)).unwrap_or_default(),
        interval.map(|interval| scale.interval(interval)).unwrap_or_default(),
        comparison.adjusted_p.map(p_in_words).unwrap_or_default(),
        word(comparison).to_owned(),
    ]
}

fn word(comparison: &Comparison) -> &'static str {
    match (comparison.role, comparison.verdict) {
        (ComparisonRole::Control, Verdict::Differs) => {
            "differs from itself: chance, or an unfair order"
        }
        (ComparisonRole::Control, _) => "control",
        (_, Verdict::Differs) => "differs",
        (_, Verdict::Equivalent) => "the same",
        (_, Verdict::Undecided) => "undecided",
    }
}

fn profiles(result: &ExperimentResult) -> String {
    let mut text = String::new();
    for comparison in &result.profiles {
        let arm = &result.arms[comparison.arm].name;
        let _ = match (&comparison.refusal[..], comparison.changes.len()) {
            ("", 0) => writeln!(
                text,
                "\n{arm}: no function's share of the {} profile changed by more than it differs between runs ({} rounds)",
                comparison.event, comparison.rounds
            ),
            ("", changed) => writeln!(
                text,
                "\n{arm}: what changed in the {} profile by more than it differs between runs, {changed} functions in \
                 {} rounds; {}\n{}",
                comparison.event,
                comparison.rounds,
                comparison.page,
                functions(&comparison.changes)
            ),
            (refusal, _) => {
                writeln!(text, "\n{arm}: profiles are not compared: {}", escapes::value(refusal))
            }
        };
    }
    text
}

fn functions(changes: &[FunctionChange]) -> String {
    let columns = [
        ("own", Align::Right),
        ("", Align::Right),
        ("total", Align::Right),
        ("", Align::Right),
        ("moved", Align::Left),
        ("function", Align::Left),
    ];
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    let row = |change: &FunctionChange| {
        [
            percent(change.own[0]),
            percent(change.own[1]),
            percent(change.total[0]),
            percent(change.total[1]),
            change.moved.clone(),
            escapes::value(&change.function).to_string(),
        ]
    };
    let rows: Vec<[String; 6]> = changes.iter().take(MAX_FUNCTIONS).map(row).collect();
    table(columns, &rows)
}

fn dropped(result: &ExperimentResult) -> String {
    let mut text = String::new();
    for one in result.dropped.iter().take(MAX_DROPPED_SHOWN) {
        let (arm, reason) = (&result.arms[one.arm].name, escapes::value(&one.reason));
        let _ = writeln!(text, "round {} is left out: {arm}: {reason}", one.round);
    }
    let more = result.dropped.len().saturating_sub(MAX_DROPPED_SHOWN);
    if more > 0 {
        let _ = writeln!(text, "… and {more} more; experiment.json has all of them");
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

/// Describes a run with turns in one line.
pub(super) fn live_run(
    plan: &Plan,
    design: LiveDesign,
    rounds: &[u32],
    turns: &[RunOfArm],
) -> String {
    let in_doubt = turns.iter().filter(|turn| !turn.doubts.is_empty()).count();
    let doubts = match turns.iter().find_map(|turn| turn.doubts.first()) {
        None => String::new(),
        Some(doubt) => format!("; {in_doubt} of {} turns are in doubt: {doubt}", turns.len()),
    };
    let (first, last) = (rounds.first().unwrap_or(&0), rounds.last().unwrap_or(&0));
    let asked = plan.experiment.design.rounds;
    let of = if *first <= asked {
        format!("of {asked}")
    } else {
        "in place of excluded rounds".to_owned()
    };
    format!(
        "rounds {first} to {last} {of}, turns of {} s on one broker{doubts}",
        design.slice_seconds
    )
}

/// Describes an ended run in one line.
pub(super) fn run_of_arm(plan: &Plan, run: &RunOfArm, left: Duration) -> String {
    let doubts = match run.doubts.first() {
        None => String::new(),
        Some(doubt) => format!(" (left out: {doubt})"),
    };
    let rounds = plan.experiment.design.rounds;
    let of = if run.round <= rounds {
        format!("of {rounds}")
    } else {
        "in place of an excluded round".to_owned()
    };
    format!(
        "round {} {of}, run {} of {}: {}{doubts}; about {} left",
        run.round,
        run.position,
        plan.runs_of_a_round(),
        plan.arms[run.arm].arm.name,
        rough(left),
    )
}
