//! Prometheus' text form, version 0.0.4:
//! <https://prometheus.io/docs/instrumenting/exposition_formats/>.

use std::fmt::{self, Write};

/// One value with its labels; the suffix is appended to the name of the family.
#[derive(Clone, Debug)]
pub(super) struct Sample {
    pub(super) suffix: &'static str,
    pub(super) labels: Vec<(&'static str, String)>,
    pub(super) value: f64,
}

impl Sample {
    pub(super) fn new(value: f64) -> Self {
        Self { suffix: "", labels: Vec::new(), value }
    }

    pub(super) fn with(mut self, label: &'static str, value: impl Into<String>) -> Self {
        self.labels.push((label, value.into()));
        self
    }

    pub(super) fn suffixed(self, suffix: &'static str) -> Self {
        Self { suffix, ..self }
    }
}

/// Writes a family: its help, its type and its samples. Nothing for a family without samples.
pub(super) fn family(
    out: &mut fmt::Formatter<'_>,
    (name, kind, help): (&str, &str, &str),
    samples: &[Sample],
) -> fmt::Result {
    if samples.is_empty() {
        return Ok(());
    }
    writeln!(out, "# HELP rabbitscope_{name} {help}\n# TYPE rabbitscope_{name} {kind}")?;
    for sample in samples {
        write!(out, "rabbitscope_{name}{}", sample.suffix)?;
        for (index, (label, value)) in sample.labels.iter().enumerate() {
            out.write_str(if index == 0 { "{" } else { "," })?;
            write!(out, "{label}=\"{}\"", Escaped(value))?;
        }
        out.write_str(if sample.labels.is_empty() { " " } else { "} " })?;
        writeln!(out, "{}", sample.value)?;
    }
    Ok(())
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

    struct Family(Vec<Sample>);

    impl fmt::Display for Family {
        fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
            family(f, ("x_total", "counter", "All."), &self.0)
        }
    }

    #[test]
    fn labels_are_escaped() {
        let samples = vec![
            Sample::new(1.5).with("a", "b\"c\\d\ne").with("f", ""),
            Sample::new(2.0).suffixed("_sum"),
        ];
        let expected = "# HELP rabbitscope_x_total All.\n# TYPE rabbitscope_x_total counter\n\
                        rabbitscope_x_total{a=\"b\\\"c\\\\d\\ne\",f=\"\"} 1.5\n\
                        rabbitscope_x_total_sum 2\n";
        assert_eq!(Family(samples).to_string(), expected);
        assert_eq!(Family(Vec::new()).to_string(), "");
    }
}
