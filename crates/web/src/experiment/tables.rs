//! The figures of the drawings, and the method.

use std::io::{self, Write};

use rabbitscope_analysis::experiment::{
    Scale, p_in_words, percent, value_in_words, values_of_pair,
};
use rabbitscope_runs::experiment::{Comparison, ComparisonRole, ExperimentResult, Verdict};

use crate::escape::Markup;

/// Compares every arm with the baseline in every metric. Combinations of a sweep have no p and no verdict: their curves
/// are read as a whole.
pub(super) fn comparisons(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    let is_sweep = !result.axes.is_empty();
    let names =
        if is_sweep { ["combination", "first", "here"] } else { ["arm", "baseline", "arm"] };
    let [arm, baseline, value] = names;
    writeln!(
        out,
        "<h2>All metrics</h2>\n<div class=\"scroll\"><table><thead><tr><th>{arm}</th><th class=\"left\">metric</th>\
         <th>{baseline}</th><th>{value}</th><th>change</th><th>interval</th><th>rounds</th>{}</tr></thead><tbody>",
        if is_sweep { "" } else { "<th>p</th><th class=\"left\">verdict</th>" }
    )?;
    for comparison in &result.comparisons {
        row(out, result, comparison)?;
        if !is_sweep {
            verdict(out, comparison)?;
        }
        writeln!(out, "</tr>")?;
    }
    writeln!(
        out,
        "</tbody></table></div>\n<p class=\"soft\">The first value is the median over the rounds that \
         count; the second is the first times the change. Changes are Hodges–Lehmann estimates of the rounds' ratios. \
         Intervals come from the exact signed-rank test{}.</p>",
        if is_sweep { ", each by itself" } else { "; p is adjusted after Holm" }
    )
}

fn row(out: &mut impl Write, result: &ExperimentResult, comparison: &Comparison) -> io::Result<()> {
    let metric = &result.metrics[comparison.metric];
    let values = values_of_pair(result, comparison);
    let values = values.map(|values| values.map(|value| value_in_words(value, &metric.unit)));
    let [baseline, arm] = values.unwrap_or_default();
    let scale = Scale::from_comparison(comparison);
    let interval = comparison.low.zip(comparison.high).map(|interval| scale.interval(interval));
    write!(
        out,
        "<tr><td>{}</td><td class=\"left\">{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td>",
        Markup(&result.arms[comparison.arm].name),
        Markup(&metric.name),
        baseline,
        arm,
        comparison.ratio.map(|ratio| scale.change(ratio)).unwrap_or_default(),
        interval.unwrap_or_default(),
        comparison.differences.len(),
    )
}

fn verdict(out: &mut impl Write, comparison: &Comparison) -> io::Result<()> {
    let (class, word) = match (comparison.role, comparison.verdict) {
        (ComparisonRole::Control, Verdict::Differs) => ("left", "control: differs from itself"),
        (ComparisonRole::Control, _) => ("left", "control"),
        (_, Verdict::Differs) => ("left differs", "differs"),
        (_, Verdict::Equivalent) => ("left", "the same"),
        (_, Verdict::Undecided) => ("left", "undecided"),
    };
    let p = comparison.adjusted_p.map(|p| p_in_words(p).replace('<', "&lt;")).unwrap_or_default();
    write!(out, "<td>{p}</td><td class=\"{class}\">{word}</td>")
}

/// Lists dropped rounds with the reasons.
pub(super) fn dropped(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    if result.dropped.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>Left out</h2>\n<div class=\"scroll\"><table><thead><tr><th>round</th><th class=\"left\">arm</th>\
         <th class=\"left\">reason</th></tr></thead><tbody>"
    )?;
    for run in &result.dropped {
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"left\">{}</td><td class=\"wide\">{}</td></tr>",
            run.round,
            Markup(&result.arms[run.arm].name),
            Markup(&run.reason)
        )?;
    }
    writeln!(out, "</tbody></table></div>")
}

/// Describes the method and the arms.
pub(super) fn method(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    let looks: Vec<String> = result.looks.iter().map(ToString::to_string).collect();
    writeln!(
        out,
        "<h2>How it was measured</h2>\n<p>{} in an order drawn from \
         the seed {}. The experiment has at most {} rounds and is evaluated after {}, each time at an error rate of \
         {}. All evaluations together find a difference where there is none in 5 % of such experiments. A round with a \
         run in doubt counts for no arm.</p>",
        match result.live_brokers {
            None => "A round runs every arm once,".to_owned(),
            Some(brokers) => format!(
                "In a round every arm has a running broker for some seconds (the first is left out), over \
                 {brokers} brokers,"
            ),
        },
        result.seed,
        result.rounds,
        looks.join(", "),
        percent(result.alpha)
    )?;
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>arm</th><th class=\"left\">changes</th><th class=\"left\">broker</th>\
         </tr></thead><tbody>"
    )?;
    for arm in &result.arms {
        let changes = match (&arm.changes[..], arm.control) {
            (_, true) => "the baseline again".to_owned(),
            ([], _) => "none".to_owned(),
            (changes, _) => changes.join("\n"),
        };
        writeln!(
            out,
            "<tr><td>{}</td><td class=\"wide\"><code>{}</code></td><td class=\"left\">{}</td></tr>",
            Markup(&arm.name),
            Markup(&changes).to_string().replace('\n', "<br>"),
            Markup(&arm.broker)
        )?;
    }
    writeln!(out, "</tbody></table></div>")
}
