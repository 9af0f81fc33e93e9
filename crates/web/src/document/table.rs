//! Tables: rows of texts and figures.

use rabbitscope_text::Unit;
use serde::Serialize;

use super::{
    chart::{Hue, Measure},
    form::Form,
    text::Tone,
};

/// A table.
#[derive(Default, Serialize)]
pub(crate) struct Table {
    /// Its subject, for readers without sight.
    pub(crate) label: &'static str,
    /// Fields above the table. A table without columns is its fields alone.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) form: Option<Form>,
    /// Rows of which the reader chooses two.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) choice: Option<Choice>,
    /// The colours of bars.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) key: Vec<Key>,
    pub(crate) columns: Vec<Column>,
    pub(crate) rows: Vec<Vec<Cell>>,
}

/// A choice of two rows, which leads to a page about both.
#[derive(Serialize)]
pub(crate) struct Choice {
    /// The page, relative to this one.
    pub(crate) page: &'static str,
    /// Keys of the lower row and the upper one in its address.
    pub(crate) keys: [&'static str; 2],
    /// A value for each row; absent in a row that cannot be chosen.
    pub(crate) values: Vec<Option<String>>,
}

/// A colour with its name.
#[derive(Serialize)]
pub(crate) struct Key {
    pub(crate) hue: Hue,
    pub(crate) name: &'static str,
    pub(crate) meaning: &'static str,
}

/// The head of a column.
#[derive(Clone, Copy, Serialize)]
pub(crate) struct Column {
    name: &'static str,
    #[serde(skip_serializing_if = "str::is_empty")]
    meaning: &'static str,
    #[serde(skip_serializing_if = "is_default")]
    numeric: bool,
}

/// A cell: a text, or a figure with its unit.
#[derive(Clone, Debug, Default, PartialEq, Serialize)]
pub(crate) struct Cell {
    #[serde(skip_serializing_if = "Option::is_none")]
    text: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    value: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    measure: Option<Measure>,
    /// A second, smaller line.
    #[serde(skip_serializing_if = "String::is_empty")]
    small: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    meaning: String,
    #[serde(skip_serializing_if = "String::is_empty")]
    link: String,
    /// Further links below the text: their texts and addresses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    links: Vec<(String, String)>,
    #[serde(skip_serializing_if = "is_default")]
    tone: Tone,
    /// The text is code.
    #[serde(skip_serializing_if = "is_default")]
    code: bool,
    /// Shares of a whole, drawn side by side.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    bar: Vec<(Hue, f64)>,
    /// Number of rows that the cell covers; 0 for its own.
    #[serde(skip_serializing_if = "is_default")]
    covers: u32,
}

fn is_default<T: Default + PartialEq>(value: &T) -> bool {
    *value == T::default()
}

impl Column {
    /// Creates a column of texts.
    pub(crate) const fn text(name: &'static str) -> Self {
        Self { name, meaning: "", numeric: false }
    }

    /// Creates a column of figures.
    pub(crate) const fn number(name: &'static str) -> Self {
        Self { name, meaning: "", numeric: true }
    }

    /// Adds an explanation.
    pub(crate) const fn meaning(self, meaning: &'static str) -> Self {
        Self { meaning, ..self }
    }
}

impl Cell {
    /// Creates a text.
    pub(crate) fn text(text: impl Into<String>) -> Self {
        Self { text: Some(text.into()), ..Self::default() }
    }

    /// Creates a text that is code.
    pub(crate) fn code(text: impl Into<String>) -> Self {
        Self { code: true, ..Self::text(text) }
    }

    /// Creates a figure.
    pub(crate) fn figure(value: f64, measure: impl Into<Measure>) -> Self {
        Self { value: Some(value), measure: Some(measure.into()), ..Self::default() }
    }

    /// Creates a figure, or a dash if it is not known.
    pub(crate) fn known(value: Option<f64>, measure: impl Into<Measure>) -> Self {
        value.map_or_else(|| Self::text("–"), |value| Self::figure(value, measure))
    }

    /// Adds a link.
    pub(crate) fn link(self, link: impl Into<String>) -> Self {
        Self { link: link.into(), ..self }
    }

    /// Adds further links: their texts and addresses.
    pub(crate) fn links(self, links: Vec<(String, String)>) -> Self {
        Self { links, ..self }
    }

    /// Adds the meaning of the text for its reader.
    pub(crate) fn tone(self, tone: Tone) -> Self {
        Self { tone, ..self }
    }

    /// Creates shares of a whole, drawn side by side, with their figures below.
    pub(crate) fn shares(bar: Vec<(Hue, f64)>) -> Self {
        let rounded = |(_, share): &(Hue, f64)| {
            let percent = 100.0 * share;
            if percent > 0.0 && percent < 1.0 {
                "<1 %".to_owned()
            } else {
                format!("{percent:.0} %")
            }
        };
        let small = bar.iter().map(rounded).collect::<Vec<_>>().join(" · ");
        Self { small, bar, ..Self::default() }
    }

    /// Creates a share with its bar.
    pub(crate) fn share(hue: Hue, share: f64) -> Self {
        Self { bar: vec![(hue, share)], ..Self::figure(share, Unit::Share) }
    }

    /// Adds a second, smaller line.
    pub(crate) fn small(self, small: impl Into<String>) -> Self {
        Self { small: small.into(), ..self }
    }

    /// Adds an explanation.
    pub(crate) fn meaning(self, meaning: impl Into<String>) -> Self {
        Self { meaning: meaning.into(), ..self }
    }

    /// Lets the cell cover several rows.
    pub(crate) fn covers(self, covers: u32) -> Self {
        Self { covers, ..self }
    }
}
