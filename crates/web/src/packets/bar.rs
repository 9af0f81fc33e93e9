//! Bars in cells: a share of a whole, and shares side by side.

use std::io::{self, Write};

use super::{
    figures::{bounded, rounded},
    words::Term,
};
use crate::escape::Markup;

/// One of the shares of a stacked bar.
pub(super) struct Part {
    /// CSS class of its colour.
    pub(super) class: &'static str,
    pub(super) term: &'static Term,
    /// Share, 0 to 1.
    pub(super) share: f64,
}

/// Draws shares side by side, with their figures below. The rest of the whole stays empty.
pub(super) fn stacked(out: &mut dyn Write, parts: &[Part]) -> io::Result<()> {
    let figures = parts.iter().map(|part| format!("{} {}", part.term.name, rounded(part.share)));
    let figures = figures.collect::<Vec<_>>().join(", ");
    let whole = parts.iter().map(|part| part.share).sum::<f64>().max(1.0);
    write!(
        out,
        "<div class=\"bar\" role=\"img\" aria-label=\"{0}\" title=\"{0}\">",
        Markup(&figures)
    )?;
    for part in parts.iter().filter(|part| part.share > 0.0) {
        let width = 100.0 * part.share / whole;
        write!(out, "<i class=\"{}\" style=\"width:{width:.2}%\"></i>", part.class)?;
    }
    let short = parts.iter().map(|part| Markup(&rounded(part.share)).to_string());
    write!(out, "</div><small>{}</small>", short.collect::<Vec<_>>().join(" · "))
}

/// Returns a bar of a share.
pub(super) fn single(class: &str, share: f64) -> String {
    let width = 100.0 * bounded(share);
    format!("<div class=\"bar\"><i class=\"{class}\" style=\"width:{width:.2}%\"></i></div>")
}

/// Writes the key to the colours of stacked bars.
pub(super) fn key(out: &mut dyn Write, parts: &[(&str, &Term)]) -> io::Result<()> {
    write!(out, "<p class=\"key\">")?;
    for (class, term) in parts {
        let (name, meaning) = (term.name, term.meaning);
        write!(out, "<span title=\"{meaning}\"><i class=\"{class}\"></i>{name}</span>")?;
    }
    writeln!(out, "</p>")
}
