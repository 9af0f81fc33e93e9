//! What a broker looks like at one moment, for `broker.json`.
//!
//! A throwaway node is asked by Erlang expression (`snapshot.erl`). It writes its answer to a file
//! in its own directory, which has room for any number of queues. Settings are named one by one, so
//! that none can carry a secret. Of a broker that somebody else started only what AMQP told.

use std::fs;

use rabbitscope_runs::record::BrokerFacts;
use serde::Serialize;
use serde_json::Value;

use super::broker::Target;

const EXPRESSION: &str = include_str!("snapshot.erl");

/// Contents of `broker.json`.
#[derive(Debug, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct BeforeAndAfter {
    pub(super) facts: BrokerFacts,
    /// How `before` and `after` were obtained.
    pub(super) source: &'static str,
    pub(super) before: Value,
    pub(super) after: Value,
}

/// How [`take`] obtains its answer from this broker.
pub(super) fn source(target: &Target) -> &'static str {
    match target.throwaway {
        Some(_) => "evaluated on the node",
        None => "not asked: the broker was not started by rabbitscope",
    }
}

/// The broker now; [`Value::Null`] when it is not ours to ask, or says why it did not answer.
pub(super) fn take(target: &Target) -> Value {
    let Some(broker) = &target.throwaway else { return Value::Null };
    let file = broker.directory.join("snapshot.json");
    let expression = EXPRESSION.replace("@FILE@", &file.display().to_string());
    let answer = broker.eval(&expression).map_err(|error| error.to_string());
    let text = answer.and_then(|_| fs::read(&file).map_err(|error| error.to_string()));
    let value =
        text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    value.unwrap_or_else(|error| serde_json::json!({ "error": error }))
}
