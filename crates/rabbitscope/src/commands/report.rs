//! `rabbitscope report`: the report of a run directory, made again from its data.

use std::path::{Path, PathBuf};

use super::arguments::refuse_to_replace;
use crate::{
    exit::{Exit, UsageError},
    format::require_html,
    rundir,
};

/// Make the HTML report of a run directory again
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// A run directory
    run_dir: PathBuf,
    /// Where to, an .html file
    #[arg(short, long, value_name = "FILE")]
    output: PathBuf,
}

impl Args {
    fn validate(&self) -> Result<(&Path, &Path), UsageError> {
        require_html(&self.output)?;
        Ok((&self.run_dir, &self.output))
    }

    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let (run_dir, output) = self.validate()?;
        refuse_to_replace(output, [run_dir])?;
        rundir::write_report(run_dir, output)?;
        Ok(Exit::Done)
    }
}
