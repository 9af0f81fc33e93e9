//! `broker.json`: the state of the broker before and after a run.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use super::BrokerFacts;

/// Contents of `broker.json`.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct BrokerStates {
    /// The broker as at its connection.
    pub facts: BrokerFacts,
    /// Description of the source of `before` and `after`.
    pub source: String,
    /// The state before the load; absent for a broker that rabbitscope did not start.
    pub before: Option<BrokerState>,
    /// The state after the load.
    pub after: Option<BrokerState>,
}

/// The answer of a throwaway node, or the reason for a missing one.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum BrokerState {
    /// The node did not answer.
    Failed {
        /// The reason.
        error: String,
    },
    /// The answer. Boxed, because it is much larger than a reason.
    Read(Box<NodeState>),
}

/// The state of a throwaway node at one moment.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct NodeState {
    /// Raised alarms, as Erlang terms.
    pub alarms: Vec<String>,
    /// Bindings of the virtual host `/`.
    pub bindings: Vec<BindingState>,
    /// Settings of the application `rabbit`, as Erlang terms. Only listed ones, so that none is a secret.
    pub environment: BTreeMap<String, String>,
    /// Memory by kind in bytes, and its total as the release reports it.
    pub memory: BTreeMap<String, PlainTerm>,
    /// OTP release, such as `"25"`.
    pub otp: String,
    /// Number of Erlang processes.
    pub processes: u64,
    /// All queues.
    pub queues: Vec<QueueState>,
    /// Number of schedulers online.
    pub schedulers: u64,
}

/// A queue of [`NodeState`].
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(default)]
pub struct QueueState {
    /// The queue survives a restart.
    pub durable: PlainTerm,
    /// Memory of its process in bytes.
    pub memory: PlainTerm,
    /// Messages, ready or not.
    pub messages: PlainTerm,
    /// Name of the queue.
    pub name: String,
    /// Module of its type, such as `rabbit_quorum_queue`.
    pub r#type: String,
}

/// A binding of [`NodeState`].
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(default)]
pub struct BindingState {
    /// Name of the queue or exchange.
    pub destination: String,
    /// Routing key.
    pub key: String,
    /// Name of the exchange.
    pub source: String,
}

/// A value of the node: a number, a truth value, or any other term as text.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(untagged)]
pub enum PlainTerm {
    /// An integer.
    Number(i64),
    /// `true` or `false`.
    Truth(bool),
    /// A text, or another term as Erlang prints it.
    Text(String),
}

impl Default for PlainTerm {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

impl BrokerState {
    /// Returns the state; absent if the node did not answer.
    pub fn read(&self) -> Option<&NodeState> {
        match self {
            Self::Read(state) => Some(state),
            Self::Failed { .. } => None,
        }
    }
}

impl NodeState {
    /// Returns a setting as an Erlang term; absent if the node did not tell it.
    pub fn setting(&self, name: &str) -> Option<&str> {
        self.environment.get(name).map(String::as_str)
    }
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::*;

    #[test]
    fn a_file_is_written_as_it_was_read() {
        let node = json!({
            "alarms": ["{resource_limit,memory,a@b}"],
            "bindings": [{ "destination": "q", "key": "k", "source": "e" }],
            "environment": { "collect_statistics": "fine" },
            "memory": { "binary": 5, "total": "[{erlang,7},{rss,9}]" },
            "otp": "\"25\"",
            "processes": 300,
            "queues": [{
                "durable": true, "memory": 1, "messages": 2, "name": "q", "type": "rabbit_classic_queue"
            }],
            "schedulers": 2,
        });
        let facts = serde_json::to_value(BrokerFacts::default()).unwrap();
        let file = |before: Value| json!({ "facts": facts, "source": "s", "before": before, "after": null });
        for before in [node, json!({ "error": "no answer" }), Value::Null] {
            let states: BrokerStates = serde_json::from_value(file(before.clone())).unwrap();
            assert_eq!(serde_json::to_value(&states).unwrap(), file(before.clone()));
            let state = states.before.as_ref().and_then(BrokerState::read);
            assert_eq!(state.is_some(), before["otp"].is_string());
        }
        assert_eq!(serde_json::from_str::<BrokerStates>("{}").unwrap(), BrokerStates::default());
    }
}
