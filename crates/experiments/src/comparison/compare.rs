//! The comparison of two recordings.

use rabbitscope_analysis::{MessagesDuring, ProfileDiff, RunPairing, RunProfiles, shown_part};
use rabbitscope_artifacts::{rundir, source::read_profile};
use rabbitscope_profiles::{Profile, ReadOptions};
use rabbitscope_terminal::UsageError;
use rabbitscope_web::CostOfMessages;
use std::path::{Path, PathBuf};

/// Two profiles and the changes between them.
pub struct Comparison {
    pub(super) before: ComparedProfile,
    pub(super) after: ComparedProfile,
    pub(super) diff: ProfileDiff,
    pub(super) cost: Option<CostOfMessages>,
}

pub(super) struct ComparedProfile {
    pub(super) name: String,
    pub(super) profile: Profile,
    /// The messages of a run during the recording.
    pub(super) messages: Option<MessagesDuring>,
}

impl ComparedProfile {
    fn read(input: &Path, options: ReadOptions<'_>) -> anyhow::Result<Self> {
        let name = input.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| input.display().to_string());
        let profile = shown_part(&read_profile(input, options)?).into_owned();
        let messages = if input.is_dir() { rundir::messages_during_profile(input)? } else { None };
        Ok(Self { name, profile, messages })
    }
}

impl Comparison {
    /// Reads both profiles. Profiles that cannot be compared are an error of usage.
    pub fn read(before: &Path, after: &Path, options: ReadOptions<'_>) -> anyhow::Result<Self> {
        let (before, after) =
            (ComparedProfile::read(before, options)?, ComparedProfile::read(after, options)?);
        let diff = ProfileDiff::between(&before.profile, &after.profile)
            .map_err(|error| UsageError(error.to_string()))?;
        let cost = cost(&before, &after);
        Ok(Self { before, after, diff, cost })
    }

    /// Returns the changes.
    pub(crate) fn diff(&self) -> &ProfileDiff {
        &self.diff
    }

    /// Reads the profiles of several runs on both sides, each with the name of its side.
    pub fn read_runs(
        [before, after]: [(&str, &[PathBuf]); 2],
        pairing: RunPairing,
        options: ReadOptions<'_>,
    ) -> anyhow::Result<Self> {
        let read = |inputs: &[PathBuf]| {
            let read = inputs.iter().map(|input| ComparedProfile::read(input, options));
            read.collect::<anyhow::Result<Vec<_>>>()
        };
        let sides = [read(before.1)?, read(after.1)?];
        let messages = [0, 1]
            .map(|side| MessagesDuring::sum(sides[side].iter().map(|profile| profile.messages)));
        let [first, second] =
            sides.map(|side| side.into_iter().map(|profile| profile.profile).collect::<Vec<_>>());
        let runs = RunProfiles { before: &first, after: &second, pairing };
        let (diff, profiles) =
            ProfileDiff::of_runs(runs).map_err(|error| UsageError(error.to_string()))?;
        let [first, second] = profiles;
        let side = |name: &str, profile, messages| ComparedProfile {
            name: name.to_owned(),
            profile,
            messages,
        };
        let before = side(before.0, first, messages[0]);
        let after = side(after.0, second, messages[1]);
        let cost = cost(&before, &after);
        Ok(Self { before, after, diff, cost })
    }
}

/// Returns `None` if a side is not a run, or if the sides cannot be compared.
fn cost(before: &ComparedProfile, after: &ComparedProfile) -> Option<CostOfMessages> {
    let messages = [before.messages?, after.messages?];
    CostOfMessages::between([&before.profile, &after.profile], messages)
}
