//! `rabbitscope report`: rebuilds the report of a run directory from its data.

use std::path::PathBuf;

use rabbitscope_artifacts::format::{default_page, require_html};
use rabbitscope_runner::report::write_report;
use rabbitscope_terminal::output;

use super::arguments::refuse_to_replace;
use crate::exit::Exit;

/// Make the HTML report of a run directory again
///
/// If the run recorded several events, each further one has a page beside it, such as `report-off-cpu.html`.
#[derive(Debug, clap::Args)]
pub(super) struct Args {
    /// Run directory
    run_dir: PathBuf,
    /// Output file, .html [default: report-TIME.html]
    #[arg(short, long, value_name = "FILE")]
    output: Option<PathBuf>,
}

impl Args {
    pub(super) fn execute(self) -> anyhow::Result<Exit> {
        let path = self.output.clone().unwrap_or_else(|| default_page("report"));
        require_html(&path)?;
        refuse_to_replace(&path, [self.run_dir.as_path()])?;
        write_report(&self.run_dir, &path)?;
        if self.output.is_none() {
            output::result(&format!("report  {}", path.display()));
        }
        Ok(Exit::Done)
    }
}
