//! Two runs side by side, read from their directories.

use std::{io, path::Path};

use rabbitscope_analysis::{MessagesDuring, ProfileDiff, history::RunPair, shown_part};
use rabbitscope_files::SourceDirectory;
use rabbitscope_profiles::{Event, Profile, read_pprof};
use rabbitscope_runs::record::{FORMAT_VERSION, RunRecord, SecondRow};
use rabbitscope_web::{
    ComparedRun, CostOfMessages, DiffReport, NamedProfile, PairReport, write_pair,
};

/// Size limit of a record, and of the seconds of a run.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// Size limit of a profile's file; its own reader limits the contents.
const MAX_PROFILE_BYTES: u64 = 128 << 20;

/// Returns the page of two runs, whose paths are below the directory; or the reason why there is none.
pub(crate) fn page(place: &SourceDirectory, paths: [&str; 2]) -> Result<Vec<u8>, String> {
    let [before, after] = paths.map(|path| {
        Run::read(place, path).map_err(|reason| format!("{path} cannot be compared: {reason}"))
    });
    let runs = [before?, after?];
    let names = paths.map(|path| if path.is_empty() { "this directory" } else { path }.to_owned());
    let pair = RunPair::new(names, runs.each_ref().map(|run| (&run.record, &run.series[..])));
    let profiles = Profiles::read(place, paths, &runs);
    let exchanged = format!("compare?before={}&after={}", in_query(paths[1]), in_query(paths[0]));
    let report = PairReport {
        pair: &pair,
        runs: runs.each_ref().map(Run::compared),
        profiles: match &profiles {
            Ok(profiles) => Ok(profiles.report(&pair.names)),
            Err(reason) => Err(reason),
        },
        exchanged: &exchanged,
    };
    let mut page = Vec::new();
    write_pair(&mut page, report).map_err(|error| error.to_string())?;
    Ok(page)
}

fn in_query(text: &str) -> String {
    percent_encoding::utf8_percent_encode(text, percent_encoding::NON_ALPHANUMERIC).to_string()
}

struct Run {
    record: RunRecord,
    series: Vec<SecondRow>,
    report: Option<String>,
}

impl Run {
    fn read(place: &SourceDirectory, path: &str) -> Result<Self, String> {
        let read = |name: &str| read_below(place, path, name, MAX_RECORD_BYTES);
        let record = read("run.json").map_err(|error| format!("run.json: {error}"))?;
        let record: RunRecord = serde_json::from_slice(&record).map_err(|e| e.to_string())?;
        if !(1..=FORMAT_VERSION).contains(&record.format_version) {
            return Err(format!("it has format version {}", record.format_version));
        }
        let series = match read("series.jsonl") {
            Err(error) if error.kind() == io::ErrorKind::NotFound => Vec::new(),
            seconds => seconds
                .map_err(|error| error.to_string())
                .and_then(|seconds| rows(&seconds))
                .map_err(|error| format!("series.jsonl: {error}"))?,
        };
        let report = has_report(place, path).then(|| match path {
            "" => "files/report.html".to_owned(),
            path => format!("files/{path}/report.html"),
        });
        Ok(Self { record, series, report })
    }

    fn compared(&self) -> ComparedRun<'_> {
        let report = self.report.as_deref();
        ComparedRun { record: &self.record, series: &self.series, report }
    }

    /// Returns the messages during the profile; absent if the run does not record its time.
    fn messages(&self) -> Option<MessagesDuring> {
        let facts = self.record.profile.as_ref()?;
        let end = facts.offset_nanos.saturating_add(facts.capture.duration_nanos);
        Some(MessagesDuring::from_series(&self.series, facts.offset_nanos, end))
    }
}

/// Reads the seconds. A killed run may have ended in the middle of a line.
fn rows(seconds: &[u8]) -> Result<Vec<SecondRow>, String> {
    let rows = serde_json::Deserializer::from_slice(seconds).into_iter::<SecondRow>();
    let whole = rows.take_while(|row| !row.as_ref().is_err_and(serde_json::Error::is_eof));
    whole.collect::<Result<Vec<_>, _>>().map_err(|error| error.to_string())
}

fn read_below(place: &SourceDirectory, path: &str, name: &str, most: u64) -> io::Result<Vec<u8>> {
    if Path::new(path).is_absolute() {
        return Err(io::ErrorKind::InvalidFilename.into());
    }
    place.read(&Path::new(path).join(name), most)
}

fn has_report(place: &SourceDirectory, path: &str) -> bool {
    let entries = place.entries(Path::new(if path.is_empty() { "." } else { path }));
    entries.is_ok_and(|entries| entries.files.iter().any(|name| name == "report.html"))
}

/// The profiles of both runs, and their comparison.
struct Profiles {
    sides: [Profile; 2],
    diff: ProfileDiff,
    cost: Option<CostOfMessages>,
}

impl Profiles {
    /// Reads the profiles of the first event that both runs have.
    fn read(place: &SourceDirectory, paths: [&str; 2], runs: &[Run; 2]) -> Result<Self, String> {
        let bytes = |path, event: Event| {
            let name = format!("profile-{}.pb.gz", event.name());
            read_below(place, path, &name, MAX_PROFILE_BYTES)
        };
        let both = |event| bytes(paths[0], event).ok().zip(bytes(paths[1], event).ok());
        let Some((before, after)) = Event::RECORDED.into_iter().find_map(both) else {
            return Err("The runs have no profiles of the same event.".to_owned());
        };
        let read = |bytes: Vec<u8>| match read_pprof(&bytes[..]) {
            Ok(profile) => Ok(shown_part(&profile).into_owned()),
            Err(error) => Err(format!("A profile cannot be read: {error}.")),
        };
        let sides = [read(before)?, read(after)?];
        let [before, after] = sides.each_ref();
        let diff = ProfileDiff::between(before, after)
            .map_err(|error| format!("The profiles cannot be compared: {error}."))?;
        let messages = runs[0].messages().zip(runs[1].messages());
        let cost = messages
            .and_then(|(one, other)| CostOfMessages::between([before, after], [one, other]));
        Ok(Self { sides, diff, cost })
    }

    fn report<'a>(&'a self, [before, after]: &'a [String; 2]) -> DiffReport<'a> {
        let [first, second] = &self.sides;
        DiffReport {
            diff: &self.diff,
            before: NamedProfile { name: before, profile: first },
            after: NamedProfile { name: after, profile: second },
            cost: self.cost,
        }
    }
}
