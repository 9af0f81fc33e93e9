//! The handling of results that cannot be written. A finished recording goes to the temporary directory, and one
//! message lists everything that is missing.

use std::{
    env,
    fmt::Write as _,
    io::{self, BufWriter},
    path::{Path, PathBuf},
};

use rabbitscope_files::{Directory, random_digits};
use rabbitscope_profiles::{Profile, write_pprof};
use rabbitscope_runs::record::Loss;

/// The directory for recordings if `TMPDIR` names one that other users can change.
const TMP: &str = "/tmp";

/// Results that could not be written, with reasons.
#[derive(Debug, Default)]
pub struct Unwritten {
    failures: Vec<Failure>,
    /// Number of results, including the written ones.
    tried: u64,
}

#[derive(Debug)]
struct Failure {
    file: String,
    reason: String,
    recording: Recording,
}

/// The outcome for the file's contents.
#[derive(Debug)]
enum Recording {
    /// It is no recording, or it can be made again.
    None,
    Kept(PathBuf),
    /// The reason why it was lost.
    Lost(String),
}

impl Unwritten {
    /// Counts a result, and records the failure if `file` could not be written.
    pub fn note<T, E: Into<anyhow::Error>>(
        &mut self,
        file: &str,
        result: Result<T, E>,
    ) -> Option<T> {
        self.tried += 1;
        let failed = |error: E| self.fail(file, &error.into(), Recording::None);
        result.map_err(failed).ok()
    }

    /// Does the same as [`Self::note`] for a recording. It cannot be made again, and is thus saved elsewhere. Returns
    /// its path.
    pub fn note_recording(
        &mut self,
        file: &str,
        profile: &Profile,
        result: anyhow::Result<()>,
    ) -> Option<PathBuf> {
        self.tried += 1;
        let Err(error) = result else { return Some(PathBuf::from(file)) };
        let (recording, kept) = match keep(profile) {
            Ok(path) => (Recording::Kept(path.clone()), Some(path)),
            Err(error) => (Recording::Lost(error.to_string()), None),
        };
        self.fail(file, &error, recording);
        kept
    }

    fn fail(&mut self, file: &str, error: &anyhow::Error, recording: Recording) {
        let reason = error.root_cause().to_string();
        self.failures.push(Failure { file: file.to_owned(), reason, recording });
    }

    /// Returns one message about everything that is missing.
    pub fn error(&self) -> Option<anyhow::Error> {
        (!self.failures.is_empty()).then(|| anyhow::anyhow!("{}", self.sentence()))
    }

    /// Returns the same for the record of a run.
    pub fn loss(&self) -> Option<Loss> {
        (!self.failures.is_empty()).then(|| Loss {
            what: "result files".to_owned(),
            count: self.failures.len() as u64,
            of: self.tried,
            meaning: self.sentence(),
        })
    }

    /// Groups the files that are missing for the same reason.
    fn sentence(&self) -> String {
        let mut reasons: Vec<&str> = Vec::new();
        for failure in &self.failures {
            if !reasons.contains(&failure.reason.as_str()) {
                reasons.push(&failure.reason);
            }
        }
        let mut text = String::new();
        for reason in reasons {
            let files = self.failures.iter().filter(|failure| failure.reason == reason);
            let files: Vec<&str> = files.map(|failure| failure.file.as_str()).collect();
            let separator = if text.is_empty() { "" } else { "; " };
            let _ = write!(text, "{separator}cannot write {}: {reason}", files.join(", "));
        }
        for Failure { file, recording, .. } in &self.failures {
            let _ = match recording {
                Recording::None => Ok(()),
                Recording::Kept(path) => {
                    write!(text, "; the recording for {file} is in {}", path.display())
                }
                Recording::Lost(reason) => {
                    let elsewhere = env::temp_dir();
                    let elsewhere = elsewhere.display();
                    write!(text, "; the recording for {file} is lost ({elsewhere}: {reason})")
                }
            };
        }
        text
    }
}

/// Writes a recording to the temporary directory, readable only by this user.
fn keep(profile: &Profile) -> io::Result<PathBuf> {
    let usual = Directory::open(&env::temp_dir());
    let directory = usual.or_else(|error| Directory::open(Path::new(TMP)).map_err(|_| error))?;
    let name = format!("rabbitscope-{}-{}.pb.gz", profile.event.name(), random_digits()?);
    let file = directory.create_new(name.as_ref())?;
    let mut out = BufWriter::new(file);
    let written = write_pprof(profile, &mut out)
        .and_then(|()| out.into_inner().map_err(io::IntoInnerError::into_error)?.sync_all());
    written.inspect_err(|_| drop(directory.remove_file(name.as_ref())))?;
    Ok(directory.path().join(name))
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt;

    use anyhow::anyhow;
    use rabbitscope_profiles::{read_folded, read_pprof};

    use super::*;

    #[test]
    fn files_are_said_with_their_reasons() {
        let mut unwritten = Unwritten::default();
        assert!(unwritten.error().is_none() && unwritten.loss().is_none());
        assert_eq!(unwritten.note("a", anyhow::Ok(5)), Some(5));
        for (file, reason) in [("b", "full"), ("c", "full"), ("d", "forbidden")] {
            let failed: anyhow::Result<()> =
                Err(anyhow!(reason).context(format!("writing {file}")));
            assert_eq!(unwritten.note(file, failed), None);
        }
        let expected = "cannot write b, c: full; cannot write d: forbidden";
        assert_eq!(unwritten.error().unwrap().to_string(), expected);
        let loss = unwritten.loss().unwrap();
        assert_eq!((loss.count, loss.of, loss.meaning.as_str()), (3, 4, expected));
    }

    #[test]
    fn a_recording_is_kept_for_its_owner_alone() {
        let profile = read_folded(&b"scheduler;lists:map/2 3"[..]).unwrap();
        let mut unwritten = Unwritten::default();
        let kept = unwritten.note_recording("x.svg", &profile, Err(anyhow!("full"))).unwrap();
        assert_eq!(kept.metadata().unwrap().permissions().mode() & 0o777, 0o600);
        assert_eq!(read_pprof(std::fs::File::open(&kept).unwrap()).unwrap().total(), 3);
        let said = unwritten.error().unwrap().to_string();
        assert!(said.contains("x.svg") && said.contains(kept.to_str().unwrap()), "{said}");
        std::fs::remove_file(kept).unwrap();
    }
}
