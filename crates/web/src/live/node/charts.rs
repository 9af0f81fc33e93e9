//! Charts of a node over time. Their marks are fixed, so that each second adds a value to every one of them.

use rabbitscope_runs::record::{NodeFigure, NodeFigures};
use rabbitscope_text::Unit;

use super::second::NodeSecond;
use crate::document::{Axis, Chart, Charts, Hue, Mark, MarkKind};

/// Id of the block with the charts.
pub(super) const CHARTS: &str = "charts";

/// Reads the value of a line.
type Value = Box<dyn Fn(&NodeSecond) -> Option<f64>>;

/// A line of a chart.
struct Line {
    name: &'static str,
    value: Value,
}

/// A chart and its lines.
struct Drawn {
    title: &'static str,
    unit: Unit,
    lines: Vec<Line>,
}

/// Returns all charts without values.
pub(super) fn charts() -> Charts {
    let chart = |drawn: Drawn| {
        let lines = drawn.lines.iter().enumerate();
        let mark =
            |(at, line): (usize, &Line)| Mark::new(MarkKind::Line, line.name, Hue::series(at));
        Chart {
            title: drawn.title.to_owned(),
            note: String::new(),
            x: Axis::linear(Unit::Nanos).label("since the page began").from(0.0),
            y: Axis::linear(drawn.unit).from(0.0),
            marks: lines.map(mark).collect(),
        }
    };
    Charts { charts: drawn().into_iter().map(chart).collect(), shared: Vec::new() }
}

/// Returns the value of every mark, by chart.
pub(super) fn values(second: &NodeSecond) -> Vec<Vec<Option<f64>>> {
    let of_chart = |drawn: Drawn| drawn.lines.iter().map(|line| (line.value)(second)).collect();
    drawn().into_iter().map(of_chart).collect()
}

/// Returns the charts in the order of the page. Those from inside the node are the ones of a run.
fn drawn() -> Vec<Drawn> {
    let own = [
        Drawn {
            title: "Messages a second",
            unit: Unit::PerSecond,
            lines: vec![
                line("published", |second| second.rates.published),
                line("confirmed", |second| second.rates.confirmed),
                line("delivered", |second| second.rates.delivered),
                line("acknowledged", |second| second.rates.acknowledged),
            ],
        },
        Drawn {
            title: "CPU of the node, cores",
            unit: Unit::Cores,
            lines: vec![line("CPU", |second| second.cpu_cores)],
        },
        Drawn {
            title: "Resident memory of the node",
            unit: Unit::Bytes,
            lines: vec![line("resident", |second| Some(second.resident_bytes? as f64))],
        },
        Drawn {
            title: "Descriptors of the node",
            unit: Unit::Things,
            lines: vec![line("open", |second| Some(second.descriptors?.used as f64))],
        },
    ];
    let inside = NodeFigures::ALL.chunk_by(|one, other| one.chart == other.chart);
    own.into_iter().chain(inside.map(of_figures)).collect()
}

fn of_figures(figures: &'static [NodeFigure]) -> Drawn {
    let of_figure = |figure: &'static NodeFigure| {
        line(figure.id.title, |second| Some((figure.value)(&second.figures)? as f64))
    };
    let (title, unit) = (figures[0].chart, figures[0].id.unit);
    Drawn { title, unit, lines: figures.iter().map(of_figure).collect() }
}

fn line(name: &'static str, value: impl Fn(&NodeSecond) -> Option<f64> + 'static) -> Line {
    Line { name, value: Box::new(value) }
}

#[cfg(test)]
mod tests {
    use rabbitscope_diagnosis::MessageRates;

    use super::*;

    #[test]
    fn every_mark_has_a_value() {
        let second = NodeSecond {
            rates: MessageRates { published: Some(5.0), ..MessageRates::default() },
            figures: NodeFigures { ready: Some(3), ..NodeFigures::default() },
            ..NodeSecond::default()
        };
        let (charts, values) = (charts().charts, values(&second));
        let marks = |chart: &Chart| chart.marks.len();
        let lengths: Vec<usize> = values.iter().map(Vec::len).collect();
        assert_eq!(charts.iter().map(marks).collect::<Vec<_>>(), lengths);
        let known: Vec<(&str, &str, f64)> = charts
            .iter()
            .zip(&values)
            .flat_map(|(chart, values)| {
                let marks = chart.marks.iter().zip(values);
                marks.filter_map(|(mark, value)| Some((&*chart.title, &*mark.name, (*value)?)))
            })
            .collect();
        let expected =
            [("Messages a second", "published", 5.0), ("Node: messages in queues", "ready", 3.0)];
        assert_eq!(known, expected);
    }
}
