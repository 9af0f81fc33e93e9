//! The table for people.

use rabbitscope_text::{Align, grouped, grouped_rate, human_bytes, short_time, table};

use super::{
    compare::Likeness,
    figure::{Figure, Unit, Verdict},
};

impl Likeness {
    /// Returns a line for each figure, then the verdict in words.
    pub fn text(&self) -> String {
        let mut rows = Vec::new();
        for group in &self.groups {
            if group.figures.is_empty() {
                let differs = Verdict::Differs.as_str().to_owned();
                let missing = "not in the run".to_owned();
                let empty = String::new;
                rows.push([
                    group.group.clone(),
                    missing,
                    empty(),
                    empty(),
                    empty(),
                    empty(),
                    empty(),
                    differs,
                ]);
            }
            rows.extend(group.figures.iter().map(|figure| row(&group.group, figure)));
        }
        rows.extend(self.whole.iter().map(|figure| row("whole load", figure)));
        let columns = [
            ("group", Align::Left),
            ("figure", Align::Left),
            ("source", Align::Right),
            ("run", Align::Right),
            ("differ by", Align::Right),
            ("bar", Align::Right),
            ("noise", Align::Right),
            ("", Align::Left),
        ];
        let mut lines = vec![table(columns, &rows), String::new()];
        lines.extend(self.broker());
        lines.extend(self.not_compared.iter().map(|what| format!("not compared: {what}")));
        lines.push(self.sentence());
        lines.join("\n")
    }

    /// Names everything about the run's broker that differs from the source's, in one sentence.
    fn broker(&self) -> Option<String> {
        let differences = self.broker_differences.as_ref()?;
        let named: Vec<String> = differences
            .iter()
            .map(|of| format!("{} {}, not {}", of.name, of.run, of.source))
            .collect();
        let sentence = "another broker than the source's, so that times may differ: ";
        (!named.is_empty()).then(|| format!("{sentence}{}", named.join("; ")))
    }

    fn sentence(&self) -> String {
        match self.verdict {
            Verdict::NotJudged => "not judged: too few messages for all figures".to_owned(),
            Verdict::Alike => match self.figures(Verdict::NotJudged).len() {
                0 => "alike: all figures are within their bars or the source's noise".to_owned(),
                count => format!("alike, as far as judged: {count} figures need more messages"),
            },
            Verdict::Differs => {
                let of = self.figures(Verdict::Differs);
                let mut named: Vec<String> =
                    of.into_iter().map(|(group, figure)| format!("{group}: {figure}")).collect();
                let missing = self.groups.iter().filter(|group| group.figures.is_empty());
                named.extend(missing.map(|group| format!("{}: not in the run", group.group)));
                format!("different: {}", named.join(", "))
            }
        }
    }
}

fn row(group: &str, figure: &Figure) -> [String; 8] {
    let verdict = match figure.verdict {
        Verdict::NotJudged => {
            format!("not judged: {} of {} needed", grouped(figure.messages), grouped(figure.needed))
        }
        verdict => verdict.as_str().to_owned(),
    };
    [
        group.to_owned(),
        figure.name.to_owned(),
        value(figure.unit, figure.source),
        value(figure.unit, figure.run),
        difference(figure, figure.difference),
        difference(figure, figure.bar),
        difference(figure, figure.noise),
        verdict,
    ]
}

#[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "not negative")]
fn value(unit: Unit, value: f64) -> String {
    match unit {
        Unit::Number if value.fract() == 0.0 => grouped(value as u64),
        Unit::Number => format!("{value:.2}"),
        Unit::Rate if value < 100.0 => format!("{value:.2}/s"),
        Unit::Rate => format!("{}/s", grouped_rate(value)),
        Unit::Nanos => short_time(value as u64),
        Unit::Bytes => human_bytes(value.round() as u64),
        Unit::Share => format!("{:.1} %", 100.0 * value),
    }
}

/// Returns a distance of distributions as such, and other differences in percent.
fn difference(figure: &Figure, value: f64) -> String {
    if matches!(figure.name, "sizes" | "keys" | "gaps") {
        return format!("{value:.3}");
    }
    format!("{:.1} %", 100.0 * value)
}
