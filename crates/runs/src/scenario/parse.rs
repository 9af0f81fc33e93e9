//! Parser of scenarios.

use serde::de::DeserializeOwned;

use super::document::Document;
use super::error::Problem;
use super::{reader, validate};
use crate::scenario::{Scenario, ScenarioError};

/// Reads a scenario from TOML. `file` is only used in messages. Each of `overrides` is `key=value` with a dotted key,
/// for example `publishers.0.rate=5000`; its value is TOML or, failing that, a string.
pub fn parse(text: &str, file: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    parse_with_files(text, file, overrides, &mut |_| Err("no file can be read here".to_owned()))
}

/// Reads a scenario like [`parse`], including the further text files that it names. `read` receives the path as
/// written, and returns the text or a reason for a person. The text becomes part of the scenario.
pub fn parse_with_files(
    text: &str,
    file: &str,
    overrides: &[String],
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Scenario, ScenarioError> {
    let document = Document::parse(text, overrides).map_err(|problem| problem.in_file(file))?;
    let checked = reader::read(document.root()).and_then(|mut scenario: Scenario| {
        validate::check(&mut scenario, read)?;
        Ok(scenario)
    });
    checked.map_err(|problem| document.locate(problem).in_file(file))
}

/// Reads a different configuration file with a scenario's refusals, which name file, line, key and allowed values. `T`
/// is the form of the file; `validate` converts it into the valid form, or returns the dotted key and the reason.
pub fn read_configuration<T: DeserializeOwned, V>(
    text: &str,
    file: &str,
    validate: impl FnOnce(T) -> Result<V, (String, String)>,
) -> Result<V, ScenarioError> {
    let document = Document::parse(text, &[]).map_err(|problem| problem.in_file(file))?;
    let at = |(key, reason): (String, String)| {
        let path = key.split('.').filter(|part| !part.is_empty()).map(str::to_owned).collect();
        Problem { path, ..Problem::new(reason) }
    };
    let read = reader::read::<T>(document.root());
    let valid = read.and_then(|read| validate(read).map_err(at));
    valid.map_err(|problem| document.locate(problem).in_file(file))
}

/// Returns the refusal of a value that [`parse`] accepted. Its dotted key leads to the line of the value, or to the
/// override that set it. The text and the overrides must be the parsed ones.
pub fn refusal(
    text: &str,
    file: &str,
    overrides: &[String],
    key: &str,
    reason: String,
) -> ScenarioError {
    let mut problem = Problem::new(reason);
    problem.path = key.split('.').map(str::to_owned).collect();
    match Document::parse(text, overrides) {
        Ok(document) => document.locate(problem).in_file(file),
        Err(_) => problem.in_file(file),
    }
}

impl Scenario {
    /// Returns the scenario as a file that [`parse`] reads back, with every default written out. Omits a password in
    /// the broker's URI.
    pub fn to_toml(&self) -> String {
        toml::to_string(self).expect("scenarios are tables of plain values with string keys")
    }
}
