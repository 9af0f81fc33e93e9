//! Refusals of scenarios.

use std::fmt;

/// A refusal: the place, the problem, and the allowed values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ScenarioError {
    /// The file, as given.
    pub file: String,
    /// The source of the value.
    pub origin: Origin,
    /// Dotted path of the key, such as `publishers.0.rate`; empty for the file as a whole.
    pub key: String,
    /// The problem, and the allowed values.
    pub reason: String,
}

/// The source of a value.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Origin {
    /// The file, at an unknown line.
    File,
    /// The file, at this line (the first is 1).
    Line(usize),
    /// An override given with `--set`.
    Override,
}

impl fmt::Display for ScenarioError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.file)?;
        match self.origin {
            Origin::File => {}
            Origin::Line(line) => write!(f, ":{line}")?,
            Origin::Override => f.write_str(" (--set)")?,
        }
        if !self.key.is_empty() {
            write!(f, ": `{}`", self.key)?;
        }
        write!(f, ": {}", self.reason)
    }
}

impl std::error::Error for ScenarioError {}

/// A refusal that does not know its file yet.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Problem {
    pub(super) path: Vec<String>,
    pub(super) origin: Origin,
    pub(super) reason: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.reason)
    }
}

/// Required by serde.
impl std::error::Error for Problem {}

impl Problem {
    pub(crate) fn new(reason: impl Into<String>) -> Self {
        Self { path: Vec::new(), origin: Origin::File, reason: reason.into() }
    }

    /// Returns the problem as seen from one level further out, with `key` in front of its path.
    pub(crate) fn under(mut self, key: impl Into<String>) -> Self {
        self.path.insert(0, key.into());
        self
    }

    pub(crate) fn in_file(self, file: &str) -> ScenarioError {
        ScenarioError {
            file: file.to_owned(),
            origin: self.origin,
            key: self.path.join("."),
            reason: self.reason,
        }
    }
}

/// Returns a refusal at `key`, relative to the current table.
pub(crate) fn refuse<T>(key: &str, reason: impl Into<String>) -> Result<T, Problem> {
    Err(Problem::new(reason).under(key))
}

/// Returns a refusal at the key to which `path` leads from the current table.
pub(crate) fn refuse_at<T>(path: &[&str], reason: impl Into<String>) -> Result<T, Problem> {
    let path = path.iter().map(|key| (*key).to_owned()).collect();
    Err(Problem { path, ..Problem::new(reason) })
}

/// Quotes the written text for a message. Hides text that may hold a password (`user:password@host`).
pub(super) fn quoted(text: &str) -> String {
    if text.contains('@') { "(not shown: it has an `@`)".to_owned() } else { format!("`{text}`") }
}

/// Lists the allowed names: ``one of `a`, `b`; did you mean `b`?``
pub(super) fn allowed(written: &str, names: &[&str]) -> String {
    let list: Vec<_> = names.iter().map(|name| format!("`{name}`")).collect();
    let hint = nearest_name(written, names)
        .map_or_else(String::new, |name| format!("; did you mean `{name}`?"));
    format!("{}{hint}", list.join(", "))
}

/// Returns the name that the author of `written` may have meant.
pub fn nearest_name<'a>(written: &str, names: &[&'a str]) -> Option<&'a str> {
    let (distance, name) = names.iter().map(|name| (distance(written, name), *name)).min()?;
    (distance <= 2.max(name.len() / 3) && distance < name.len()).then_some(name)
}

/// Returns the Levenshtein distance in bytes.
fn distance(a: &str, b: &str) -> usize {
    let mut row: Vec<usize> = (0..=b.len()).collect();
    for (i, x) in a.bytes().enumerate() {
        let mut diagonal = i;
        row[0] = i + 1;
        for (j, y) in b.bytes().enumerate() {
            let replaced = diagonal + usize::from(x != y);
            diagonal = row[j + 1];
            row[j + 1] = replaced.min(row[j] + 1).min(diagonal + 1);
        }
    }
    row[b.len()]
}
