//! `experiment.jsonl`: a line for each started and each ended run. A line is on the disk before the next run starts.

use std::{
    fs::File,
    io::{Seek, SeekFrom, Write},
    path::{Path, PathBuf},
};

use anyhow::Context;
use rabbitscope_files::{Directory, LockError, read_all};
use rabbitscope_runs::experiment::RunOfArm;
use rabbitscope_terminal::{UsageError, output};
use serde::{Deserialize, Serialize};

/// Size of the largest journal that is read: half a million runs.
const MAX_BYTES: u64 = 256 << 20;

/// A line of the journal.
#[derive(Debug, Deserialize, Serialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
enum Entry {
    /// A run starts in this directory.
    Begun { directory: String },
    /// A run has ended. Its values are in its directory.
    Ended { run: Box<RunOfArm> },
}

/// Returns whether these bytes are empty or the start of a line.
fn is_begun_entry(bytes: &[u8]) -> bool {
    let begin = b"{\"kind\":\"";
    let length = bytes.len().min(begin.len());
    bytes[..length] == begin[..length]
}

/// The journal of an experiment.
#[derive(Debug)]
pub(super) struct Journal {
    path: PathBuf,
    file: File,
}

impl Journal {
    /// Opens the journal and reads the ended runs. Cuts off a line that was incomplete when the program was killed.
    pub(super) fn open(path: &Path) -> anyhow::Result<(Self, Vec<RunOfArm>)> {
        let cannot = || format!("cannot open the journal {}", path.display());
        let (directory, name) = Directory::of_file(path)?;
        let mut file = directory.open_or_create(name).with_context(cannot)?;
        rabbitscope_files::lock(&file).map_err(|error| match error {
            LockError::Taken => {
                let place = path.display();
                UsageError(format!("another rabbitscope already runs the experiment of {place}"))
                    .into()
            }
            LockError::Io(error) => anyhow::Error::from(error).context(cannot()),
        })?;
        output::note_of_lock(&file, path);
        let text = file.try_clone().and_then(|file| read_all(file, MAX_BYTES));
        let text = text.with_context(cannot)?;
        let whole = text.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end + 1);
        let mut runs = Vec::new();
        for (number, line) in (1..).zip(text[..whole].split_inclusive(|byte| *byte == b'\n')) {
            let entry = serde_json::from_slice(line).with_context(|| {
                format!("{}, line {number}, is not a journal entry", path.display())
            })?;
            if let Entry::Ended { run } = entry {
                runs.push(*run);
            }
        }
        anyhow::ensure!(
            is_begun_entry(&text[whole..]),
            "{}: its last line is not a truncated journal entry",
            path.display()
        );
        file.set_len(whole as u64).with_context(cannot)?;
        file.seek(SeekFrom::End(0)).with_context(cannot)?;
        Ok((Self { path: path.to_owned(), file }, runs))
    }

    /// Notes that a run is about to start.
    pub(super) fn begin(&mut self, directory: &str) -> anyhow::Result<()> {
        self.write(&Entry::Begun { directory: directory.to_owned() })
    }

    /// Notes that a run has ended.
    pub(super) fn end(&mut self, run: &RunOfArm) -> anyhow::Result<()> {
        self.write(&Entry::Ended { run: Box::new(run.clone()) })
    }

    fn write(&mut self, entry: &Entry) -> anyhow::Result<()> {
        let mut line = serde_json::to_vec(entry)?;
        line.push(b'\n');
        let written = self.file.write_all(&line).and_then(|()| self.file.sync_data());
        written.with_context(|| format!("cannot write the journal {}", self.path.display()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_cut_off_is_made_again() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("experiment.jsonl");
        let run = |round| RunOfArm { round, ..RunOfArm::default() };
        let (mut journal, runs) = Journal::open(&path).unwrap();
        assert!(runs.is_empty());
        journal.begin("runs/a").unwrap();
        journal.end(&run(1)).unwrap();
        journal.begin("runs/b").unwrap();
        drop(journal);
        let mut text = std::fs::read_to_string(&path).unwrap();
        text += "{\"kind\":\"ended\",\"run\":{\"round\":2";
        std::fs::write(&path, &text).unwrap();
        let (mut journal, runs) = Journal::open(&path).unwrap();
        assert_eq!(runs, [run(1)]);
        journal.end(&run(2)).unwrap();
        drop(journal);
        assert_eq!(Journal::open(&path).unwrap().1, [run(1), run(2)]);
        std::fs::write(&path, "{}\n").unwrap();
        let refused = Journal::open(&path).unwrap_err().to_string();
        assert!(refused.contains("line 1"), "{refused}");
    }

    #[test]
    fn what_is_of_others_is_left_as_it_is() {
        let place = tempfile::tempdir().unwrap();
        let others = place.path().join("others");
        std::fs::write(&others, "no journal, and no end of line").unwrap();
        let refused = Journal::open(&others).unwrap_err().to_string();
        assert!(refused.contains("is not a truncated journal entry"), "{refused}");
        let link = place.path().join("experiment.jsonl");
        std::fs::write(&others, "").unwrap();
        std::os::unix::fs::symlink(&others, &link).unwrap();
        Journal::open(&link).unwrap_err();
        let own = place.path().join("own");
        let first = Journal::open(&own).unwrap();
        let refused = Journal::open(&own).unwrap_err().to_string();
        assert!(refused.contains("another rabbitscope"), "{refused}");
        drop(first);
        Journal::open(&own).unwrap();
    }
}
