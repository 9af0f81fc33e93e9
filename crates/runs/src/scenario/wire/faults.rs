//! `[[faults]]`. The keys that apply to each kind are checked in `validate`.

use rabbitscope_text::display_duration;
use serde::{Deserialize, Serialize};
use toml::Value;

use super::super::model::{FaultKind, FaultNode, FaultSpec};

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Fault {
    pub(in crate::scenario) kind: FaultKind,
    /// A number, or one of two words.
    pub(in crate::scenario) node: Option<Value>,
    pub(in crate::scenario) queue: Option<String>,
    pub(in crate::scenario) at: String,
    pub(in crate::scenario) every: Option<String>,
    pub(in crate::scenario) times: Option<u64>,
    pub(in crate::scenario) until: Option<String>,
    #[serde(rename = "for")]
    pub(in crate::scenario) lasts: Option<String>,
}

impl From<&FaultSpec> for Fault {
    fn from(fault: &FaultSpec) -> Self {
        let time = |time| display_duration(time).to_string();
        let (node, queue) = match &fault.node {
            FaultNode::Number(number) => (Value::Integer(i64::from(*number)), None),
            FaultNode::Random => (Value::String("random".to_owned()), None),
            FaultNode::LeaderOf(queue) => (Value::String("leader".to_owned()), Some(queue.clone())),
        };
        Self {
            kind: fault.kind,
            node: Some(node),
            queue,
            at: time(fault.at),
            every: fault.repetition.map(|repetition| time(repetition.every)),
            times: fault.repetition.and_then(|repetition| repetition.times),
            until: fault.repetition.and_then(|repetition| repetition.until).map(time),
            lasts: fault.lasts.map(time),
        }
    }
}
