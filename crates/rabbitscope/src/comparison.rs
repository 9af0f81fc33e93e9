//! Two profiles from files, compared: as a page, as a table, as JSON.

use std::{
    fmt,
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_analysis::{Change, Evidence, ProfileDiff, Sides, share};
use rabbitscope_data::profile::{FrameKind, Profile};
use rabbitscope_web::{DiffReport, Side, write_diff};
use serde::Serialize;

use crate::{
    atomic_file::AtomicFile,
    escapes,
    exit::UsageError,
    format::{read_profile, require_html},
};

/// Rows of the table that people read.
const ROWS: usize = 20;

/// Two profiles and what changed between them.
pub(crate) struct Comparison {
    before: Named,
    after: Named,
    diff: ProfileDiff,
}

struct Named {
    name: String,
    profile: Profile,
}

impl Named {
    fn read(input: &Path, limit_bytes: u64) -> anyhow::Result<Self> {
        let name = input.file_name().map(|name| name.to_string_lossy().into_owned());
        let name = name.unwrap_or_else(|| input.display().to_string());
        Ok(Self { name, profile: read_profile(input, limit_bytes)? })
    }

    fn side(&self) -> Side<'_> {
        Side { name: &self.name, profile: &self.profile }
    }
}

impl Comparison {
    /// Reads both profiles. Profiles that cannot be compared are a matter of usage.
    pub(crate) fn read(before: &Path, after: &Path, limit_bytes: u64) -> anyhow::Result<Self> {
        let (before, after) = (Named::read(before, limit_bytes)?, Named::read(after, limit_bytes)?);
        let diff = ProfileDiff::of(&before.profile, &after.profile)
            .map_err(|error| UsageError(error.to_string()))?;
        Ok(Self { before, after, diff })
    }

    /// Changes beyond noise. Native code counts for the Erlang function that it ran for, so that it
    /// would stand here twice; it is shown when there is no Erlang function at all.
    fn shown(&self) -> Vec<&Change> {
        let changes = &self.diff.changes;
        let has_erlang = changes.iter().any(|change| change.kind.is_erlang_function());
        let beyond = changes.iter().filter(|change| {
            change.own_evidence == Evidence::BeyondNoise
                && (!has_erlang || change.kind.is_erlang_function())
        });
        beyond.take(ROWS).collect()
    }

    /// Every function whose share changed, for JSON.
    pub(crate) fn changes(&self) -> Vec<ChangeRecord<'_>> {
        let totals = self.diff.totals;
        let changed = self
            .diff
            .changes
            .iter()
            .filter(|change| change.own_change.abs() > 0.0 || change.total_change.abs() > 0.0);
        changed
            .map(|change| ChangeRecord {
                function: &change.name,
                kind: change.kind,
                own: Share::of(change.own, totals, change.own_evidence),
                total: Share::of(change.total, totals, change.total_evidence),
            })
            .collect()
    }
}

/// How one function changed.
#[derive(Serialize)]
pub(crate) struct ChangeRecord<'a> {
    function: &'a str,
    kind: FrameKind,
    own: Share,
    total: Share,
}

/// Shares are 0 to 1 of the whole profile.
#[derive(Serialize)]
#[serde(rename_all = "kebab-case")]
struct Share {
    before: f64,
    after: f64,
    change: f64,
    beyond_noise: bool,
}

impl Share {
    fn of(sides: Sides, totals: Sides, evidence: Evidence) -> Self {
        Self {
            before: share(sides.before, totals.before),
            after: share(sides.after, totals.after),
            change: sides.change(totals),
            beyond_noise: evidence == Evidence::BeyondNoise,
        }
    }
}

impl fmt::Display for Comparison {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let totals = self.diff.totals;
        let name = |profile: &Named| escapes::value(&profile.name).into_owned();
        writeln!(f, "before  {} ({} samples)", name(&self.before), totals.before)?;
        writeln!(f, "after   {} ({} samples)\n", name(&self.after), totals.after)?;
        writeln!(f, "{:>9}{:>9}{:>9}  own share, in points", "before", "after", "change")?;
        let shown = self.shown();
        for change in &shown {
            let percent = |part, whole| 100.0 * share(part, whole);
            writeln!(
                f,
                "{:>7.2} %{:>7.2} %{:>+9.2}  {}",
                percent(change.own.before, totals.before),
                percent(change.own.after, totals.after),
                100.0 * change.own_change,
                escapes::value(&change.name)
            )?;
        }
        if shown.is_empty() {
            writeln!(f, "No function changed by more than the noise of sampling.")?;
        }
        writeln!(
            f,
            "\nShown are changes of four standard errors or more of the counted shares. That runs of \
             the same thing differ too, only repeated runs can rule out."
        )
    }
}

/// A page for a comparison, checked before anything is read.
pub(crate) struct DiffPage(PathBuf);

impl DiffPage {
    /// Refuses an unknown suffix, and a place that cannot be written to. Leaves nothing there.
    pub(crate) fn check(path: &Path) -> anyhow::Result<Self> {
        require_html(path)?;
        drop(AtomicFile::create(path)?);
        Ok(Self(path.to_owned()))
    }

    /// Writes the page.
    pub(crate) fn write(&self, comparison: &Comparison) -> anyhow::Result<()> {
        let mut file = AtomicFile::create(&self.0)?;
        let report = DiffReport {
            diff: &comparison.diff,
            before: comparison.before.side(),
            after: comparison.after.side(),
        };
        write_diff(file.writer(), report)
            .with_context(|| format!("cannot write {}", self.0.display()))?;
        file.commit()
    }
}
