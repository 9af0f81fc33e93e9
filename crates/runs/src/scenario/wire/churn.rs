//! `[[churn]]`. The keys that apply to each kind are checked in `validate`.

use serde::{Deserialize, Serialize};

use super::super::model::{ChurnGroup, ChurnKind, ChurnSubject, QueueType};
use super::values::Arguments;
use rabbitscope_text::display_duration;

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Churn {
    pub(in crate::scenario) name: Option<String>,
    pub(in crate::scenario) kind: ChurnKind,
    pub(in crate::scenario) concurrency: Option<u32>,
    pub(in crate::scenario) connections: Option<u32>,
    pub(in crate::scenario) rate: Option<f64>,
    pub(in crate::scenario) hold: Option<String>,
    pub(in crate::scenario) cycles: Option<u64>,
    #[serde(rename = "type")]
    pub(in crate::scenario) queue_type: Option<QueueType>,
    pub(in crate::scenario) durable: Option<bool>,
    pub(in crate::scenario) exclusive: Option<bool>,
    pub(in crate::scenario) auto_delete: Option<bool>,
    pub(in crate::scenario) queue: Option<String>,
    pub(in crate::scenario) exchange: Option<String>,
    pub(in crate::scenario) arguments: Option<Arguments>,
}

impl From<&ChurnGroup> for Churn {
    fn from(group: &ChurnGroup) -> Self {
        let is_of_connections = group.subject == ChurnSubject::Connections;
        let mut wire = Self {
            name: Some(group.name.clone()),
            kind: group.subject.kind(),
            concurrency: Some(group.concurrency),
            connections: (!is_of_connections).then_some(group.connections),
            rate: group.rate,
            hold: (!group.hold.is_zero()).then(|| display_duration(group.hold).to_string()),
            cycles: group.cycles,
            queue_type: None,
            durable: None,
            exclusive: None,
            auto_delete: None,
            queue: group.subject.queue().map(str::to_owned),
            exchange: None,
            arguments: None,
        };
        match &group.subject {
            ChurnSubject::Connections | ChurnSubject::Channels => {}
            ChurnSubject::Queues(queue) => {
                wire.queue_type = Some(queue.queue_type);
                wire.durable = Some(queue.durable);
                wire.exclusive = Some(queue.exclusive);
                wire.auto_delete = Some(queue.auto_delete);
                wire.arguments = Some(queue.arguments.clone());
            }
            ChurnSubject::Bindings { exchange, arguments, .. } => {
                wire.exchange = Some(exchange.clone());
                wire.arguments = Some(arguments.clone());
            }
            ChurnSubject::Consumers { arguments, .. } => {
                wire.arguments = Some(arguments.clone());
            }
        }
        wire
    }
}
