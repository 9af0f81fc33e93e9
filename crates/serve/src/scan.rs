//! Finds runs and experiments below a directory.

use std::{io, path::Path};

use rabbitscope_files::SourceDirectory;
use serde::Serialize;

use super::{Contents, Entry};

/// Size limit of a record. One of a run has about 10 kB, one of a large experiment some megabytes.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// Limit of directories below one another. An experiment has its runs two levels below itself.
const MAX_DEPTH: usize = 6;

/// Limit of directories that are looked into. Those beyond it are counted as left out.
const MAX_DIRECTORIES: usize = 20_000;

/// The runs and experiments below a directory.
#[derive(Debug, Default, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Listing {
    /// Runs and experiments, the newest first. Those without a time come last, by path.
    pub(crate) entries: Vec<Entry>,
    /// Directories that were not looked into: too many, too deep, or without permission.
    pub(crate) left_out: usize,
    #[serde(skip)]
    seen: usize,
}

/// Looks through a directory. Links are not followed.
pub(crate) fn scan(place: &SourceDirectory) -> io::Result<Listing> {
    let mut listing = Listing::default();
    listing.look_into(place, "", 0)?;
    listing.entries.sort_by(|one, other| {
        let key = |entry: &Entry| (std::cmp::Reverse(entry.started()), entry.path.clone());
        key(one).cmp(&key(other))
    });
    Ok(listing)
}

impl Listing {
    fn look_into(&mut self, place: &SourceDirectory, path: &str, depth: usize) -> io::Result<()> {
        self.seen += 1;
        let found = place.entries(Path::new(if path.is_empty() { "." } else { path }))?;
        // Other names cannot stand in an address, and no run has one.
        let text = |names: Vec<std::ffi::OsString>| -> Vec<String> {
            names.into_iter().filter_map(|name| name.into_string().ok()).collect()
        };
        let files = text(found.files);
        if let Some(contents) = contents(place, path, &files) {
            let mut pages: Vec<_> = files.into_iter().filter(|file| is_page(file)).collect();
            pages.sort_unstable();
            self.entries.push(Entry { path: path.to_owned(), pages, contents });
        }
        for name in text(found.directories) {
            let below = if path.is_empty() { name } else { format!("{path}/{name}") };
            let is_within = depth < MAX_DEPTH && self.seen < MAX_DIRECTORIES;
            if !is_within || self.look_into(place, &below, depth + 1).is_err() {
                self.left_out += 1;
            }
        }
        Ok(())
    }
}

/// Returns true for the name of a page.
pub(crate) fn is_page(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "html")
}

fn contents(place: &SourceDirectory, path: &str, files: &[String]) -> Option<Contents> {
    let read = |name: &str, parse: fn(&[u8]) -> Contents| {
        let read = place.read(&Path::new(path).join(name), MAX_RECORD_BYTES);
        read.map_or_else(
            |error| Contents::Unreadable { reason: error.to_string() },
            |text| parse(&text),
        )
    };
    let has = |name: &str| files.iter().any(|file| file == name);
    if has("run.json") {
        Some(read("run.json", Contents::from_run))
    } else if has("experiment.json") {
        Some(read("experiment.json", Contents::from_experiment))
    } else {
        has("series.jsonl").then_some(Contents::Unfinished)
    }
}

impl Entry {
    /// Returns the start of a run, nanoseconds since 1970-01-01 UTC.
    pub(crate) fn started(&self) -> Option<u64> {
        match &self.contents {
            Contents::Run(run) => Some(run.started_unix_nanos),
            _ => None,
        }
    }
}
