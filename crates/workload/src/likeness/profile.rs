//! The CPU profile of the broker's node: shares by function and by module, and their overlap.

use std::collections::{BTreeMap, BTreeSet};

use serde::{Deserialize, Serialize};

use super::figure::{Difference, Figure, Unit};

/// Samples that an overlap needs at least. Names that few samples have not shown yet hide the noise from its estimate.
const FUNCTION_SAMPLES: f64 = 11_000.0;
const MODULE_SAMPLES: f64 = 3_600.0;
/// Bars of the missing overlap.
const FUNCTION_BAR: f64 = 0.1;
const MODULE_BAR: f64 = 0.05;

/// CPU samples by the function that they belong to: the innermost Erlang function, else the innermost of all.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct ProfileShares {
    /// Samples of two halves of the recording, which take turns in time, by function: `module:function/arity`, or the
    /// name of native code.
    functions: BTreeMap<String, [u64; 2]>,
}

impl ProfileShares {
    /// Samples per second on each CPU, of the source and of the run.
    pub const FREQUENCY_HZ: u32 = 999;

    /// Adds samples of a function to one of the halves.
    pub fn add(&mut self, function: &str, half: usize, samples: u64) {
        if samples > 0 {
            self.functions.entry(function.to_owned()).or_default()[half % 2] += samples;
        }
    }

    /// Returns the number of samples.
    pub fn samples(&self) -> u64 {
        self.functions.values().flatten().sum()
    }

    fn by_module(&self) -> Self {
        let mut modules = Self::default();
        for (function, halves) in &self.functions {
            for (half, samples) in halves.iter().enumerate() {
                modules.add(module(function), half, *samples);
            }
        }
        modules
    }

    /// Returns the share of each name in both halves together.
    fn shares(&self) -> BTreeMap<&str, f64> {
        let all = self.samples().max(1) as f64;
        let share = |[one, other]: &[u64; 2]| (one + other) as f64 / all;
        self.functions.iter().map(|(name, halves)| (name.as_str(), share(halves))).collect()
    }

    /// Returns the overlap of both halves, and the samples of each.
    fn halves(&self) -> (f64, [f64; 2]) {
        let sum = |half: usize| self.functions.values().map(|of| of[half]).sum::<u64>() as f64;
        let sums = [sum(0), sum(1)];
        let share = |of: &[u64; 2], half: usize| of[half] as f64 / sums[half].max(1.0);
        let common = self.functions.values().map(|of| share(of, 0).min(share(of, 1)));
        (common.sum(), sums)
    }
}

/// Returns the module of an Erlang function. All other code is one module.
fn module(function: &str) -> &str {
    let is_erlang = function.contains(':') && function.contains('/') && !function.contains("::");
    match function.split_once(':') {
        Some((module, _)) if is_erlang => module,
        _ => "native code",
    }
}

/// Compares both profiles by module and by function.
pub(super) fn figures(source: &ProfileShares, run: &ProfileShares) -> [Figure; 2] {
    let modules = (source.by_module(), run.by_module());
    [
        overlap("profile by module", (&modules.0, &modules.1), (MODULE_BAR, MODULE_SAMPLES)),
        overlap("profile by function", (source, run), (FUNCTION_BAR, FUNCTION_SAMPLES)),
    ]
}

/// Judges the overlap in relation to the one that two recordings of the source would have.
fn overlap(
    name: &'static str,
    (source, run): (&ProfileShares, &ProfileShares),
    (bar, needed): (f64, f64),
) -> Figure {
    let (one, other) = (source.shares(), run.shares());
    let names: BTreeSet<&str> = one.keys().chain(other.keys()).copied().collect();
    let share = |of: &BTreeMap<&str, f64>, name| of.get(name).copied().unwrap_or(0.0);
    let common: f64 = names.iter().map(|name| share(&one, name).min(share(&other, name))).sum();
    let sizes = [source.samples() as f64, run.samples() as f64];
    let expected = expected(source, sizes);
    let number = source.samples().min(run.samples());
    // Two samples of one profile miss the sum of √(p / π n) of their overlap.
    let roots: f64 = one.values().map(|share| (share / core::f64::consts::PI).sqrt()).sum();
    let by_chance = roots * pair(sizes).sqrt();
    let by_few = bar * (needed / number.max(1) as f64).sqrt();
    let distance = if number == 0 { f64::NAN } else { (1.0 - common / expected).max(0.0) };
    let of = Difference {
        distance,
        bar,
        between_blocks: 0.0,
        by_number: if number as f64 >= needed { by_chance } else { by_chance.max(by_few) },
        number,
    };
    Figure::new(name, Unit::Share, (expected, common), of)
}

