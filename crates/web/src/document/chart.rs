//! Charts: columns of values on two axes.

use rabbitscope_runs::experiment::unit_from_name;
use rabbitscope_text::Unit;
use serde::{Serialize, Serializer};

/// Charts beside each other.
#[derive(Default, Serialize)]
pub(crate) struct Charts {
    pub(crate) charts: Vec<Chart>,
    /// Marks behind those of every chart.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) shared: Vec<Mark>,
}

/// A chart.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Chart {
    pub(crate) title: String,
    /// A remark below the title; empty for none.
    #[serde(skip_serializing_if = "String::is_empty")]
    pub(crate) note: String,
    pub(crate) x: Axis,
    pub(crate) y: Axis,
    pub(crate) marks: Vec<Mark>,
}

/// An axis. Without ends it reaches around the values.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Axis {
    #[serde(skip_serializing_if = "String::is_empty")]
    label: String,
    measure: Measure,
    scale: Scale,
    /// Named places, in place of round values.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    names: Vec<(f64, String)>,
    #[serde(skip_serializing_if = "Option::is_none")]
    from: Option<f64>,
    #[serde(skip_serializing_if = "Option::is_none")]
    to: Option<f64>,
}

#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
enum Scale {
    Linear,
    Log,
    /// A row or column for each name: 0, 1, 2 …
    Band,
}

/// The kind of a value.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Measure {
    /// In a unit.
    In(Unit),
    /// The ratio of two values, shown as a change.
    Change,
}

impl Measure {
    /// Returns the kind of a metric's values, whose unit is named as in `experiment.json`.
    pub(crate) fn from_metric(unit: &str) -> Self {
        unit_from_name(unit).unwrap_or(Unit::Things).into()
    }
}

impl From<Unit> for Measure {
    fn from(unit: Unit) -> Self {
        Self::In(unit)
    }
}

impl Serialize for Measure {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::In(unit) => unit.serialize(serializer),
            Self::Change => serializer.serialize_str("change"),
        }
    }
}

/// The colour of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub(crate) enum Hue {
    /// One of several series, below [`Hue::SERIES`].
    Series(usize),
    /// A meaning: `good`, `warn`, `bad`, `soft`, `window`, `heat`.
    Named(&'static str),
}

impl Hue {
    /// Number of series that differ in colour.
    pub(crate) const SERIES: usize = 8;
    pub(crate) const GOOD: Self = Self::Named("good");
    pub(crate) const WARN: Self = Self::Named("warn");
    pub(crate) const BAD: Self = Self::Named("bad");
    pub(crate) const SOFT: Self = Self::Named("soft");
    pub(crate) const WINDOW: Self = Self::Named("window");

    /// Returns the colour of a series; colours repeat.
    pub(crate) fn series(number: usize) -> Self {
        Self::Series(number % Self::SERIES)
    }
}

/// The form of a mark.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum MarkKind {
    /// `y` against `x`; no value is a gap.
    Line,
    /// The same, where a value holds until the next one.
    Steps,
    /// Single points.
    Points,
    /// From `low` to `high` along the axis without bands, perhaps with an estimate.
    Intervals,
    /// From `low` or the bottom up to `y`.
    Bars,
    /// From `x` to `to` in row `y`; `value` decides the shade.
    Cells,
    /// Shaded from `x` to `to`.
    Spans,
}

/// Items of a form and colour, in columns of equal length. An empty column has nothing to say.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct Mark {
    pub(crate) kind: MarkKind,
    /// Name in the key; empty for none.
    pub(crate) name: String,
    pub(crate) hue: Hue,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) x: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) y: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) low: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) high: Vec<Option<f64>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) to: Vec<f64>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) value: Vec<f64>,
    /// Value of the deepest shade, which several charts may share.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) most: Option<f64>,
    /// Unit of `value`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) measure: Option<Measure>,
    /// What the tooltip says.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) text: Vec<String>,
    /// Addresses of pages about the items, relative to this page.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) link: Vec<String>,
    /// Items in doubt.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub(crate) hollow: Vec<bool>,
    /// The command that makes the page of a cell.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(crate) command: Option<CellCommand>,
}

