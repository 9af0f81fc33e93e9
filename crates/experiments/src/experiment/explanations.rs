//! Explanations of a difference: the profiles and latencies of the counted rounds, arm by arm.

use std::path::{Path, PathBuf};

use rabbitscope_analysis::{ComparedNoise, RunPairing, experiment::median_spectrum, share};
use rabbitscope_artifacts::rundir;
use rabbitscope_files::Directory;
use rabbitscope_profiles::{ReadOptions, USUAL_PROFILE_BYTES};
use rabbitscope_runs::{
    experiment::{ArmLatency, ExperimentResult, FunctionChange, ProfileComparison, RunOfArm},
    record::{RunRecord, SpectrumPoint},
};

use super::directory::plain_name;
use crate::comparison::{Comparison, DiffPage};

const PAGES: &str = "profiles";

/// Number of an arm's profiles in a comparison, taken from the first rounds. All are in memory at once, and more would
/// hardly reveal further changes.
const MAX_PROFILES: usize = 64;

/// Adds the explanations to the result. Profiles that cannot be compared get the reason instead.
pub(super) fn explain(result: &mut ExperimentResult, directory: &Path) {
    // The latencies and the profile of a run with turns cover all arms together.
    if result.live_brokers.is_some() {
        return;
    }
    let rounds = Rounds::read(result, directory);
    result.latencies = (0..result.arms.len()).flat_map(|arm| rounds.latencies(arm)).collect();
    if !rounds.have_profiles() {
        return;
    }
    let compared = |arm: usize| {
        let name = &result.arms[arm].name;
        let page = format!("{PAGES}/{:02}-{}.html", arm + 1, plain_name(name));
        let names = [result.arms[0].name.as_str(), name];
        rounds.profiles(arm, names, &page).unwrap_or_else(|error| ProfileComparison {
            arm,
            refusal: format!("{error:#}"),
            ..ProfileComparison::default()
        })
    };
    result.profiles = (1..result.arms.len()).map(compared).collect();
}

/// The runs of the counted rounds, by arm, in the order of rounds.
struct Rounds<'a> {
    directory: &'a Path,
    arms: Vec<Vec<(PathBuf, RunRecord)>>,
}

impl<'a> Rounds<'a> {
    /// Reads the runs. A round counts here if the runs of all arms can be read, so that an index means the same round
    /// in every arm.
    fn read(result: &ExperimentResult, directory: &'a Path) -> Self {
        let read = |run: &RunOfArm| {
            let place = directory.join(&run.directory);
            rundir::read_record(&place).ok().flatten().map(|record| (place, record))
        };
        let mut arms = vec![Vec::new(); result.arms.len()];
        let last = result.runs.last().map_or(0, |run| run.round);
        for round in (1..=last).filter(|round| result.dropped.iter().all(|one| one.round != *round))
        {
            let of_arm = |arm: usize| {
                result.runs.iter().find(|run| run.round == round && run.arm == arm).and_then(read)
            };
            let runs: Option<Vec<_>> = (0..arms.len()).map(of_arm).collect();
            for (arm, run) in arms.iter_mut().zip(runs.into_iter().flatten()) {
                arm.push(run);
            }
        }
        Self { directory, arms }
    }

    fn have_profiles(&self) -> bool {
        self.arms.iter().flatten().any(|(_, record)| record.profile.is_some())
    }

    fn latencies(&self, arm: usize) -> Vec<ArmLatency> {
        let runs = &self.arms[arm];
        let Some((_, first)) = runs.first() else { return Vec::new() };
        let of = |name: &String| {
            let spectra: Vec<&[SpectrumPoint]> = runs
                .iter()
                .flat_map(|(_, record)| &record.latencies)
                .filter(|summary| summary.figures.name == *name && !summary.spectrum.is_empty())
                .map(|summary| summary.spectrum.as_slice())
                .collect();
            let spectrum = median_spectrum(&spectra);
            ArmLatency { arm, name: name.clone(), rounds: spectra.len(), spectrum }
        };
        let all = first.latencies.iter().map(|summary| of(&summary.figures.name));
        all.filter(|latency| !latency.spectrum.is_empty()).collect()
    }

    fn profiles(
        &self,
        arm: usize,
        [baseline, name]: [&str; 2],
        page: &str,
    ) -> anyhow::Result<ProfileComparison> {
        let pairs = self.arms[0].iter().zip(&self.arms[arm]);
        let with_profiles =
            pairs.filter(|((_, one), (_, other))| one.profile.is_some() && other.profile.is_some());
        let with_profiles = with_profiles.take(MAX_PROFILES);
        let (before, after): (Vec<PathBuf>, Vec<PathBuf>) =
            with_profiles.map(|((one, _), (other, _))| (one.clone(), other.clone())).unzip();
        let rounds = before.len();
        let sides = [(baseline, &before[..]), (name, &after[..])];
        let comparison = Comparison::read_runs(
            sides,
            RunPairing::Rounds,
            ReadOptions::within(USUAL_PROFILE_BYTES),
        )?;
        let place = self.directory.join(page);
        Directory::make(&self.directory.join(PAGES))?;
        DiffPage::check(&place)?.write(&comparison)?;
        let diff = comparison.diff();
        let overdispersion = match diff.noise {
            ComparedNoise::Sampling => 1.0,
            ComparedNoise::BetweenRuns { overdispersion, .. } => overdispersion,
        };
        let shares = |sides: rabbitscope_analysis::Sides| {
            [share(sides.before, diff.totals.before), share(sides.after, diff.totals.after)]
        };
        let changes = diff.changes.iter().filter(|change| change.is_beyond_noise());
        let changes = changes.map(|change| FunctionChange {
            function: change.name.clone(),
            own: shares(change.own),
            total: shares(change.total),
            moved: change.moved_in_words().to_owned(),
        });
        Ok(ProfileComparison {
            arm,
            event: diff.event.name().to_owned(),
            rounds,
            overdispersion,
            page: page.to_owned(),
            changes: changes.collect(),
            refusal: String::new(),
        })
    }
}
