//! The report of a run directory: its data, and from the same data the limit and the findings of the run.

use std::path::Path;

use rabbitscope_artifacts::rundir::{self, RecordedRun, read_broker};
use rabbitscope_check::case_of_run;
use rabbitscope_diagnosis::{Brief, CheckReport};

/// Makes the report of a run directory, also of a killed run, and returns what limited the run.
pub fn write_report(run_dir: &Path, output: &Path) -> anyhow::Result<CheckReport> {
    let run = RecordedRun::read(run_dir)?;
    // A damaged file costs settings of the broker, and not the report.
    let state = read_broker(run_dir).ok().flatten();
    let checked = CheckReport::from_case(&case_of_run(&run, state.as_ref()));
    rundir::write_report(&run, run_dir, &Brief::from_report(&checked), output)?;
    Ok(checked)
}
