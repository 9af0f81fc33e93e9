//! Changes of the profiles, with links to the flame graphs of changes.

use std::io::{self, Write};

use rabbitscope_runs::experiment::{ExperimentResult, FunctionChange, ProfileComparison};

use crate::escape::Markup;

/// Maximum number of listed functions of each arm; the page of the comparison has all of them.
const MAX_FUNCTIONS: usize = 12;

/// Writes the section; nothing if no run was profiled.
pub(super) fn draw(out: &mut impl Write, result: &ExperimentResult) -> io::Result<()> {
    if result.profiles.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<h2>What changed in the profiles</h2>\n<p class=\"soft\">Shares of the merged profiles of all rounds that \
         count. A function is listed if its share changed by more than it differs between runs. With the arms swapped \
         within rounds, at most 5 of 100 such tables list any function.</p>"
    )?;
    for comparison in &result.profiles {
        one(out, result, comparison)?;
    }
    Ok(())
}

fn one(
    out: &mut impl Write,
    result: &ExperimentResult,
    comparison: &ProfileComparison,
) -> io::Result<()> {
    let arm = Markup(&result.arms[comparison.arm].name);
    if !comparison.refusal.is_empty() {
        return writeln!(
            out,
            "<h3>{arm}</h3>\n<p>Not compared: {}</p>",
            Markup(&comparison.refusal)
        );
    }
    writeln!(
        out,
        "<h3>{arm}</h3>\n<p>{} changed in the {} profile, {} rounds. <a href=\"{}\">Flame graph of changes</a></p>",
        match comparison.changes.len() {
            0 => "No function".to_owned(),
            1 => "One function".to_owned(),
            changed => format!("{changed} functions"),
        },
        Markup(&comparison.event),
        comparison.rounds,
        Markup(&comparison.page)
    )?;
    if comparison.changes.is_empty() {
        return Ok(());
    }
    writeln!(
        out,
        "<div class=\"scroll\"><table><thead><tr><th>function</th><th>own, baseline</th><th>arm</th>\
         <th>total, baseline</th><th>arm</th><th>moved</th></tr></thead><tbody>"
    )?;
    for change in comparison.changes.iter().take(MAX_FUNCTIONS) {
        row(out, change)?;
    }
    writeln!(out, "</tbody></table></div>")
}

fn row(out: &mut impl Write, change: &FunctionChange) -> io::Result<()> {
    let percent = |share: f64| format!("{:.2} %", 100.0 * share);
    writeln!(
        out,
        "<tr><td><code>{}</code></td><td>{}</td><td>{}</td><td>{}</td><td>{}</td><td>{}</td></tr>",
        Markup(&change.function),
        percent(change.own[0]),
        percent(change.own[1]),
        percent(change.total[0]),
        percent(change.total[1]),
        Markup(&change.moved)
    )
}
