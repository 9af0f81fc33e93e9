//! Reads a scenario from its text.

use serde::de::DeserializeOwned;

use super::document::Document;
use super::error::Problem;
use super::{reader, validate, wire};
use crate::scenario::{Scenario, ScenarioError};

/// Reads a scenario from TOML. `file` is for messages only. Each of `overrides` is `key=value` with
/// a dotted key, for example `publishers.0.rate=5000`; its value is TOML or, failing that, a string.
pub fn parse(text: &str, file: &str, overrides: &[String]) -> Result<Scenario, ScenarioError> {
    parse_with_files(text, file, overrides, &mut |_| Err("no file can be read here".to_owned()))
}

/// As [`parse`], for scenarios that name further text files: `read` is given the path as written,
/// and says for a person why it cannot be read. What was read becomes part of the scenario.
pub fn parse_with_files(
    text: &str,
    file: &str,
    overrides: &[String],
    read: &mut dyn FnMut(&str) -> Result<String, String>,
) -> Result<Scenario, ScenarioError> {
    let document = Document::parse(text, overrides).map_err(|problem| problem.in_file(file))?;
    let wire = reader::read::<wire::Scenario>(document.root());
    let scenario = wire.and_then(|wire| validate::scenario(wire, read));
    scenario.map_err(|problem| document.locate(problem).in_file(file))
}

/// Reads another configuration file with a scenario's refusals, which name file, line, key and what is allowed. `T` is
/// what the file may say; `validate` makes of it what is valid, or gives the dotted key and the reason.
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
    let wire = reader::read::<T>(document.root());
    let valid = wire.and_then(|wire| validate(wire).map_err(at));
    valid.map_err(|problem| document.locate(problem).in_file(file))
}

/// A refusal of a value that [`parse`] took, found by its dotted key: with the line that it is in, or that
/// an override has set it. The text and the overrides are those that were parsed.
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
    /// The scenario as a file that [`parse`] reads back, every default written out. A password in
    /// the broker's URI is left out.
    pub fn to_toml(&self) -> String {
        toml::to_string(&wire::Scenario::from(self))
            .expect("wire types are tables of plain values with string keys")
    }
}
