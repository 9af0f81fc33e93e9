//! A run directory that is being filled.

use std::{
    fs::{self, File},
    io::{self, Seek, Write},
    os::unix::fs::MetadataExt,
    path::{Path, PathBuf},
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use rabbitscope_load::LatencyRecord;
use rabbitscope_profiles::{Profile, write_pprof};
use rabbitscope_runs::{
    record::{RunRecord, SecondRow, TracedMessage},
    scenario::Scenario,
};
use rabbitscope_text::display_utc;
use rabbitscope_wire::report::PacketReport;
use serde::Serialize;

use super::{
    BROKER, BROKER_LOG, PACKET_FILE, PACKET_PAGE, PACKETS, RECORD, REPORT, SCENARIO, SERIES, TRACE,
    profile_name, write_report,
};
use crate::{
    atomic_file::{self, AtomicFile},
    exit::UsageError,
};

/// A run directory that is being filled.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    path: PathBuf,
    /// It was not there before.
    is_new: bool,
}

/// Far more than `run.json` takes, which has some kilobytes for each group of the scenario.
const RECORD_BYTES: u64 = 1 << 20;

/// Room on the disk for the record of a run, whatever else cannot be written. Given back when it is
/// dropped; it has no name, so that a run that is killed leaves nothing.
#[derive(Debug)]
pub struct ReservedRoom {
    _file: File,
}

impl RunDirectory {
    /// Makes the directory. One that is there may not hold anything: results are never mixed.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot make the directory {}", path.display());
        if let Some(parent) = path.parent().filter(|parent| !parent.as_os_str().is_empty()) {
            fs::create_dir_all(parent).with_context(cannot)?;
        }
        let is_new = match fs::create_dir(path) {
            Err(error) if error.kind() != io::ErrorKind::AlreadyExists => {
                return Err(error).with_context(cannot);
            }
            made => made.is_ok(),
        };
        if fs::read_dir(path).with_context(cannot)?.next().is_some() {
            let message = format!("{} is not empty; name a new directory", path.display());
            return Err(UsageError(message).into());
        }
        if !is_new && can_be_changed_by_others(path).with_context(cannot)? {
            let message = format!(
                "{} belongs to somebody else, or others may write to it: they could put links there \
                 that lead what is written elsewhere; name a new directory",
                path.display()
            );
            return Err(UsageError(message).into());
        }
        Ok(Self { path: path.to_owned(), is_new })
    }

    /// Makes `runs/TIME-NAME`, with a number at the end when two runs start in the same second.
    pub fn create_named(name: &str) -> anyhow::Result<Self> {
        let stem = format!("{}-{name}", compact_utc(SystemTime::now()));
        fs::create_dir_all("runs").context("cannot make the directory runs")?;
        for number in 1.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let path = Path::new("runs").join(format!("{stem}{suffix}"));
            match fs::create_dir(&path) {
                Ok(()) => return Ok(Self { path, is_new: true }),
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
    /// scenario at most. A broker's log is kept, and so is a directory that was there before.
    pub fn discard_if_unused(&self) {
        let names = |entry: io::Result<fs::DirEntry>| entry.map(|entry| entry.file_name());
        let Ok(entries) = fs::read_dir(&self.path) else { return };
        if entries.map(names).all(|name| name.is_ok_and(|name| name == SCENARIO)) {
            let _ = fs::remove_file(self.path.join(SCENARIO));
            if self.is_new {
                let _ = fs::remove_dir(&self.path);
            }
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
        Ok(SeriesFile { file, rows: Vec::new(), whole_bytes: 0 })
    }

    /// Keeps room for the record, so that a disk that fills while the run goes does not lose it.
    pub fn reserve_room(&self) -> anyhow::Result<ReservedRoom> {
        let file = tempfile::tempfile_in(&self.path).and_then(|file| {
            match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RECORD_BYTES)
            {
                // File systems that cannot set room aside.
                Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) | Ok(()) => Ok(file),
                Err(error) => Err(error.into()),
            }
        });
        let path = self.path.display();
        let file = file.with_context(|| format!("there is no room for results in {path}"))?;
        Ok(ReservedRoom { _file: file })
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
        let path = self.path.join(TRACE);
        let mut file = AtomicFile::create(&path)?;
        let cannot = || format!("cannot write {}", path.display());
        for message in messages {
            serde_json::to_writer(file.writer(), message).with_context(cannot)?;
            file.writer().write_all(b"\n").with_context(cannot)?;
        }
        file.commit()?;
        Ok(Some(TRACE.to_owned()))
    }

    /// Writes the profile. Says under which name, also when that fails.
    pub fn write_profile(&self, profile: &Profile) -> (String, anyhow::Result<()>) {
        let name = profile_name(profile.event);
        let path = self.path.join(&name);
        let written = AtomicFile::create(&path).and_then(|mut file| {
            write_pprof(profile, file.writer())
                .with_context(|| format!("cannot write {}", path.display()))?;
            file.commit()
        });
        (name, written)
    }

    /// Writes what packets say, and its page. Says under which names.
    pub fn write_packets(&self, report: &PacketReport) -> anyhow::Result<[String; 2]> {
        self.write_json(PACKETS, report)?;
        let path = self.path.join(PACKET_PAGE);
        let mut page = AtomicFile::create(&path)?;
        rabbitscope_web::write_packets(page.writer(), report)
            .with_context(|| format!("cannot write {}", path.display()))?;
        page.commit()?;
        Ok([PACKETS, PACKET_PAGE].map(str::to_owned))
    }

    /// Where the packets themselves are, where they are kept.
    pub fn packet_file(&self) -> PathBuf {
        self.path.join(PACKET_FILE)
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
    /// Length of the lines that were written in full.
    whole_bytes: u64,
}

impl SeriesFile {
    /// Adds one second. Where it cannot be written the file has the lines before it.
    pub fn push(&mut self, row: SecondRow) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(&row)?;
        line.push(b'\n');
        self.rows.push(row);
        if let Err(error) = self.file.write_all(&line) {
            let _ = self.file.set_len(self.whole_bytes);
            let _ = self.file.seek(io::SeekFrom::Start(self.whole_bytes));
            return Err(error).context(format!("cannot write {SERIES}"));
        }
        self.whole_bytes += line.len() as u64;
        Ok(())
    }

    /// Makes sure that the lines are on the disk.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.file.sync_all().with_context(|| format!("cannot write {SERIES}"))
    }

    /// All seconds so far.
    pub fn rows(&self) -> &[SecondRow] {
        &self.rows
    }
}

fn can_be_changed_by_others(directory: &Path) -> io::Result<bool> {
    const GROUP_MAY_WRITE: u32 = 0o020;
    const ALL_MAY_WRITE: u32 = 0o002;
    let found = fs::metadata(directory)?;
    let is_of_another = found.uid() != rustix::process::geteuid().as_raw();
    // With a group for each user, as some distributions have it, the group is nobody else.
    let is_of_another_group = found.gid() != rustix::process::getegid().as_raw();
    let by_group = found.mode() & GROUP_MAY_WRITE != 0 && is_of_another_group;
    Ok(is_of_another || by_group || found.mode() & ALL_MAY_WRITE != 0)
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