/// A command for each cell of rows of time. The times of the cell follow `words`.
#[derive(Clone, Debug, Serialize)]
pub(crate) struct CellCommand {
    /// Beginning of the command line.
    pub(crate) words: String,
    /// Beginning of the name of its output file.
    pub(crate) file: String,
    /// Start of each row in seconds since 1970.
    pub(crate) rows: Vec<u64>,
}

impl Chart {
    /// Adds the marks of another chart of the same values. The axis ends where the longer one ends.
    pub(crate) fn join(&mut self, other: Self) {
        self.marks.extend(other.marks);
        self.x.to = self.x.to.zip(other.x.to).map(|(one, other)| one.max(other));
    }
}

impl Axis {
    /// Creates an axis with even steps.
    pub(crate) fn linear(measure: impl Into<Measure>) -> Self {
        Self::new(measure.into(), Scale::Linear)
    }

    /// Creates an axis of logarithms. Values that are not positive are left out.
    pub(crate) fn log(measure: impl Into<Measure>) -> Self {
        Self::new(measure.into(), Scale::Log)
    }

    /// Creates an axis with a band for each name.
    pub(crate) fn bands(names: impl IntoIterator<Item = String>) -> Self {
        let names = names.into_iter().enumerate().map(|(at, name)| (at as f64, name)).collect();
        Self { names, ..Self::new(Unit::Things.into(), Scale::Band) }
    }

    fn new(measure: Measure, scale: Scale) -> Self {
        Self { label: String::new(), measure, scale, names: Vec::new(), from: None, to: None }
    }

    /// Adds a label. Charts whose horizontal axes have the same label share their cursor.
    pub(crate) fn label(self, label: impl Into<String>) -> Self {
        Self { label: label.into(), ..self }
    }

    /// Names places, in place of round values.
    pub(crate) fn named(self, names: Vec<(f64, String)>) -> Self {
        Self { names, ..self }
    }

    /// Begins the axis at a value.
    pub(crate) fn from(self, from: f64) -> Self {
        Self { from: Some(from), ..self }
    }

    /// Ends the axis at a value.
    pub(crate) fn to(self, to: f64) -> Self {
        Self { to: Some(to), ..self }
    }

    /// Ends the axis at the last value.
    pub(crate) fn open(self) -> Self {
        Self { to: None, ..self }
    }
}

impl Mark {
    /// Creates a mark without items.
    pub(crate) fn new(kind: MarkKind, name: impl Into<String>, hue: Hue) -> Self {
        Self {
            kind,
            name: name.into(),
            hue,
            x: Vec::new(),
            y: Vec::new(),
            low: Vec::new(),
            high: Vec::new(),
            to: Vec::new(),
            value: Vec::new(),
            most: None,
            measure: None,
            text: Vec::new(),
            link: Vec::new(),
            hollow: Vec::new(),
            command: None,
        }
    }

    /// Creates a line through values at places.
    pub(crate) fn line(
        name: impl Into<String>,
        hue: Hue,
        x: impl IntoIterator<Item = f64>,
        y: Vec<Option<f64>>,
    ) -> Self {
        let x = x.into_iter().map(Some).collect();
        Self { x, y, ..Self::new(MarkKind::Line, name, hue) }
    }

    /// Adds a point with its text.
    pub(crate) fn point(&mut self, (x, y): (f64, f64), text: String, hollow: bool) {
        self.x.push(Some(x));
        self.y.push(Some(y));
        self.text.push(text);
        self.hollow.push(hollow);
    }

    /// Adds a span with its text.
    pub(crate) fn span(&mut self, from: f64, to: f64, text: String) {
        self.x.push(Some(from));
        self.to.push(to);
        self.text.push(text);
    }
}
