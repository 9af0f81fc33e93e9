//! Reads a run directory, complete or not.

use std::{
    io::{ErrorKind, Read},
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_analysis::MessagesDuring;
use rabbitscope_diagnosis::Brief;
use rabbitscope_files::AtomicFile;
use rabbitscope_profiles::{Event, Profile, read_pprof};
use rabbitscope_runs::record::{BrokerStates, FORMAT_VERSION, Loss, RunRecord, SecondRow};
use rabbitscope_terminal::UsageError;
use rabbitscope_web::{OtherPage, Report, RunPackets, is_page};
use rabbitscope_wire::report::{self, PacketReport};
use serde::de::DeserializeOwned;

use super::{
    BROKER, PACKET_PAGE, PACKETS, RECORD, SERIES, names::cannot_read, profile_name, series::Series,
    unfinished,
};

/// Size limit of a record.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// Size limit of a report of packets: a thousand connections with their frames take a few megabytes.
const MAX_PACKETS_BYTES: u64 = 256 << 20;

/// Size limit of the broker's state: some hundred bytes for each of many queues.
const MAX_BROKER_BYTES: u64 = 64 << 20;

/// Size limit of a profile file; its own reader limits the contents.
const MAX_OF_A_PROFILE: u64 = 1 << 30;

/// Number of bytes by which a page is recognised.
const PAGE_START: u64 = 64 << 10;

/// Returns the paths of a run's profiles, in the order of events.
fn profile_paths(run_dir: &Path) -> impl Iterator<Item = PathBuf> {
    let places = Event::RECORDED.map(|event| run_dir.join(profile_name(event)));
    places.into_iter().filter(|path| path.is_file())
}

/// Returns the path of a run's profile, that of the first event.
pub fn profile_path(run_dir: &Path) -> anyhow::Result<PathBuf> {
    if let Some(path) = profile_paths(run_dir).next() {
        return Ok(path);
    }
    let place = run_dir.display();
    let message = if run_dir.join(RECORD).is_file() {
        format!("the run {place} has no profile")
    } else if run_dir.join(SERIES).is_file() {
        format!(
            "the run {place} was killed or has not ended, and has no profile; `rabbitscope report` shows its results"
        )
    } else {
        no_run_directory(run_dir)
    };
    Err(UsageError(message).into())
}

/// Counts the messages that the load moved while the profile was recorded. Absent if the run does not record that
/// time.
pub fn messages_during_profile(run_dir: &Path) -> anyhow::Result<Option<MessagesDuring>> {
    let profile = read_record(run_dir)?.and_then(|record| record.profile);
    let Some(facts) = profile else { return Ok(None) };
    let series = Series::read(&run_dir.join(SERIES))?;
    let end = facts.offset_nanos.saturating_add(facts.capture.duration_nanos);
    Ok(Some(MessagesDuring::from_series(&series.rows, facts.offset_nanos, end)))
}

/// Reads the record and the seconds of a finished run.
pub fn read_run(run_dir: &Path) -> anyhow::Result<(RunRecord, Vec<SecondRow>)> {
    let record = read_record(run_dir)?
        .ok_or_else(|| UsageError(format!("the run {} has not ended", run_dir.display())))?;
    Ok((record, Series::read(&run_dir.join(SERIES))?.rows))
}

fn no_run_directory(run_dir: &Path) -> String {
    format!("{} is not a run directory (it has neither {RECORD} nor {SERIES})", run_dir.display())
}

/// The data of a run directory.
#[derive(Clone, Debug)]
pub struct RecordedRun {
    /// The record. For a killed run, it has what the seconds and the scenario show.
    pub record: RunRecord,
    /// The seconds.
    pub series: Vec<SecondRow>,
    /// The profiles, one for each recorded event. The first is that of the report.
    pub profiles: Vec<Profile>,
    /// The report of the packets, if they were captured.
    pub packets: Option<PacketReport>,
}

impl RecordedRun {
    /// Reads a run directory, complete or not.
    pub fn read(run_dir: &Path) -> anyhow::Result<Self> {
        let series = || Series::read(&run_dir.join(SERIES));
        let (mut record, series) = if let Some(record) = read_record(run_dir)? {
            (record, series()?)
        } else {
            let series = series()?;
            (unfinished::record(run_dir, &series.rows), series)
        };
        if series.is_torn {
            record.losses.push(torn_line(series.rows.len()));
        }
        let read = |path: PathBuf| read_profile(&path).with_context(|| cannot_read(&path));
        let profiles = profile_paths(run_dir).map(read).collect::<anyhow::Result<_>>()?;
        Ok(Self { record, series: series.rows, profiles, packets: read_packets(run_dir)? })
    }
}

/// Reads `broker.json`: the broker before and after the run. Absent if the run was killed.
pub fn read_broker(run_dir: &Path) -> anyhow::Result<Option<BrokerStates>> {
    let path = run_dir.join(BROKER);
    if !path.is_file() {
        return Ok(None);
    }
    let text = rabbitscope_files::read(&path, MAX_BROKER_BYTES);
    let text = text.with_context(|| cannot_read(&path))?;
    serde_json::from_slice(&text).with_context(|| cannot_read(&path)).map(Some)
}

/// Writes the report of a run whose data are from `run_dir`, with its limit and findings. For a killed run, it has the
/// data that exist. Each further profile has a page beside it, `report-off-cpu.html`; the pages link to each other.
pub fn write_report(
    run: &RecordedRun,
    run_dir: &Path,
    brief: &Brief,
    output: &Path,
) -> anyhow::Result<()> {
    let page = packet_page(run_dir, output);
    let report = Report {
        run: Some(&run.record),
        brief: Some(brief),
        series: &run.series,
        profile: None,
        packets: run.packets.as_ref().map(|report| RunPackets { report, page }),
        others: &[],
    };
    let pages = pages(&run.profiles, output);
    pages.iter().skip(1).try_for_each(|(_, path)| require_own_page(path))?;
    for (profile, path) in &pages {
        let links: Vec<OtherPage<'_>> =
            pages.iter().filter(|(_, other)| other != path).filter_map(link).collect();
        write_page(path, &Report { profile: Some(profile), others: &links, ..report })?;
    }
    if pages.is_empty() { write_page(output, &report) } else { Ok(()) }
}

/// Returns the page of each profile. The page of the first one is `output`.
fn pages<'a>(profiles: &'a [Profile], output: &Path) -> Vec<(&'a Profile, PathBuf)> {
    let stem = output.file_stem().unwrap_or_default();
    let beside = |event: Event| {
        let mut name = stem.to_owned();
        name.push(format!("-{}.html", event.name()));
        output.with_file_name(name)
    };
    let mut path = Some(output.to_owned());
    let path_of = |profile: &Profile| path.take().unwrap_or_else(|| beside(profile.event));
    let paths: Vec<PathBuf> = profiles.iter().map(path_of).collect();
    profiles.iter().zip(paths).collect()
}

