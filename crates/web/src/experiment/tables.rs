//! The figures of the charts, and the method.

use rabbitscope_analysis::experiment::{Scale, p_in_words, percent, values_of_pair};
use rabbitscope_runs::experiment::{Comparison, ComparisonRole, ExperimentResult, Verdict};
use rabbitscope_text::Unit;

use crate::document::{Block, Cell, Column, Content, Measure, Section, Sentence, Table, Tone};

/// Compares every arm with the baseline in every metric. Combinations of a sweep have no p and no verdict: their curves
/// are read as a whole.
pub(super) fn comparisons(result: &ExperimentResult) -> Section {
    let is_sweep = !result.axes.is_empty();
    let [arm, baseline, value] =
        if is_sweep { ["combination", "first", "here"] } else { ["arm", "baseline", "with it"] };
    let mut columns = vec![
        Column::text(arm),
        Column::text("metric"),
        Column::number(baseline).meaning("The median over the rounds that count"),
        Column::number(value).meaning("The first value times the change"),
        Column::number("change").meaning("Hodges–Lehmann estimate of the rounds' ratios"),
        Column::number("interval").meaning("From the exact signed-rank test"),
        Column::number("rounds"),
    ];
    if !is_sweep {
        columns.extend([Column::number("p"), Column::text("verdict")]);
    }
    let row = |comparison: &Comparison| {
        let mut cells = figures(result, comparison);
        if !is_sweep {
            cells.extend(verdict(comparison));
        }
        cells
    };
    let rows = result.comparisons.iter().map(row).collect();
    let table = Table { label: "All metrics", columns, rows, ..Table::default() };
    let intro = format!(
        "The first value is the median over the rounds that count; the second is the first times the change. Changes \
         are Hodges–Lehmann estimates of the rounds' ratios. Intervals come from the exact signed-rank test{}.",
        if is_sweep { ", each by itself" } else { "; p is adjusted after Holm" }
    );
    let blocks = vec![Block::new("comparisons-table", Content::Table(table))];
    Section::new("comparisons", "All metrics", blocks).explained(intro)
}

fn figures(result: &ExperimentResult, comparison: &Comparison) -> Vec<Cell> {
    let metric = &result.metrics[comparison.metric];
    let values = values_of_pair(result, comparison);
    let [baseline, arm] = values.map_or([None, None], |values| values.map(Some));
    let value = |value: Option<f64>| {
        value.map_or_else(Cell::default, |value| {
            Cell::figure(value, Measure::from_metric(&metric.unit))
        })
    };
    let scale = Scale::from_comparison(comparison);
    let interval = comparison.low.zip(comparison.high).map(|interval| scale.interval(interval));
    vec![
        Cell::text(result.arms[comparison.arm].name.clone()),
        Cell::text(metric.name.clone()),
        value(baseline),
        value(arm),
        Cell::text(comparison.ratio.map(|ratio| scale.change(ratio)).unwrap_or_default()),
        Cell::text(interval.unwrap_or_default()),
        Cell::figure(comparison.differences.len() as f64, Unit::Things),
    ]
}

fn verdict(comparison: &Comparison) -> [Cell; 2] {
    let (tone, word) = match (comparison.role, comparison.verdict) {
        (ComparisonRole::Control, Verdict::Differs) => {
            (Tone::Plain, "control: differs from itself")
        }
        (ComparisonRole::Control, _) => (Tone::Plain, "control"),
        (_, Verdict::Differs) => (Tone::Note, "differs"),
        (_, Verdict::Equivalent) => (Tone::Plain, "the same"),
        (_, Verdict::Undecided) => (Tone::Plain, "undecided"),
    };
    let p = comparison.adjusted_p.map(p_in_words).unwrap_or_default();
    [Cell::text(p), Cell::text(word).tone(tone)]
}

/// Lists dropped rounds with the reasons; absent if there are none.
pub(super) fn dropped(result: &ExperimentResult) -> Option<Section> {
    (!result.dropped.is_empty()).then_some(())?;
    let columns = vec![Column::text("round"), Column::text("arm"), Column::text("reason")];
    let rows = result.dropped.iter().map(|run| {
        vec![
            Cell::text(run.round.to_string()),
            Cell::text(result.arms[run.arm].name.clone()),
            Cell::text(run.reason.clone()),
        ]
    });
    let table =
        Table { label: "Rounds left out", columns, rows: rows.collect(), ..Table::default() };
    let blocks = vec![Block::new("dropped-table", Content::Table(table))];
    Some(Section::new("dropped", "Left out", blocks))
}

/// Describes the method and the arms.
pub(super) fn method(result: &ExperimentResult) -> Section {
    let columns = vec![Column::text("arm"), Column::text("changes"), Column::text("broker")];
    let rows = result.arms.iter().map(|arm| {
        let changes = match (&arm.changes[..], arm.control) {
            (_, true) => "the baseline again".to_owned(),
            ([], _) => "none".to_owned(),
            (changes, _) => changes.join("\n"),
        };
        vec![Cell::text(arm.name.clone()), Cell::code(changes), Cell::text(arm.broker.clone())]
    });
    let table = Table { label: "Arms", columns, rows: rows.collect(), ..Table::default() };
    let sentence = Sentence::new(method_in_words(result), Tone::Plain);
    let blocks = vec![
        Block::sentences("method-words", vec![sentence]),
        Block::new("arms", Content::Table(table)),
    ];
    Section::new("method", "How it was measured", blocks)
}

fn method_in_words(result: &ExperimentResult) -> String {
    let looks: Vec<String> = result.looks.iter().map(ToString::to_string).collect();
    let round = match result.live_brokers {
        None => "A round runs every arm once,".to_owned(),
        Some(brokers) => format!(
            "In a round every arm has a running broker for some seconds (the first is left out), over {brokers} brokers,"
        ),
    };
    format!(
        "{round} in an order drawn from the seed {}. The experiment has at most {} rounds and is evaluated after {}, \
         each time at an error rate of {}. All evaluations together find a difference where there is none in 5 % of \
         such experiments. A round with a run in doubt counts for no arm.",
        result.seed,
        result.rounds,
        looks.join(", "),
        percent(result.alpha)
    )
}
