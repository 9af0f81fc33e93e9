//! Bars in cells: a share of a whole, and shares side by side.

use std::io::{self, Write};

use super::{
    figures::{bounded, rounded},
    words::Term,
};
use crate::escape::Markup;

/// One of the shares of a stacked bar.
pub(super) struct Part {
    /// Its colour.
    pub(super) class: &'static str,
    pub(super) term: &'static Term,
    /// 0 to 1.
    pub(super) share: f64,
}

/// Shares side by side and their figures below; what all of them leave of the whole stays empty.
pub(super) fn stacked(out: &mut dyn Write, parts: &[Part]) -> io::Result<()> {
    let figures = parts.iter().map(|it| format!("{} {}", it.term.name, rounded(it.share)));
    let figures = figures.collect::<Vec<_>>().join(", ");
    let whole = parts.iter().map(|it| it.share).sum::<f64>().max(1.0);
    write!(
        out,
        "<div class=\"bar\" role=\"img\" aria-label=\"{0}\" title=\"{0}\">",
        Markup(&figures)
    )?;
    for part in parts.iter().filter(|it| it.share > 0.0) {
        let width = 100.0 * part.share / whole;
        write!(out, "<i class=\"{}\" style=\"width:{width:.2}%\"></i>", part.class)?;
    }
    let short = parts.iter().map(|it| Markup(&rounded(it.share)).to_string());
    write!(out, "</div><small>{}</small>", short.collect::<Vec<_>>().join(" · "))
}

/// A bar of a share.
pub(super) fn single(class: &str, share: f64) -> String {
    let width = 100.0 * bounded(share);
    format!("<div class=\"bar\"><i class=\"{class}\" style=\"width:{width:.2}%\"></i></div>")
}

/// What the colours of stacked bars mean.
pub(super) fn key(out: &mut dyn Write, parts: &[(&str, &Term)]) -> io::Result<()> {
    write!(out, "<p class=\"key\">")?;
    for (class, term) in parts {
        let (name, meaning) = (term.name, term.meaning);
        write!(out, "<span title=\"{meaning}\"><i class=\"{class}\"></i>{name}</span>")?;
    }
    writeln!(out, "</p>")
}
