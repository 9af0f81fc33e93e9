//! Finds runs and experiments below a directory.

use std::{io, path::Path};

use rabbitscope_analysis::history::{Contents, Entry, Listing};
use rabbitscope_files::SourceDirectory;

/// Size limit of a record. One of a run has about 10 kB, one of a large experiment some megabytes.
const MAX_RECORD_BYTES: u64 = 64 << 20;

/// Limit of all records together, which bounds the time of an answer.
const MAX_BYTES: u64 = 1 << 30;

/// Limit of directories below one another. An experiment has its runs two levels below itself.
const MAX_DEPTH: usize = 6;

/// Limit of directories that are looked into. Those beyond it are counted as left out.
const MAX_DIRECTORIES: usize = 20_000;

/// Looks through a directory. Links are not followed.
pub(crate) fn scan(place: &SourceDirectory) -> io::Result<Listing> {
    let mut search = Search::default();
    search.look_into(place, "", 0)?;
    let mut listing = search.found;
    listing.entries.sort_by(|one, other| {
        let key = |entry: &Entry| (std::cmp::Reverse(entry.started()), entry.path.clone());
        key(one).cmp(&key(other))
    });
    Ok(listing)
}

/// The state of a search.
#[derive(Default)]
struct Search {
    found: Listing,
    /// Number of directories that were looked into.
    seen: usize,
    /// Size of the records that were read.
    bytes: u64,
}

impl Search {
    fn look_into(&mut self, place: &SourceDirectory, path: &str, depth: usize) -> io::Result<()> {
        self.seen += 1;
        let found = place.entries(Path::new(if path.is_empty() { "." } else { path }))?;
        // Other names cannot stand in an address, and no run has one.
        let text = |names: Vec<std::ffi::OsString>| -> Vec<String> {
            names.into_iter().filter_map(|name| name.into_string().ok()).collect()
        };
        let files = text(found.files);
        if let Some(contents) = self.contents(place, path, &files) {
            let mut pages: Vec<_> = files.into_iter().filter(|file| is_page(file)).collect();
            pages.sort_unstable();
            self.found.entries.push(Entry { path: path.to_owned(), pages, contents });
        }
        for name in text(found.directories) {
            let below = if path.is_empty() { name } else { format!("{path}/{name}") };
            let is_within = depth < MAX_DEPTH && self.seen < MAX_DIRECTORIES;
            if !is_within || self.look_into(place, &below, depth + 1).is_err() {
                self.found.left_out += 1;
            }
        }
        Ok(())
    }

    fn contents(
        &mut self,
        place: &SourceDirectory,
        path: &str,
        files: &[String],
    ) -> Option<Contents> {
        let has = |name: &str| files.iter().any(|file| file == name);
        let mut read = |name: &str, parse: fn(&[u8]) -> Contents| {
            let rest = MAX_BYTES.saturating_sub(self.bytes).min(MAX_RECORD_BYTES);
            let read = place.read(&Path::new(path).join(name), rest);
            let read = read.inspect(|text| self.bytes += text.len() as u64);
            read.map_or_else(
                |error| Contents::Unreadable { reason: error.to_string() },
                |text| parse(&text),
            )
        };
        if has("run.json") {
            Some(read("run.json", Contents::from_run))
        } else if has("experiment.json") {
            Some(read("experiment.json", Contents::from_experiment))
        } else {
            has("series.jsonl").then_some(Contents::Unfinished)
        }
    }
}

/// Returns true for the name of a page.
pub(crate) fn is_page(name: &str) -> bool {
    Path::new(name).extension().is_some_and(|extension| extension == "html")
}