/// Returns the overlap of two recordings of these sizes of one source, from that of its halves: what they miss falls with
/// the square root of the samples.
fn expected(source: &ProfileShares, sizes: [f64; 2]) -> f64 {
    let (overlap, halves) = source.halves();
    let missing = (1.0 - overlap) * (pair(sizes) / pair(halves)).sqrt();
    (1.0 - missing).clamp(0.05, 1.0)
}

/// Returns the inverse of the size of a sample that is as noisy as a pair of these sizes.
fn pair(sizes: [f64; 2]) -> f64 {
    sizes.into_iter().map(|size| 0.5 / size.max(1.0)).sum()
}

#[cfg(test)]
mod tests {
    use rabbitscope_runs::Random;

    use super::{super::figure::Verdict, *};

    /// Draws a recording of 300 functions in 60 modules, the more frequent ones with more samples. `moved` is the share
    /// of samples that belong to another function than the source's.
    fn recording(seed: u64, samples: u64, moved: f64) -> ProfileShares {
        let mut random = Random::new(seed);
        let weights: Vec<f64> = (1..=300).map(|rank| 1.0 / f64::from(rank)).collect();
        let all: f64 = weights.iter().sum();
        let mut shares = ProfileShares::default();
        let mut part = || random.below(1 << 40) as f64 / (1_u64 << 40) as f64;
        for number in 0..samples {
            let (mut left, is_moved) = (part() * all, part() < moved);
            let drawn = weights.iter().position(|weight| {
                left -= weight;
                left < 0.0
            });
            let drawn = drawn.unwrap_or(0);
            let function = if is_moved {
                format!("other_{}:f/1", drawn % 60)
            } else {
                format!("module_{}:function_{drawn}/2", drawn % 60)
            };
            shares.add(&function, usize::try_from(number % 2).unwrap(), 1);
        }
        shares
    }

    #[track_caller]
    fn check(source: &ProfileShares, run: &ProfileShares, expected: [Verdict; 2]) {
        let found = figures(source, run);
        assert_eq!([found[0].verdict(), found[1].verdict()], expected, "{found:#?}");
    }

    #[test]
    fn equal_profiles_are_alike_with_enough_samples() {
        use Verdict::{Alike, NotJudged};
        let source = recording(1, 15_000, 0.0);
        for seed in 2..5 {
            check(&source, &recording(seed, 15_000, 0.0), [Alike, Alike]);
        }
        check(&source, &recording(7, 6_000, 0.0), [Alike, NotJudged]);
        check(&source, &recording(8, 1_000, 0.0), [NotJudged, NotJudged]);
        check(&recording(9, 1_000, 0.0), &recording(10, 1_000, 0.0), [NotJudged, NotJudged]);
        check(&source, &ProfileShares::default(), [NotJudged, NotJudged]);
    }

    #[test]
    fn different_profiles_differ_also_with_few_samples() {
        use Verdict::Differs;
        let source = recording(1, 15_000, 0.0);
        for seed in 2..5 {
            check(&source, &recording(seed, 15_000, 0.15), [Differs, Differs]);
        }
        check(&source, &recording(6, 1_000, 0.9), [Differs, Differs]);
        // A tenth of the samples elsewhere, some of which chance would miss: beyond the bar of modules alone.
        check(&source, &recording(5, 15_000, 0.1), [Differs, Verdict::Alike]);
    }

    #[test]
    fn equal_profiles_differ_in_a_twentieth_of_pairs_at_most() {
        for samples in [200, 600, 2_000, 5_000] {
            let differ = (0..40).filter(|pair| {
                let (source, run) =
                    (recording(100 + pair, samples, 0.0), recording(900 + pair, samples, 0.0));
                figures(&source, &run).iter().any(|figure| figure.verdict() == Verdict::Differs)
            });
            let differ = differ.count();
            assert!(differ <= 2, "{differ} of 40 with {samples} samples");
        }
    }

    #[test]
    fn modules_are_those_of_erlang_functions() {
        assert_eq!(module("rabbit_channel:handle_method/3"), "rabbit_channel");
        assert_eq!(module("'Elixir.A.B':f/1"), "'Elixir.A.B'");
        assert_eq!(module("global::call_bif"), "native code");
        assert_eq!(module("do_syscall_64"), "native code");
    }

    #[test]
    fn the_need_for_samples_is_that_of_the_noise() {
        let [modules, functions] = figures(&recording(1, 1_000, 0.0), &recording(2, 1_000, 0.0));
        assert!((11_000..14_000).contains(&functions.needed), "{functions:?}");
        assert!((3_600..11_000).contains(&modules.needed), "{modules:?}");
    }
}
