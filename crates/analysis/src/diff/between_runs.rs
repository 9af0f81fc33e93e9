//! The noise between runs, and the changes of shares that exceed it.
//!
//! The sides of the runs are relabelled, in pairs or freely, as they might have been drawn. A change counts if its
//! t-statistic exceeds the largest one of all functions in all but 5 % of the relabellings (Westfall and Young 1993).
//! This holds for noise of any shape, and for any dependence between functions.

use std::collections::HashMap;

use rabbitscope_profiles::{FrameId, FrameTable, Profile};

use super::{
    Evidence,
    relabelling::{Relabellings, RunPairing},
    rows::rows_by_frame,
};

/// Share of comparisons of equal runs in which anything is marked.
pub const FAMILY_ERROR_RATE_OF_RUNS: f64 = 0.05;

/// Profiles of several runs on both sides.
#[derive(Clone, Copy, Debug)]
pub struct RunProfiles<'a> {
    /// Runs of the first side.
    pub before: &'a [Profile],
    /// Runs of the second side.
    pub after: &'a [Profile],
    /// The pairing of the runs.
    pub pairing: RunPairing,
}

impl RunProfiles<'_> {
    pub(super) fn counts(&self) -> [usize; 2] {
        [self.before.len(), self.after.len()]
    }

    pub(super) fn relabellings(&self) -> Option<Relabellings> {
        Relabellings::new(self.counts(), self.pairing, FAMILY_ERROR_RATE_OF_RUNS)
    }

    /// Returns the evidence about the own and the total share of each function, in the order of `functions`.
    pub(super) fn evidence(
        &self,
        relabellings: &Relabellings,
        functions: &[FrameId],
        frames: &mut FrameTable,
    ) -> Vec<[Evidence; 2]> {
        let [before, after] = [self.before, self.after].map(|side| shares(side, frames));
        let values = |function: &FrameId, share: usize| {
            let of_run =
                |run: &HashMap<FrameId, [f64; 2]>| run.get(function).map_or(0.0, |row| row[share]);
            let sides = [&before, &after].map(|side| side.iter().map(of_run).collect::<Vec<f64>>());
            comparable(sides, self.pairing)
        };
        let all: Vec<Vec<f64>> = functions
            .iter()
            .flat_map(|function| [values(function, 0), values(function, 1)])
            .collect();
        let is_beyond = beyond_the_largest(&all, relabellings, self.smallest_share());
        let evidence = |is: &bool| if *is { Evidence::BeyondNoise } else { Evidence::WithinNoise };
        is_beyond.chunks(2).map(|pair| [evidence(&pair[0]), evidence(&pair[1])]).collect()
    }

    /// Returns the largest overdispersion of total shares between runs of one side, over functions with 1 % or more. It
    /// is the factor by which samples count less in a judgement of the merged profiles.
    pub(super) fn overdispersion(&self, functions: &[FrameId], frames: &mut FrameTable) -> f64 {
        let mut factor: f64 = 1.0;
        for side in [self.before, self.after] {
            let shares = shares(side, frames);
            let samples =
                side.iter().map(Profile::total).sum::<u64>() as f64 / side.len().max(1) as f64;
            for function in functions {
                let totals: Vec<f64> =
                    shares.iter().map(|run| run.get(function).map_or(0.0, |row| row[1])).collect();
                let (mean, variance) = moments(&totals);
                if (0.01..0.99).contains(&mean) {
                    factor = factor.max(variance * samples / (mean * (1.0 - mean)));
                }
            }
        }
        factor
    }

    /// The share of one sample in the shortest run. Smaller differences cannot be told from rounding.
    fn smallest_share(&self) -> f64 {
        let totals = self.before.iter().chain(self.after).map(Profile::total);
        1.0 / totals.min().unwrap_or(0).max(1) as f64
    }
}

/// Own and total share of each function in each run.
fn shares(side: &[Profile], frames: &mut FrameTable) -> Vec<HashMap<FrameId, [f64; 2]>> {
    let of_run = |profile: &Profile| {
        let whole = profile.total().max(1) as f64;
        let rows = rows_by_frame(profile, frames).into_iter();
        rows.map(|(id, (own, total))| (id, [own as f64 / whole, total as f64 / whole])).collect()
    };
    side.iter().map(of_run).collect()
}

/// Differences of rounds, or the values of all runs minus their mean.
fn comparable([before, after]: [Vec<f64>; 2], pairing: RunPairing) -> Vec<f64> {
    match pairing {
        RunPairing::Rounds => {
            after.iter().zip(&before).map(|(after, before)| after - before).collect()
        }
        RunPairing::None => {
            let all = [before, after].concat();
            let (mean, _) = moments(&all);
            all.into_iter().map(|value| value - mean).collect()
        }
    }
}

fn moments(values: &[f64]) -> (f64, f64) {
    let count = values.len().max(1) as f64;
    let mean = values.iter().sum::<f64>() / count;
    let squares: f64 = values.iter().map(|value| (value - mean).powi(2)).sum();
    (mean, squares / (count - 1.0).max(1.0))
}

/// Tests each hypothesis: its statistic must be reached by the largest of all in few relabellings only.
fn beyond_the_largest(values: &[Vec<f64>], relabellings: &Relabellings, floor: f64) -> Vec<bool> {
    let squares: Vec<f64> =
        values.iter().map(|values| values.iter().map(|value| value * value).sum()).collect();
    let statistic = |index: usize, weights: &[f64]| {
        let sum: f64 =
            values[index].iter().zip(weights).map(|(value, weight)| value * weight).sum();
        let within = (squares[index] - sum * sum * relabellings.factor).max(0.0);
        let error = (within / relabellings.degrees_of_freedom * relabellings.factor).sqrt();
        sum.abs() * relabellings.factor / (error + floor)
    };
    let largest = |weights: &Vec<f64>| {
        (0..values.len()).map(|index| statistic(index, weights)).fold(0.0, f64::max)
    };
    let mut maxima: Vec<f64> = relabellings.weights.iter().map(largest).collect();
    maxima.sort_unstable_by(f64::total_cmp);
    let original = &relabellings.weights[0];
    let is_beyond = |index: usize| {
        // Sums in a different order differ in their last digits.
        let reached = statistic(index, original) * (1.0 - 1e-9);
        let as_large = maxima.len() - maxima.partition_point(|maximum| *maximum < reached);
        as_large as f64 <= FAMILY_ERROR_RATE_OF_RUNS * maxima.len() as f64
    };
    (0..values.len()).map(is_beyond).collect()
}
