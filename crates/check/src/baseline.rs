//! A saved check, to compare a new one with.

use std::path::Path;

use rabbitscope_diagnosis::{CheckReport, FORMAT_VERSION};
use rabbitscope_files::input::{self, InputError};
use serde_json::Value;

/// Size limit of a saved check: one with 50 rows in every list has some hundred kilobytes.
const MAX_BYTES: u64 = 16 << 20;

/// The way to a saved check.
const REMEDY: &str = "save one with `rabbitscope check --json > FILE`";

/// A file that is no saved check of this version.
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    /// The file cannot be read.
    #[error("{0}; a baseline is a saved check: {REMEDY}")]
    Input(InputError),
    /// The file is another one.
    #[error("{path} is no saved check ({reason}); {remedy}")]
    NoCheck {
        /// The file.
        path: String,
        /// The difference.
        reason: String,
        /// The next step.
        remedy: &'static str,
    },
    /// A later version wrote the file.
    #[error(
        "{path} has format version {found}; this rabbitscope reads 1 to {FORMAT_VERSION}: {REMEDY}, or use the later \
         rabbitscope"
    )]
    Later {
        /// The file.
        path: String,
        /// Its version.
        found: u64,
    },
}

/// Reads a check that `rabbitscope check --json` wrote.
pub fn read_baseline(path: &Path) -> Result<CheckReport, BaselineError> {
    let text = input::read(path, MAX_BYTES).map_err(BaselineError::Input)?;
    let name = path.display().to_string();
    let other = |reason: String, remedy| {
        let path = name.clone();
        BaselineError::NoCheck { path, reason, remedy }
    };
    if text.trim_ascii().is_empty() {
        return Err(other("it is empty".to_owned(), REMEDY));
    }
    let value: Value = serde_json::from_slice(&text)
        .map_err(|error| other(format!("it is no JSON: {error}"), REMEDY))?;
    if let Some((reason, remedy)) = other_kind(&value) {
        return Err(other(reason.to_owned(), remedy));
    }
    match value["format-version"].as_u64() {
        Some(version) if (1..=u64::from(FORMAT_VERSION)).contains(&version) => {}
        Some(found) if found > 0 => return Err(BaselineError::Later { path: name, found }),
        _ => return Err(other("it has no format-version".to_owned(), REMEDY)),
    }
    serde_json::from_value(value).map_err(|error| other(error.to_string(), REMEDY))
}

/// Recognizes JSON of other commands, by keys that only they have. Returns the reason and the next step.
fn other_kind(value: &Value) -> Option<(&'static str, &'static str)> {
    if value["nodes"].is_array() && value["missing"].is_array() {
        let remedy = "save one of a single node with `rabbitscope check --node NODE --json > FILE`";
        return Some(("it is the check of a cluster", remedy));
    }
    if value["scenario"].is_object() {
        let remedy = "check the run's directory with `rabbitscope check RUN_DIR --json > FILE`";
        return Some(("it is the record of a run", remedy));
    }
    None
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use rabbitscope_diagnosis::{Case, ClusterReport, Subject};

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
        check("", "is no saved check (it is empty); save one with");
        check(" \n", "is no saved check (it is empty); save one with");
        check("limit     nothing", "(it is no JSON: expected value at line 1 column 1); save one");
        check("[1, 2]", "it has no format-version");
        check(r#"{"format-version": 1, "duration-nanos": 7}"#, "missing field");
        check(r#"{"format-version": 99}"#, "has format version 99; this rabbitscope reads 1 to 1");
        check(r#"{"format-version": 1, "scenario": {}}"#, "it is the record of a run");
    }

    #[test]
    fn the_check_of_a_cluster_is_refused() {
        let subject = Subject { duration: Duration::from_secs(15), ..Subject::default() };
        let report = CheckReport::from_case(&Case::unread(subject));
        let cluster = ClusterReport::from_reports(vec![report], Vec::new()).unwrap();
        let refused = read(&serde_json::to_string(&cluster).unwrap()).unwrap_err();
        assert!(
            refused.contains("it is the check of a cluster); save one of a single"),
            "{refused}"
        );
    }

    #[test]
    fn a_huge_file_is_refused_before_it_is_read() {
        let place = tempfile::tempdir().unwrap();
        let path = place.path().join("base.json");
        std::fs::File::create(&path).unwrap().set_len(2 << 30).unwrap();
        let refused = read_baseline(&path).unwrap_err().to_string();
        assert!(refused.contains("base.json") && refused.contains(REMEDY), "{refused}");
    }

    #[test]
    fn a_file_without_end_or_without_contents_is_refused() {
        for path in ["/dev/zero", "/nonexistent/base.json", "/tmp"] {
            let refused = read_baseline(Path::new(path)).unwrap_err();
            assert!(matches!(refused, BaselineError::Input(_)), "{refused}");
        }
    }
}
