//! The state of a broker at one moment, for `broker.json`.
//!
//! A throwaway node evaluates an Erlang expression (`snapshot.erl`). It writes its answer to a file in its own
//! directory, which has room for any number of queues. The expression names each setting, so that none can carry a
//! secret. For a broker that rabbitscope did not start, only the facts from AMQP are recorded.

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
    /// Description of the source of `before` and `after`.
    pub(super) source: &'static str,
    pub(super) before: Value,
    pub(super) after: Value,
}

/// Returns the way in which [`take`] obtains its answer from this broker.
pub(super) fn source(target: &Target) -> &'static str {
    match target.throwaway {
        Some(_) => "evaluated on the node",
        None => "not asked: the broker was not started by rabbitscope",
    }
}

/// Returns the current state of the broker, or the reason for a missing answer. Returns [`Value::Null`] for a broker
/// that rabbitscope did not start.
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
