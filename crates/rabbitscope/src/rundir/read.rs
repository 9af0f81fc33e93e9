//! A run directory that is complete, or as complete as it got.

use std::{
    fs::{self, File},
    io::{BufRead, BufReader},
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_data::{
    profile::{Event, read_pprof},
    run::{FORMAT_VERSION, RunRecord, SecondRow},
};
use rabbitscope_web::Report;

use super::{RECORD, SERIES, profile_name};
use crate::{atomic_file::AtomicFile, exit::UsageError};

/// The profile of a run.
pub fn profile_path(run_dir: &Path) -> anyhow::Result<PathBuf> {
    let places = Event::RECORDED.map(|event| run_dir.join(profile_name(event)));
    if let Some(path) = places.into_iter().find(|path| path.is_file()) {
        return Ok(path);
    }
    let message = if run_dir.join(RECORD).is_file() {
        format!("the run {} has no profile", run_dir.display())
    } else {
        format!("{} is not a run directory (no {RECORD})", run_dir.display())
    };
    Err(UsageError(message).into())
}

/// Makes the report of a run directory from its data.
pub fn write_report(run_dir: &Path, output: &Path) -> anyhow::Result<()> {
    let run = read_record(run_dir)?;
    let series = read_series(run_dir)?;
    let profile = match profile_path(run_dir) {
        Ok(path) => Some(read_pprof(open(&path)?).with_context(|| cannot_read(&path))?),
        Err(_) => None,
    };
    let mut file = AtomicFile::create(output)?;
    let report = Report { run: Some(&run), series: &series, profile: profile.as_ref() };
    rabbitscope_web::write_report(file.writer(), &report).context("cannot write the report")?;
    file.commit()
}

fn read_record(run_dir: &Path) -> anyhow::Result<RunRecord> {
    let path = run_dir.join(RECORD);
    if !path.is_file() {
        let message = format!("{} is not a run directory (no {RECORD})", run_dir.display());
        return Err(UsageError(message).into());
    }
    let text = fs::read(&path).with_context(|| cannot_read(&path))?;
    let record: serde_json::Value =
        serde_json::from_slice(&text).with_context(|| cannot_read(&path))?;
    let version = record["format-version"].as_u64();
    anyhow::ensure!(
        version == Some(u64::from(FORMAT_VERSION)),
        "{} has format version {}; this rabbitscope reads {FORMAT_VERSION}",
        path.display(),
        version.map_or_else(|| "none".to_owned(), |number| number.to_string())
    );
    serde_json::from_value(record).with_context(|| cannot_read(&path))
}

fn read_series(run_dir: &Path) -> anyhow::Result<Vec<SecondRow>> {
    let path = run_dir.join(SERIES);
    let lines = open(&path)?.lines();
    lines
        .map(|line| Ok(serde_json::from_str(&line?)?))
        .collect::<anyhow::Result<_>>()
        .with_context(|| cannot_read(&path))
}

fn open(path: &Path) -> anyhow::Result<BufReader<File>> {
    File::open(path).map(BufReader::new).with_context(|| cannot_read(path))
}

fn cannot_read(path: &Path) -> String {
    format!("cannot read {}", path.display())
}
