//! The state of a broker at one moment, for `broker.json`.
//!
//! A throwaway node evaluates an Erlang expression (`snapshot.erl`). It writes its answer to a file in its own
//! directory, which has room for any number of queues. The expression names each setting, so that none can carry a
//! secret. For a broker that rabbitscope did not start, only the facts from AMQP are recorded.

use std::fs;

use rabbitscope_runs::record::BrokerState;

use super::broker::Target;

const EXPRESSION: &str = include_str!("snapshot.erl");

/// Returns the way in which [`take`] obtains its answer from this broker.
pub(super) fn source(target: &Target) -> &'static str {
    match target.throwaway {
        Some(_) => "evaluated on the node",
        None => "not asked: the broker was not started by rabbitscope",
    }
}

/// Returns the current state of the broker, or the reason for a missing answer. Absent for a broker that rabbitscope did
/// not start.
pub(super) fn take(target: &Target) -> Option<BrokerState> {
    let broker = target.throwaway.as_ref()?;
    let file = broker.directory.join("snapshot.json");
    let expression = EXPRESSION.replace("@FILE@", &file.display().to_string());
    let answer = broker.eval(&expression).map_err(|error| error.to_string());
    let text = answer.and_then(|_| fs::read(&file).map_err(|error| error.to_string()));
    let state =
        text.and_then(|text| serde_json::from_slice(&text).map_err(|error| error.to_string()));
    Some(state.unwrap_or_else(|error| BrokerState::Failed { error }))
}
