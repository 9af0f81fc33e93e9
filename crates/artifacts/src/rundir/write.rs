//! A run directory during the run.

use std::{
    ffi::{OsStr, OsString},
    fs::File,
    io::{self, Seek, Write},
    path::{Path, PathBuf},
    sync::Arc,
    time::{SystemTime, UNIX_EPOCH},
};

use anyhow::Context;
use rabbitscope_files::{AtomicFile, Directory};
use rabbitscope_profiles::{Profile, write_pprof};
use rabbitscope_runs::{
    record::{BrokerStates, RunRecord, SecondRow, TracedMessage},
    scenario::Scenario,
};
use rabbitscope_terminal::UsageError;
use rabbitscope_text::compact_utc;
use rabbitscope_timing::LatencyRecord;
use rabbitscope_wire::report::PacketReport;
use serde::Serialize;

use super::{
    BROKER, BROKER_LOG, PACKET_FILE, PACKET_PAGE, PACKETS, RECORD, REPORT, SCENARIO, SERIES, TRACE,
    profile_name,
};

/// A run directory during the run. It is held open, so that a rename or a link cannot redirect the output.
#[derive(Clone, Debug)]
pub struct RunDirectory {
    held: Arc<Directory>,
    /// The parent directory and the name in it; absent if the directory existed before.
    made: Option<(Arc<Directory>, OsString)>,
}

/// Room for the record, in bytes: far more than `run.json`, which has some kilobytes per group of the scenario.
const RECORD_BYTES: u64 = 1 << 20;

/// Disk space reserved for the record of a run, even if nothing else can be written. Dropping it releases the space.
/// The file has no name, so that a killed run leaves nothing behind.
#[derive(Debug)]
pub struct ReservedRoom {
    _file: File,
}

impl RunDirectory {
    /// Creates the directory. An existing one must be empty, so that results never mix.
    pub fn create(path: &Path) -> anyhow::Result<Self> {
        let cannot = || format!("cannot make the directory {}", path.display());
        let Some(name) = path.file_name() else {
            return Self::of_empty(Directory::open(path)?);
        };
        let parent = path.parent().unwrap_or(Path::new("."));
        let parent = Arc::new(Directory::make(parent)?);
        if !parent.make_directory(name).with_context(cannot)? {
            return Self::of_empty(Directory::open(path)?);
        }
        Self::of_new(parent, name)
    }

    fn of_new(parent: Arc<Directory>, name: &OsStr) -> anyhow::Result<Self> {
        let held = Arc::new(parent.below(name)?);
        Ok(Self { held, made: Some((parent, name.to_owned())) })
    }

    fn of_empty(held: Directory) -> anyhow::Result<Self> {
        let path = held.path().display();
        let cannot = || format!("cannot list the directory {path}");
        if !held.names().with_context(cannot)?.is_empty() {
            let message = format!("{path} is not empty; choose a new directory");
            return Err(UsageError(message).into());
        }
        if held.is_of_others().with_context(cannot)? {
            let message = format!(
                "{path} belongs to another user or is writable by others, who could redirect the output with links; \
                 choose a new directory"
            );
            return Err(UsageError(message).into());
        }
        Ok(Self { held: Arc::new(held), made: None })
    }

    /// Creates `runs/TIME-NAME`, with a number at the end if two runs start in the same second.
    pub fn create_named(name: &str) -> anyhow::Result<Self> {
        let stem = format!("{}-{name}", now_in_names());
        let runs = Arc::new(Directory::make(Path::new("runs"))?);
        for number in 1.. {
            let suffix = if number == 1 { String::new() } else { format!("-{number}") };
            let name = OsString::from(format!("{stem}{suffix}"));
            let made = runs.make_directory(&name);
            if made
                .with_context(|| format!("cannot make a directory in {}", runs.path().display()))?
            {
                return Self::of_new(runs, &name);
            }
        }
        unreachable!("there are more numbers than runs")
    }

    /// Removes the directory of a run that ended before its first measurement, if it holds at most the scenario and
    /// empty logs. A log with contents is kept, and so is a directory that existed before.
    pub fn discard_if_unused(&self) {
        let Ok(names) = self.held.names() else { return };
        let (logs, others): (Vec<_>, Vec<_>) = names.into_iter().partition(|name| is_log(name));
        let is_empty = |name: &OsString| self.held.length(name).is_ok_and(|length| length == 0);
        if !logs.iter().all(is_empty) || others.iter().any(|name| name != SCENARIO) {
            return;
        }
        logs.iter().chain(&others).for_each(|name| drop(self.held.remove_file(name)));
        if let Some((parent, name)) = &self.made {
            let _ = parent.remove_directory(name);
        }
    }

    /// Returns the directory's path.
    pub fn path(&self) -> &Path {
        self.held.path()
    }

    /// Returns the path of the log of a throwaway broker with `nodes` nodes. The files are created here, because the
    /// nodes would make them readable to all users.
    pub fn broker_log(&self, nodes: u32) -> anyhow::Result<PathBuf> {
        let log = self.path().join(BROKER_LOG);
        for number in 1..=nodes.max(1) {
            let name = if number == 1 { BROKER_LOG.to_owned() } else { node_log(number) };
            let made = self.held.open_or_create(name.as_ref());
            made.with_context(|| format!("cannot write {}", log.with_file_name(&name).display()))?;
        }
        Ok(log)
    }

    /// Writes the resolved scenario.
    pub fn write_scenario(&self, scenario: &Scenario) -> anyhow::Result<()> {
        self.write(SCENARIO, scenario.to_toml().as_bytes())
    }

