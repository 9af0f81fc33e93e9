//! A scenario: which broker, which queues, who publishes, who consumes, what is recorded.
//!
//! `model` holds what is valid. What a TOML file may say (`wire`) is private: [`parse`] reads the
//! text with its positions (`document`), turns it into wire types with structured errors
//! (`reader`) and these into the model (`validate`). Every refusal names file, line and key.

mod connecting;
mod document;
mod error;
mod model;
mod reader;
mod validate;
mod wire;

pub use connecting::{Allocation, Auth, Connecting, Recovery, Tls};
pub use error::{Origin, ScenarioError};
pub use model::{
    AfterPhases, Arrival, Binding, Body, BrokerSpec, COUNTS, ChurnGroup, ChurnKind, ChurnSubject,
    ChurnedQueue, Comparison, ConfirmTimeout, ConsumerGroup, Demand, ExchangeSpec, Expect,
    Expectation, FieldValue, LATENCIES, LatePolicy, Limit, MemberQueues, MessageProperties, Metric,
    NO_WINDOW, NumberRange, PasswordSource, Phase, PollerGroup, PollerLogin, PollerTrust,
    ProcessingStep, ProfileEvent, ProfileSpec, PublisherGroup, QUANTILES, QueueNames, QueueSpec,
    QueueType, RATES, ReplyPath, RequestGroup, ResponderGroup, RoutingKeys, RunOptions,
    STAMP_BYTES, STAMP_HEADER, Scenario, Schedule, Settle, SizeStep, Stop, TIMES, ThrowawayBroker,
    Time, Until, WarmUp, WriteMode, has_placeholder,
};

use document::Document;
use error::Problem;

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
    let wire = reader::read(document.root());
    let scenario = wire.and_then(|wire| validate::scenario(wire, read));
    scenario.map_err(|problem| document.locate(problem).in_file(file))
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

#[cfg(test)]
mod tests;
