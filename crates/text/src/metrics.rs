//! Metrics in Prometheus' text format, version 0.0.4: <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::{
    borrow::Cow,
    fmt::{self, Write},
};

/// Media type of the format.
pub const CONTENT_TYPE: &str = "text/plain; version=0.0.4; charset=utf-8";

/// Prefix of all metrics of the program.
const PREFIX: &str = "rabbitscope_";

/// A metric: its name without `rabbitscope_`, its type and its description.
#[derive(Clone, Copy, Debug)]
pub struct Family<'a> {
    /// Name with unit, such as `latency_seconds`.
    pub name: &'a str,
    /// `counter`, `gauge` or `histogram`.
    pub kind: &'static str,
    /// Description, one sentence.
    pub help: &'a str,
}

/// A value with its labels. The suffix is appended to the family's name.
#[derive(Clone, Debug)]
pub struct Sample<'a> {
    suffix: &'static str,
    labels: Vec<(&'static str, Cow<'a, str>)>,
    value: f64,
}

impl<'a> Sample<'a> {
    /// Creates a value without labels.
    pub fn new(value: f64) -> Self {
        Self { suffix: "", labels: Vec::new(), value }
    }

    /// Adds a label.
    #[must_use]
    pub fn with(mut self, label: &'static str, value: impl Into<Cow<'a, str>>) -> Self {
        self.labels.push((label, value.into()));
        self
    }

    /// Adds a suffix to the family's name, such as `_sum`.
    #[must_use]
    pub fn suffixed(self, suffix: &'static str) -> Self {
        Self { suffix, ..self }
    }

    fn write(&self, out: &mut impl Write, family: &str) -> fmt::Result {
        write!(out, "{PREFIX}{family}{}", self.suffix)?;
        for (index, (label, value)) in self.labels.iter().enumerate() {
            out.write_str(if index == 0 { "{" } else { "," })?;
            write!(out, "{label}=\"{}\"", Escaped(value))?;
        }
        out.write_str(if self.labels.is_empty() { " " } else { "} " })?;
        writeln!(out, "{}", self.value)
    }
}

/// Writes a family: description, type and samples.
pub fn write_family<'a>(
    out: &mut impl Write,
    family: Family<'_>,
    samples: impl IntoIterator<Item = Sample<'a>>,
) -> fmt::Result {
    let Family { name, kind, help } = family;
    writeln!(out, "# HELP {PREFIX}{name} {help}\n# TYPE {PREFIX}{name} {kind}")?;
    samples.into_iter().try_for_each(|sample| sample.write(out, name))
}

struct Escaped<'a>(&'a str);

impl fmt::Display for Escaped<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for character in self.0.chars() {
            match character {
                '\\' => f.write_str("\\\\")?,
                '"' => f.write_str("\\\"")?,
                '\n' => f.write_str("\\n")?,
                _ => f.write_char(character)?,
            }
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn labels_are_escaped() {
        let samples = vec![
            Sample::new(1.5).with("a", "b\"c\\d\ne").with("f", ""),
            Sample::new(2.0).suffixed("_sum"),
        ];
        let expected = "# HELP rabbitscope_x_total All.\n# TYPE rabbitscope_x_total counter\n\
                        rabbitscope_x_total{a=\"b\\\"c\\\\d\\ne\",f=\"\"} 1.5\n\
                        rabbitscope_x_total_sum 2\n";
        let mut text = String::new();
        let family = Family { name: "x_total", kind: "counter", help: "All." };
        write_family(&mut text, family, samples).unwrap();
        assert_eq!(text, expected);
    }
}
