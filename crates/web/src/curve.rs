//! The page of a search for the highest rate: latency against load, and its steps as a table.

use std::io::{self, Write};

use rabbitscope_runs::capacity::{Capacity, CapacityStep, StepVerdict};
use rabbitscope_text::Unit;

use crate::{
    document::{
        Axis, Block, Cell, Chart, Column, Content, Document, Hue, Mark, MarkKind, Section,
        Sentence, Table, Tone, report_of,
    },
    report::write_document,
};

/// A line of the chart: its name and its value.
type Line = (&'static str, fn(&CapacityStep) -> Option<u64>);

const LINES: [Line; 3] =
    [("p50", |step| step.p50), ("p99", |step| step.p99), ("p99.9", |step| step.p999)];

/// Writes the page.
pub fn write_curve(out: impl Write, capacity: &Capacity) -> io::Result<()> {
    write_document(out, &document(capacity))
}

fn document(capacity: &Capacity) -> Document {
    let mut steps: Vec<&CapacityStep> = capacity.steps.iter().collect();
    steps.sort_by(|one, other| one.offered.total_cmp(&other.offered));
    let sentence = Sentence::new(&capacity.sentence, Tone::Note);
    let mut sections =
        vec![Section::new("result", "", vec![Block::sentences("sentence", vec![sentence])])];
    sections.extend(curve(capacity, &steps));
    let table = Block::new("steps-table", Content::Table(table(&steps)));
    sections.push(Section::new("steps", "Steps", vec![table]));
    let limits = capacity.limits.join(", ");
    Document {
        title: format!("{}: latency against load", capacity.name),
        facts: vec![capacity.broker.clone(), limits],
        sections,
    }
}

/// Returns the chart of valid steps; absent if nothing was measured.
fn curve(capacity: &Capacity, steps: &[&CapacityStep]) -> Option<Section> {
    let valid: Vec<&CapacityStep> =
        steps.iter().copied().filter(|step| step.verdict.is_valid()).collect();
    let mut marks = rate(capacity);
    let is_measured = |(_, value): &Line| valid.iter().any(|step| value(step).is_some());
    let measured = LINES.iter().enumerate().filter(|(_, line)| is_measured(line));
    let lines: Vec<Mark> = measured.flat_map(|(at, line)| of_line(at, *line, &valid)).collect();
    (!lines.is_empty()).then_some(())?;
    marks.extend(lines);
    let latency = steps.first().map_or("", |step| step.latency.as_str());
    let chart = Chart {
        title: format!("{latency} latency, log scale"),
        note: String::new(),
        x: Axis::linear(Unit::PerSecond).label("offered, messages a second").from(0.0),
        y: Axis::log(Unit::Nanos),
        marks,
    };
    let intro = "Hollow: did not pass. Invalid steps are in the table only. A click on a point opens the report of \
                 its run.";
    let blocks = vec![Block::chart("curve-chart", chart)];
    Some(Section::new("curve", "Latency against load", blocks).explained(intro))
}

/// Returns the highest rate and the spread of its crossings.
fn rate(capacity: &Capacity) -> Vec<Mark> {
    let spread = capacity.spread.map(|spread| {
        let mut mark = Mark::new(MarkKind::Spans, "spread of the crossings", Hue::BAD);
        mark.span(spread.low, spread.high, "spread of the crossings".to_owned());
        mark
    });
    let rate = capacity.rate.map(|rate| {
        let mut mark = Mark::new(MarkKind::Spans, "highest rate", Hue::BAD);
        mark.span(rate, rate, "highest rate".to_owned());
        mark
    });
    spread.into_iter().chain(rate).collect()
}

fn of_line(at: usize, (name, value): Line, steps: &[&CapacityStep]) -> [Mark; 2] {
    let hue = Hue::series(at);
    let mut points = Mark::new(MarkKind::Points, name, hue);
    let mut line = Mark::new(MarkKind::Line, name, hue);
    for step in steps {
        let Some(nanos) = value(step) else { continue };
        let has_passed = step.verdict == StepVerdict::Passed;
        points.link.push(report_of(&step.directory));
        let words = format!("{name} at {:.0}/s", step.offered);
        points.point((step.offered, nanos as f64), words, !has_passed);
        line.x.push(Some(step.offered));
        line.y.push(Some(nanos as f64));
    }
    [line, points]
}

fn table(steps: &[&CapacityStep]) -> Table {
    let rate = |rate: f64| Cell::figure(rate, Unit::PerSecond);
    let row = |step: &&CapacityStep| {
        let verdict = match step.verdict {
            StepVerdict::Passed => "passed".to_owned(),
            _ => step.reasons.join("; "),
        };
        let latencies = LINES
            .iter()
            .map(|(_, value)| Cell::known(value(step).map(|nanos| nanos as f64), Unit::Nanos));
        [rate(step.offered).link(report_of(&step.directory)), rate(step.achieved)]
            .into_iter()
            .chain(latencies)
            .chain([rate(step.backlog_growth.max(0.0)), Cell::text(verdict)])
            .collect()
    };
    Table {
        label: "Steps",
        columns: vec![
            Column::text("offered"),
            Column::number("achieved"),
            Column::number("p50"),
            Column::number("p99"),
            Column::number("p99.9"),
            Column::number("backlog growth"),
            Column::text("verdict"),
        ],
        rows: steps.iter().map(row).collect(),
        ..Table::default()
    }
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::capacity::RateSpread;
    use serde_json::{Value, json};

    use super::*;

    fn step(offered: f64, nanos: Option<u64>, verdict: StepVerdict) -> CapacityStep {
        CapacityStep {
            offered,
            latency: "confirm-intended".to_owned(),
            p50: nanos,
            p99: nanos.map(|nanos| 10 * nanos),
            verdict,
            reasons: vec!["a < b".to_owned()],
            directory: "steps/01".to_owned(),
            ..CapacityStep::default()
        }
    }

    fn data(capacity: &Capacity) -> Value {
        serde_json::to_value(document(capacity)).unwrap()
    }

    #[test]
    fn every_step_is_drawn_and_listed() {
        let steps = vec![
            step(2000.0, Some(9_000_000), StepVerdict::Failed),
            step(1000.0, Some(800_000), StepVerdict::Passed),
        ];
        let data = data(&Capacity { name: "x & y".to_owned(), steps, ..Capacity::default() });
        let marks = &data["sections"][1]["blocks"][0]["charts"][0]["marks"];
        let points = |mark: &Value| mark["kind"] == "points";
        let points: Vec<&Value> =
            marks.as_array().unwrap().iter().filter(|mark| points(mark)).collect();
        assert_eq!(points.len(), 2, "p50 and p99");
        for mark in points {
            assert_eq!(mark["x"], json!([1000.0, 2000.0]), "in the order of the rates");
            assert_eq!(mark["hollow"], json!([false, true]));
            assert_eq!(mark["link"][0], "steps/01/report.html");
        }
        let rows = &data["sections"][2]["blocks"][0]["rows"];
        assert_eq!((&rows[0][0]["value"], &rows[1][0]["value"]), (&json!(1000.0), &json!(2000.0)));
        assert_eq!((&rows[0][6]["text"], &rows[1][6]["text"]), (&json!("passed"), &json!("a < b")));
    }

    #[test]
    fn the_spread_is_drawn_and_what_is_not_valid_is_not() {
        let spread = RateSpread { low: 1000.0, high: 1100.0, crossings: 7, share: 0.1 };
        let steps = vec![
            step(1000.0, Some(800_000), StepVerdict::Passed),
            step(1100.0, Some(9_000_000), StepVerdict::Stalled),
        ];
        let spread = Some(spread);
        let data = data(&Capacity { steps, spread, rate: Some(1050.0), ..Capacity::default() });
        let marks = &data["sections"][1]["blocks"][0]["charts"][0]["marks"];
        assert_eq!((&marks[0]["x"], &marks[0]["to"]), (&json!([1000.0]), &json!([1100.0])));
        assert_eq!(marks[1]["x"], json!([1050.0]));
        assert_eq!(marks[3]["x"], json!([1000.0]), "the stalled step is no point");
        assert_eq!(data["sections"][2]["blocks"][0]["rows"].as_array().unwrap().len(), 2);
    }

    #[test]
    fn nothing_measured_is_a_page_too() {
        let steps = vec![step(1000.0, None, StepVerdict::Failed)];
        let data = data(&Capacity { steps, ..Capacity::default() });
        assert_eq!(data["sections"].as_array().unwrap().len(), 2, "no chart");
        assert_eq!(data["sections"][1]["blocks"][0]["rows"][0][2]["text"], "–");
        write_curve(Vec::new(), &Capacity::default()).unwrap();
    }
}
