//! A saved check, to compare a new one with.

use std::path::Path;

use rabbitscope_diagnosis::{CheckReport, FORMAT_VERSION};
use rabbitscope_files::input::{self, InputError};
use serde_json::Value;

/// Size limit of a saved check: one with 50 rows in every list has some hundred kilobytes.
const MAX_BYTES: u64 = 16 << 20;

/// A file that is no saved check of this version.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error(transparent)]
    Input(#[from] InputError),
    /// The file is another one.
    #[error("{path} is no saved check ({reason}); save one with `rabbitscope check --json > FILE`")]
    NoCheck {
        /// The file.
        path: String,
        /// The difference.
        reason: String,
    },
    /// A later version wrote the file.
    #[error("{path} has format version {found}; this rabbitscope reads 1 to {FORMAT_VERSION}")]
    Later {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
    },
}

/// Reads a check that `rabbitscope check --json` wrote.
pub fn read_baseline(path: &Path) -> Result<CheckReport, BaselineError> {
    let text = input::read(path, MAX_BYTES)?;
    let name = path.display().to_string();
    let other = |reason: String| BaselineError::NoCheck { path: name.clone(), reason };
    let value: Value = serde_json::from_slice(&text).map_err(|error| other(error.to_string()))?;
    match value["format-version"].as_u64() {
        Some(version) if (1..=u64::from(FORMAT_VERSION)).contains(&version) => {}
        Some(found) if found > 0 => return Err(BaselineError::Later { path: name, found }),
        _ => return Err(other("it has no format-version".to_owned())),
    }
    serde_json::from_value(value).map_err(|error| other(error.to_string()))
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rabbitscope_diagnosis::{Case, Subject};

    use super::*;

    fn read(text: &str) -> Result<CheckReport, String> {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("base.json");
        std::fs::write(&path, text).unwrap();
        read_baseline(&path).map_err(|error| error.to_string())
    }

    #[test]
    fn a_saved_check_is_read() {
        let subject = Subject { duration: Duration::from_secs(15), ..Subject::default() };
        let report = CheckReport::from_case(&Case::unread(subject));
        let text = serde_json::to_string(&report).unwrap();
        assert_eq!(read(&text).unwrap(), report);
    }

    #[test]
    fn other_files_are_refused_with_the_reason() {
        fn check(text: &str, words: &str) {
            let refused = read(text).unwrap_err();
            assert!(refused.contains(words), "{refused}");
        }
        check("", "is no saved check (EOF");
        check("limit     nothing", "save one with `rabbitscope check --json > FILE`");
        check("[1, 2]", "it has no format-version");
        check(r#"{"format-version": 1, "duration-nanos": 7}"#, "missing field");
        check(r#"{"format-version": 99}"#, "has format version 99; this rabbitscope reads 1 to 1");
    }

    #[test]
    fn a_file_without_end_or_without_contents_is_refused() {
        for path in ["/dev/zero", "/nonexistent/base.json", "/tmp"] {
            let refused = read_baseline(Path::new(path)).unwrap_err();
            assert!(matches!(refused, BaselineError::Input(_)), "{refused}");
        }
    }
}
