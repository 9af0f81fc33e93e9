//! A run directory that is being filled.

use std::{
    fs::{self, File},
    io::{self, Write},
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use rabbitscope_data::{
    profile::{Profile, write_pprof},
    run::{RunRecord, SecondRow, TracedMessage},
    scenario::Scenario,
    utc::display_utc,
};
use rabbitscope_load::LatencyRecord;
use serde::Serialize;

use super::{
    BROKER, BROKER_LOG, RECORD, REPORT, SCENARIO, SERIES, TRACE, profile_name, write_report,
};
use crate::{
    atomic_file::{self, AtomicFile},
    exit::UsageError,
};

/// A run directory that is being filled.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
}

impl RunDirectory {
    /// Makes the directory. One that is there may not hold anything: results are never mixed.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot make the directory {}", path.display());
        fs::create_dir_all(path).with_context(cannot)?;
        if fs::read_dir(path).with_context(cannot)?.next().is_some() {
            let message = format!("{} is not empty; name a new directory", path.display());
            return Err(UsageError(message).into());
        }
        Ok(Self { path: path.to_owned() })
    }

    /// Makes `runs/TIME-NAME`, with a number at the end when two runs start in the same second.
    pub fn create_named(name: &str) -> anyhow::Result<Self> {
        let stem = format!("{}-{name}", compact_utc(SystemTime::now()));
        fs::create_dir_all("runs").context("cannot make the directory runs")?;
        for number in 1.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = Path::new("runs").join(format!("{stem}{suffix}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path }),
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => {}
                Err(error) => {
                    return Err(error)
                        .with_context(|| format!("cannot make the directory {}", path.display()));
                }
            }
        }
        unreachable!("there are more numbers than runs")
    }

    /// Removes the directory of a run that ended before it measured anything: one that holds the
    /// scenario at most. A broker's log is kept.
    pub fn discard_if_unused(&self) {
        let names = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name());
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        if entries.map(names).all(|name| name.is_ok_and(|name| name == SCENARIO)) {
            let _ = fs::remove_dir_all(&self.path);
        }
    }

    /// Where it is.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where a throwaway broker logs.
    pub fn broker_log(&self) -> PathBuf {
        self.path.join(BROKER_LOG)
    }

    /// Writes the scenario as resolved.
    pub fn write_scenario(&self, scenario: &Scenario) -> anyhow::Result<()> {
        atomic_file::write(&self.path.join(SCENARIO), scenario.to_toml().as_bytes())
    }

    /// Starts the series.
    pub fn start_series(&self) -> anyhow::Result<SeriesFile> {
        let path = self.path.join(SERIES);
        let file =
            File::create_new(&path).with_context(|| format!("cannot write {}", path.display()))?;
        Ok(SeriesFile { file, rows: Vec::new() })
    }

    /// Writes one latency in full.
    pub fn write_latency(&self, latency: &LatencyRecord) -> anyhow::Result<()> {
        atomic_file::write(&self.path.join(&latency.summary.file), &latency.hlog)
    }

    /// Writes what became of the messages that were followed, if there are any, and says under which
    /// name.
    pub fn write_trace(&self, messages: &[TracedMessage]) -> anyhow::Result<Option<String>> {
        if messages.is_empty() {
            return Ok(None);
        }
        let mut file = AtomicFile::create(&self.path.join(TRACE))?;
        for message in messages {
            serde_json::to_writer(file.writer(), message)?;
            file.writer().write_all(b"\n").context("cannot write the trace")?;
        }
        file.commit()?;
        Ok(Some(TRACE.to_owned()))
    }

    /// Writes the profile and says under which name.
    pub fn write_profile(&self, profile: &Profile) -> anyhow::Result<String> {
        let name = profile_name(profile.event);
        let mut file = AtomicFile::create(&self.path.join(&name))?;
        write_pprof(profile, file.writer()).context("cannot write the profile")?;
        file.commit()?;
        Ok(name)
    }

    /// Writes what the broker looked like before and after.
    pub fn write_broker(&self, before_and_after: &impl Serialize) -> anyhow::Result<()> {
        self.write_json(BROKER, before_and_after)
    }

    /// Writes the record.
    pub fn write_record(&self, record: &RunRecord) -> anyhow::Result<()> {
        self.write_json(RECORD, record)
    }

    /// Makes the report from the files that are there and says where it is.
    pub fn write_report(&self) -> anyhow::Result<PathBuf> {
        let report = self.report();
        write_report(&self.path, &report)?;
        Ok(report)
    }

    /// Where the report is.
    pub fn report(&self) -> PathBuf {
        self.path.join(REPORT)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        atomic_file::write(&self.path.join(name), &text)
    }
}

/// `series.jsonl`, written line by line, so that a run that is killed keeps what it had.
#[derive(Debug)]
pub struct SeriesFile {
    file: File,
    rows: Vec<SecondRow>,
}

impl SeriesFile {
    /// Adds one second.
    pub fn push(&mut self, row: SecondRow) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&row)?;
        line.push(b'\n');
        self.file.write_all(&line).context("cannot write the series")?;
        self.rows.push(row);
        Ok(())
    }

    /// All seconds so far.
    pub fn rows(&self) -> &[SecondRow] {
        &self.rows
    }
}

/// `20260102T030405Z`
fn compact_utc(time: SystemTime) -> String {
    let since_epoch = time.duration_since(UNIX_EPOCH).unwrap_or_default();
    display_utc(since_epoch).to_string().replace(['-', ':'], "")
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use super::*;

    #[test]
    fn times_in_names() {
        fn check(seconds: u64, expected: &str) {
            assert_eq!(compact_utc(UNIX_EPOCH + Duration::from_secs(seconds)), expected);
        }
        check(0, "19700101T000000Z");
        check(951_782_399, "20000228T235959Z");
        check(951_782_400, "20000229T000000Z");
        check(1_735_689_599, "20241231T235959Z");
        check(4_107_542_400, "21000301T000000Z");
    }
}
