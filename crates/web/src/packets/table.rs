//! Tables that scroll sideways in their own box.

use std::io::{self, Write};

use super::words::Term;

/// The head of a column.
pub(super) struct Column {
    name: &'static str,
    meaning: &'static str,
    is_text: bool,
}

impl Column {
    /// Creates a column of numbers.
    pub(super) const fn number(name: &'static str) -> Self {
        Self { name, meaning: "", is_text: false }
    }

    /// Creates a column of text.
    pub(super) const fn text(name: &'static str) -> Self {
        Self { name, meaning: "", is_text: true }
    }

    /// Adds an explanation.
    pub(super) const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }

    /// Adds the explanation of a term.
    pub(super) const fn term(self, term: &Term) -> Self {
        Self { meaning: term.meaning, ..self }
    }
}

/// Opens a table; rows follow, in one or several bodies.
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

/// Closes the table.
pub(super) fn foot(out: &mut dyn Write) -> io::Result<()> {
    writeln!(out, "</table></div>")
}