    /// Creates the file of the series.
    pub fn start_series(&self) -> anyhow::Result<SeriesFile> {
        let file = self.held.create_new(SERIES.as_ref());
        let file = file.with_context(|| format!("cannot write {}", self.named(SERIES)))?;
        Ok(SeriesFile { file, rows: Vec::new(), whole_bytes: 0 })
    }

    /// Reserves room for the record, so that a disk that fills up during the run does not lose it.
    pub fn reserve_room(&self) -> anyhow::Result<ReservedRoom> {
        let file = self.held.unnamed_file().and_then(|file| {
            match rustix::fs::fallocate(&file, rustix::fs::FallocateFlags::empty(), 0, RECORD_BYTES)
            {
                // Some file systems cannot reserve space.
                Err(rustix::io::Errno::OPNOTSUPP | rustix::io::Errno::NOSYS) | Ok(()) => Ok(file),
                Err(error) => Err(error.into()),
            }
        });
        let path = self.path().display();
        let file = file.with_context(|| format!("there is no room for results in {path}"))?;
        Ok(ReservedRoom { _file: file })
    }

    /// Writes the complete histogram of a latency.
    pub fn write_latency(&self, latency: &LatencyRecord) -> anyhow::Result<()> {
        self.write(&latency.summary.file, &latency.hlog)
    }

    /// Writes the traced messages, if there are any, and returns the file's name.
    pub fn write_trace(&self, messages: &[TracedMessage]) -> anyhow::Result<Option<String>> {
        if messages.is_empty() {
            return Ok(None);
        }
        let mut file = self.file(TRACE)?;
        let cannot = || format!("cannot write {}", self.named(TRACE));
        for message in messages {
            serde_json::to_writer(file.writer(), message).with_context(cannot)?;
            file.writer().write_all(b"\n").with_context(cannot)?;
        }
        file.commit()?;
        Ok(Some(TRACE.to_owned()))
    }

    /// Writes the profile. Returns the file's name even if that fails.
    pub fn write_profile(&self, profile: &Profile) -> (String, anyhow::Result<()>) {
        let name = profile_name(profile.event);
        let written = self.file(&name).and_then(|mut file| {
            write_pprof(profile, file.writer())
                .with_context(|| format!("cannot write {}", self.named(&name)))?;
            Ok(file.commit()?)
        });
        (name, written)
    }

    /// Writes the report of the packets, and its page. Returns both names.
    pub fn write_packets(&self, report: &PacketReport) -> anyhow::Result<[String; 2]> {
        self.write_json(PACKETS, report)?;
        let mut page = self.file(PACKET_PAGE)?;
        rabbitscope_web::write_packets(page.writer(), report)
            .with_context(|| format!("cannot write {}", self.named(PACKET_PAGE)))?;
        page.commit()?;
        Ok([PACKETS, PACKET_PAGE].map(str::to_owned))
    }

    /// Returns the path for the packets themselves, if they are kept.
    pub fn packet_file(&self) -> PathBuf {
        self.path().join(PACKET_FILE)
    }

    /// Writes the broker's state before and after the run.
    pub fn write_broker(&self, states: &BrokerStates) -> anyhow::Result<()> {
        self.write_json(BROKER, states)
    }

    /// Writes the record.
    pub fn write_record(&self, record: &RunRecord) -> anyhow::Result<()> {
        self.write_json(RECORD, record)
    }

    /// Returns the path of the report.
    pub fn report(&self) -> PathBuf {
        self.path().join(REPORT)
    }

    fn write_json(&self, name: &str, value: &impl Serialize) -> anyhow::Result<()> {
        let mut text = serde_json::to_vec_pretty(value)?;
        text.push(b'\n');
        self.write(name, &text)
    }

    fn file(&self, name: &str) -> anyhow::Result<AtomicFile> {
        Ok(AtomicFile::in_directory(Arc::clone(&self.held), name.as_ref())?)
    }

    fn write(&self, name: &str, contents: &[u8]) -> anyhow::Result<()> {
        let mut file = self.file(name)?;
        let written = file.writer().write_all(contents);
        written.with_context(|| format!("cannot write {}", self.named(name)))?;
        Ok(file.commit()?)
    }

    /// Returns a file's path for messages.
    fn named(&self, name: &str) -> String {
        self.path().join(name).display().to_string()
    }
}

/// `series.jsonl`, written line by line, so that a killed run keeps its seconds.
#[derive(Debug)]
pub struct SeriesFile {
    file: File,
    rows: Vec<SecondRow>,
    /// Length of the complete lines.
    whole_bytes: u64,
}

impl SeriesFile {
    /// Adds one second. If the write fails, the file keeps the earlier lines.
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

    /// Syncs the lines to the disk.
    pub fn sync(&self) -> anyhow::Result<()> {
        self.file.sync_all().with_context(|| format!("cannot write {SERIES}"))
    }

    /// Returns all seconds so far.
    pub fn rows(&self) -> &[SecondRow] {
        &self.rows
    }
}

/// Formats the current time as in names.
fn now_in_names() -> String {
    compact_utc(SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default())
}

/// Returns the name of another node's log, as `crates/broker` names it.
fn node_log(number: u32) -> String {
    BROKER_LOG.replace(".log", &format!("-{number}.log"))
}

fn is_log(name: &OsStr) -> bool {
    let stem = name.to_str().and_then(|name| name.strip_suffix(".log"));
    stem.is_some_and(|stem| stem.starts_with("broker"))
}
