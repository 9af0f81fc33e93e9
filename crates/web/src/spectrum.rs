//! Latencies by percentile, as far into the tail as they were measured.

use rabbitscope_runs::record::{RunRecord, SpectrumPoint};
use rabbitscope_text::Unit;

use crate::document::{Axis, Chart, Hue, Mark};

/// Percentiles with a name on the axis.
const NAMED: [f64; 6] = [0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999];

/// Returns the chart of every latency of a run; absent if nothing was measured.
pub(crate) fn spectrum(run: &RunRecord) -> Option<Chart> {
    let measured = run.latencies.iter().filter(|summary| !summary.spectrum.is_empty());
    let lines = measured
        .enumerate()
        .map(|(at, summary)| line(&summary.figures.name, Hue::series(at), &summary.spectrum));
    by_percentile("Latency by percentile, log scale", lines.collect())
}

/// Returns the line of a spectrum.
pub(crate) fn line(name: &str, hue: Hue, points: &[SpectrumPoint]) -> Mark {
    let values = points.iter().map(|point| Some(point.nanos as f64)).collect();
    let text = points.iter().map(|point| percentile(point.quantile)).collect();
    let places = points.iter().map(|point| nines(point.quantile));
    Mark { text, ..Mark::line(name, hue, places, values) }
}

/// Returns a chart of latencies on an axis on which each nine takes the same room; absent without lines.
pub(crate) fn by_percentile(title: &str, marks: Vec<Mark>) -> Option<Chart> {
    let most = marks.iter().flat_map(|mark| mark.x.iter().copied().flatten()).fold(0.0, f64::max);
    let named = NAMED.into_iter().filter(|quantile| nines(*quantile) <= most + 1e-9);
    let named = named.map(|quantile| (nines(quantile), percentile(quantile))).collect();
    let chart = Chart {
        title: title.to_owned(),
        note: String::new(),
        x: Axis::linear(Unit::Things).label("percentile").named(named),
        y: Axis::log(Unit::Nanos),
        marks,
    };
    (!chart.marks.is_empty()).then_some(chart)
}

/// Returns the place of a quantile: the median is at 0.3, p99 at 2, p99.99 at 4.
fn nines(quantile: f64) -> f64 {
    -(1.0 - quantile).max(1e-9).log10()
}

/// Writes a quantile as `p99.9`.
fn percentile(quantile: f64) -> String {
    let text = format!("{:.4}", 100.0 * quantile);
    format!("p{}", text.trim_end_matches('0').trim_end_matches('.'))
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::record::{LatencyFigures, LatencySummary, SpectrumPoint};

    use super::*;

    #[test]
    fn each_nine_takes_the_same_room() {
        let points = |quantiles: &[f64]| -> Vec<_> {
            quantiles
                .iter()
                .map(|quantile| SpectrumPoint { quantile: *quantile, nanos: 7 })
                .collect()
        };
        let of = |name: &str, quantiles: &[f64]| LatencySummary {
            figures: LatencyFigures { name: name.to_owned(), ..LatencyFigures::default() },
            spectrum: points(quantiles),
            ..LatencySummary::default()
        };
        let latencies = vec![of("a", &[0.5, 0.9]), of("b", &[0.5, 0.9, 0.999]), of("c", &[])];
        let run = RunRecord { latencies, ..RunRecord::default() };
        let json = serde_json::to_value(spectrum(&run)).unwrap();
        let names: Vec<_> =
            json["x"]["names"].as_array().unwrap().iter().map(|name| &name[1]).collect();
        assert_eq!(names, ["p50", "p90", "p99", "p99.9"]);
        let at = json["marks"][1]["x"].as_array().unwrap();
        let at: Vec<_> = at.iter().filter_map(serde_json::Value::as_f64).collect();
        assert!((at[2] - 3.0).abs() < 1e-9 && (at[1] - 1.0).abs() < 1e-9, "{at:?}");
        assert_eq!(json["marks"][0]["y"], serde_json::json!([7.0, 7.0]));
        assert_eq!(json["marks"].as_array().unwrap().len(), 2);
        assert!(spectrum(&RunRecord::default()).is_none());
    }
}
