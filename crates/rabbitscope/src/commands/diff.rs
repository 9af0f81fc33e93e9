//! `rabbitscope diff`: what changed between two profiles.

use std::path::PathBuf;

use super::arguments::ProfileLimit;
use crate::{
    comparison::{Comparison, DiffPage},
    exit::Exit,
    output,
};

/// Compare two profiles: a flame graph of changes, and the functions whose share changed most
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// The profile before: a run directory, .pb.gz, .folded, perf.data, `perf script` text
    before: PathBuf,
    /// The profile after
    after: PathBuf,
    /// A page with the flame graph of changes (.html)
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
    /// Print every change as JSON
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    limit: ProfileLimit,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let page = self.output.as_deref().map(DiffPage::check).transpose()?;
        let comparison = Comparison::read(&self.before, &self.after, self.limit.bytes())?;
        if let Some(page) = &page {
            page.write(&comparison)?;
        }
        if self.json {
            output::json(&comparison.changes())?;
        } else {
            output::result(&comparison.to_string());
        }
        Ok(Exit::Done)
    }
}
