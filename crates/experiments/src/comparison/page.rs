//! The page of a comparison.

use std::path::{Path, PathBuf};

use anyhow::Context;
use rabbitscope_artifacts::format::require_html;
use rabbitscope_files::AtomicFile;
use rabbitscope_web::{DiffReport, NamedProfile, write_diff};

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
        let report = DiffReport {
            diff: &comparison.diff,
            before: comparison.before.side(),
            after: comparison.after.side(),
            cost: comparison.cost,
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
