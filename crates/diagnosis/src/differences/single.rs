//! Differences of single figures.

use super::{
    model::{Difference, DifferenceKind, Noise, Pair, relative},
    noise::{Judge, by_threshold},
};
use crate::figures::{Figures, METRICS, Metric, Variation};

/// Values from which a figure of a file is none.
const MOST: f64 = 1e18;

/// The figures of two checks, and their durations in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Compared<'a> {
    pub(super) figures: [&'a Figures; 2],
    pub(super) seconds: [f64; 2],
}

/// Returns the number of figures that both checks have.
pub(super) fn common(compared: Compared<'_>) -> usize {
    METRICS.iter().filter(|metric| values(compared, metric).is_some()).count()
}

/// Returns the single figures that differ.
pub(super) fn differences(compared: Compared<'_>, judge: Judge) -> Vec<Difference> {
    METRICS.iter().filter_map(|metric| difference(compared, judge, metric)).collect()
}

fn difference(compared: Compared<'_>, judge: Judge, metric: &Metric) -> Option<Difference> {
    let values = values(compared, metric)?;
    let pair = judged(compared, judge, metric, values)?;
    let subject = (DifferenceKind::Node, String::new(), metric.id.title);
    Some(Difference::new(subject, metric.id, pair, weight(metric.variation) * relative(values)))
}

/// Judges a figure. Figures from samples have a known noise. The number of events is a lower bound of their noise, so it
/// can only show that a difference is none.
fn judged(compared: Compared<'_>, judge: Judge, metric: &Metric, values: [f64; 2]) -> Option<Pair> {
    let threshold = metric.variation.threshold();
    let counted = |exposures| judge.counted(values, exposures, threshold, metric.least);
    match metric.variation {
        Variation::Events => Some(Pair { noise: Noise::Unknown, ..counted(compared.seconds)? }),
        Variation::Sampled | Variation::SampledCost => match exposures(compared, metric, values) {
            Some(exposures) => counted(exposures),
            None => by_threshold(values, threshold, metric.least),
        },
        _ => by_threshold(values, threshold, metric.least),
    }
}

/// Returns the samples for each unit of the figure; absent without samples.
fn exposures(compared: Compared<'_>, metric: &Metric, values: [f64; 2]) -> Option<[f64; 2]> {
    let wholes = match metric.variation {
        Variation::SampledCost => values,
        _ => both(compared, "cpu.cores")?,
    };
    let samples = compared.figures.map(|figures| figures.samples as f64);
    let is_known = !wholes.contains(&0.0) && !samples.contains(&0.0);
    is_known.then(|| [samples[0] / wholes[0], samples[1] / wholes[1]])
}

fn values(compared: Compared<'_>, metric: &Metric) -> Option<[f64; 2]> {
    both(compared, metric.id.name)
}

/// Returns the values of a figure. A file may hold anything.
fn both(compared: Compared<'_>, name: &str) -> Option<[f64; 2]> {
    let value = |side: usize| {
        let value = compared.figures[side].values.get(name).copied();
        value.filter(|value| (0.0..MOST).contains(value))
    };
    Some([value(0)?, value(1)?])
}

/// Returns the importance of a figure in the ranking.
const fn weight(variation: Variation) -> f64 {
    match variation {
        Variation::Events | Variation::Median => 1.0,
        Variation::SampledCost => 0.9,
        Variation::Sampled => 0.7,
        Variation::Level | Variation::Loose | Variation::Momentary => 0.4,
    }
}