/// Refuses a file that this program did not write. The user named the first page only.
fn require_own_page(path: &Path) -> anyhow::Result<()> {
    if path.symlink_metadata().is_err_and(|error| error.kind() == ErrorKind::NotFound) {
        return Ok(());
    }
    let mut start = Vec::new();
    let read = rabbitscope_files::open(path, u64::MAX)
        .and_then(|file| file.take(PAGE_START).read_to_end(&mut start));
    if read.is_ok() && is_page(&start) {
        return Ok(());
    }
    let message = format!(
        "{} would be replaced by the page of another event, and is no page of rabbitscope: choose another output file",
        path.display()
    );
    Err(UsageError(message).into())
}

/// Returns a link to a page of the same directory, if its name is text.
fn link<'a>((profile, path): &'a (&Profile, PathBuf)) -> Option<OtherPage<'a>> {
    let file = path.file_name()?.to_str()?;
    Some(OtherPage { event: profile.event.name(), file })
}

fn write_page(path: &Path, report: &Report<'_>) -> anyhow::Result<()> {
    let mut file = AtomicFile::create(path)?;
    rabbitscope_web::write_report(file.writer(), report)
        .with_context(|| format!("cannot write {}", path.display()))?;
    Ok(file.commit()?)
}

fn torn_line(whole: usize) -> Loss {
    Loss {
        what: "seconds".to_owned(),
        count: 1,
        of: whole as u64 + 1,
        meaning: format!("the last line of {SERIES} is incomplete and is left out"),
    }
}

fn read_profile(path: &Path) -> anyhow::Result<Profile> {
    Ok(read_pprof(rabbitscope_files::open(path, MAX_OF_A_PROFILE)?)?)
}

/// Reads the record; `None` if the run has seconds but no record.
pub fn read_record(run_dir: &Path) -> anyhow::Result<Option<RunRecord>> {
    let path = run_dir.join(RECORD);
    if !path.exists() {
        if run_dir.join(SERIES).is_file() {
            return Ok(None);
        }
        return Err(UsageError(no_run_directory(run_dir)).into());
    }
    read_versioned(&path, MAX_RECORD_BYTES, FORMAT_VERSION).map(Some)
}

/// Reads the report of packets, if the run captured them.
fn read_packets(run_dir: &Path) -> anyhow::Result<Option<PacketReport>> {
    let path = run_dir.join(PACKETS);
    if !path.is_file() {
        return Ok(None);
    }
    read_versioned(&path, MAX_PACKETS_BYTES, report::FORMAT_VERSION).map(Some)
}

/// Returns the report's link to the page of packets, if both are in the same directory.
fn packet_page(run_dir: &Path, output: &Path) -> Option<&'static str> {
    let beside =
        output.parent().filter(|parent| !parent.as_os_str().is_empty()).unwrap_or(Path::new("."));
    let is_same = beside.canonicalize().ok()? == run_dir.canonicalize().ok()?;
    (is_same && run_dir.join(PACKET_PAGE).is_file()).then_some(PACKET_PAGE)
}

/// Reads JSON, and refuses files of later versions.
fn read_versioned<T: DeserializeOwned>(path: &Path, limit: u64, latest: u32) -> anyhow::Result<T> {
    let text = rabbitscope_files::read(path, limit).with_context(|| cannot_read(path))?;
    let value: serde_json::Value =
        serde_json::from_slice(&text).with_context(|| cannot_read(path))?;
    let version = value["format-version"].as_u64();
    anyhow::ensure!(
        version.is_some_and(|version| (1..=u64::from(latest)).contains(&version)),
        "{} has format version {}; this rabbitscope reads 1 to {latest}",
        path.display(),
        version.map_or_else(|| "none".to_owned(), |number| number.to_string())
    );
    serde_json::from_value(value).with_context(|| cannot_read(path))
}
