//! The page of a comparison.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_artifacts::format::require_html;
use rabbitscope_files::AtomicFile;
use rabbitscope_web::{CostOfMessages, DiffReport, NamedProfile, write_diff};

use super::{ComparedProfile, Comparison};

/// The path of a comparison's page, checked before any input is read.
pub struct DiffPage(PathBuf);

impl DiffPage {
    /// Refuses an unknown suffix, and a path that cannot be written. Leaves no file behind.
    pub fn check(path: &Path) -> anyhow::Result<Self> {
        require_html(path)?;
        drop(AtomicFile::create(path)?);
        Ok(Self(path.to_owned()))
    }

    /// Writes the page.
    pub fn write(&self, comparison: &Comparison) -> anyhow::Result<()> {
        let mut file = AtomicFile::create(&self.0)?;
        let cost = comparison.cost.as_ref().map(|cost| CostOfMessages {
            what: cost.counts.what,
            unit: cost.unit,
            rates: cost.counts.rates,
            per_weight: [0, 1].map(|side| cost.worth[side] / cost.counts.counts[side]),
        });
        let report = DiffReport {
            diff: &comparison.diff,
            before: comparison.before.side(),
            after: comparison.after.side(),
            cost,
        };
        write_diff(file.writer(), report)
            .with_context(|| format!("cannot write {}", self.0.display()))?;
        Ok(file.commit()?)
    }
}

impl ComparedProfile {
    fn side(&self) -> NamedProfile<'_> {
        NamedProfile { name: &self.name, profile: &self.profile }
    }
}
