//! Grid lines of a drawing at round values.

use std::io::{self, Write};

use rabbitscope_analysis::experiment::value_in_words;

use crate::axis::Axis;

/// Draws a line for each tick of the axis from `left` to `right`, with its value before it.
pub(super) fn rules(
    out: &mut impl Write,
    axis: &Axis,
    (left, right): (f64, f64),
    unit: &str,
) -> io::Result<()> {
    for tick in axis.ticks().into_iter().filter(|tick| *tick >= 0.0) {
        let place = axis.at(tick);
        writeln!(
            out,
            "<line class=\"grid\" x1=\"{left}\" x2=\"{right:.0}\" y1=\"{place:.1}\" y2=\"{place:.1}\"/>\
             <text x=\"{:.0}\" y=\"{:.1}\" text-anchor=\"end\">{}</text>",
            left - 8.0,
            place + 4.0,
            value_in_words(tick, unit)
        )?;
    }
    Ok(())
}
