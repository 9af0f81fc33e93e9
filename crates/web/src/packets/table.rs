//! Tables that scroll sideways in a box of their own.

use std::io::{self, Write};

use super::words::Term;

/// A column's head.
pub(super) struct Column {
    name: &'static str,
    meaning: &'static str,
    is_text: bool,
}

impl Column {
    /// Of numbers.
    pub(super) const fn number(name: &'static str) -> Self {
        Self { name, meaning: "", is_text: false }
    }

    /// Of text.
    pub(super) const fn text(name: &'static str) -> Self {
        Self { name, meaning: "", is_text: true }
    }

    /// With an explanation.
    pub(super) const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// With the explanation of a term.
    pub(super) const fn of(self, term: &Term) -> Self {
        Self { meaning: term.meaning, ..self }
    }
}

/// Opens a table; rows follow, in a body or in bodies of their own.
pub(super) fn head(out: &mut dyn Write, label: &str, columns: &[Column]) -> io::Result<()> {
    write!(
        out,
        "<div class=\"scroll\" role=\"region\" tabindex=\"0\" aria-label=\"{label}\"><table><thead><tr>"
    )?;
    for column in columns {
        let class = if column.is_text { " class=\"left\"" } else { "" };
        let name = column.name;
        if column.meaning.is_empty() {
            write!(out, "<th scope=\"col\"{class}>{name}</th>")?;
        } else {
            let meaning = column.meaning;
            write!(out, "<th scope=\"col\"{class}><abbr title=\"{meaning}\">{name}</abbr></th>")?;
        }
    }
    writeln!(out, "</tr></thead>")
}

/// Closes it.
pub(super) fn foot(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</table></div>")
}
