//! Latencies by percentile, as far into the tail as they were measured.

use rabbitscope_runs::record::RunRecord;
use serde::Serialize;

/// Every latency of a run on one axis, on which each nine takes the same room: `-log10(1 - quantile)`, 0.3 for the
/// median, 2 for p99, 4 for p99.99.
#[derive(Serialize)]
pub(crate) struct Spectrum {
    at: Vec<f64>,
    /// Names of the places of `at`.
    names: Vec<String>,
    lines: Vec<SpectrumLine>,
}

#[derive(Serialize)]
struct SpectrumLine {
    name: String,
    /// Nanoseconds; absent if there were too few measurements.
    values: Vec<Option<u64>>,
}

/// Returns the spectrum; absent if nothing was measured.
pub(crate) fn spectrum(run: &RunRecord) -> Option<Spectrum> {
    let measured = || run.latencies.iter().filter(|summary| !summary.spectrum.is_empty());
    let longest = measured().max_by_key(|summary| summary.spectrum.len())?;
    let quantiles: Vec<f64> = longest.spectrum.iter().map(|point| point.quantile).collect();
    let lines = measured().map(|summary| {
        let value = |index: usize| summary.spectrum.get(index).map(|point| point.nanos);
        let values = (0..quantiles.len()).map(value).collect();
        SpectrumLine { name: summary.figures.name.clone(), values }
    });
    Some(Spectrum {
        at: quantiles.iter().map(|quantile| -(1.0 - quantile).log10()).collect(),
        names: quantiles.iter().map(|quantile| percentile(*quantile)).collect(),
        lines: lines.collect(),
    })
}

/// Writes a quantile as `p99.9`.
pub(crate) fn percentile(quantile: f64) -> String {
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
        assert_eq!(json["names"], serde_json::json!(["p50", "p90", "p99.9"]));
        let at: Vec<_> =
            json["at"].as_array().unwrap().iter().filter_map(serde_json::Value::as_f64).collect();
        assert!((at[2] - 3.0).abs() < 1e-9 && (at[1] - 1.0).abs() < 1e-9, "{at:?}");
        assert_eq!(json["lines"][0]["values"], serde_json::json!([7, 7, null]));
        assert_eq!(json["lines"].as_array().unwrap().len(), 2);
        assert!(spectrum(&RunRecord::default()).is_none());
    }
}
