//! What a scenario file may say. Nothing here has been checked beyond its type.
//!
//! The same types write the resolved scenario, so that reading and writing cannot drift apart.

mod churn;
mod rpc;

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use super::model::{self, BrokerSpec, FieldValue, ProfileEvent, QueueType};
use crate::units::{display_duration, display_size};
pub(super) use churn::Churn;
pub(super) use rpc::{Requests, Responders};

type Arguments = BTreeMap<String, FieldValue>;

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Scenario {
    pub(super) name: String,
    pub(super) description: Option<String>,
    pub(super) seed: Option<u64>,
    pub(super) broker: Option<Broker>,
    pub(super) run: Option<Run>,
    pub(super) profile: Option<Profile>,
    #[serde(default)]
    pub(super) queues: Vec<Queue>,
    #[serde(default)]
    pub(super) publishers: Vec<Publishers>,
    #[serde(default)]
    pub(super) consumers: Vec<Consumers>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) requests: Vec<Requests>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) responders: Vec<Responders>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) churn: Vec<Churn>,
}

#[derive(Debug, Default, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Broker {
    pub(super) uri: Option<String>,
    pub(super) plugins: Option<Vec<String>>,
    pub(super) config: Option<String>,
    pub(super) advanced_config: Option<String>,
    pub(super) erl_args: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Run {
    pub(super) duration: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Queue {
    pub(super) name: String,
    #[serde(rename = "type")]
    pub(super) kind: Option<QueueType>,
    pub(super) durable: Option<bool>,
    pub(super) exclusive: Option<bool>,
    pub(super) auto_delete: Option<bool>,
    pub(super) keep: Option<bool>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) arguments: Arguments,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) bindings: Vec<Binding>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Binding {
    pub(super) exchange: String,
    pub(super) routing_key: Option<String>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Publishers {
    pub(super) name: Option<String>,
    pub(super) count: Option<u32>,
    pub(super) connections: Option<u32>,
    pub(super) channels: Option<u32>,
    pub(super) queue: Option<String>,
    pub(super) exchange: Option<String>,
    pub(super) routing_key: Option<String>,
    pub(super) size: Option<String>,
    pub(super) persistent: Option<bool>,
    pub(super) confirm_window: Option<u32>,
    pub(super) mandatory: Option<bool>,
    pub(super) rate: Option<f64>,
    pub(super) messages: Option<u64>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Consumers {
    pub(super) name: Option<String>,
    pub(super) count: Option<u32>,
    pub(super) connections: Option<u32>,
    pub(super) channels: Option<u32>,
    pub(super) queue: String,
    pub(super) prefetch: Option<u16>,
    pub(super) auto_ack: Option<bool>,
    pub(super) multi_ack_every: Option<u32>,
    pub(super) messages: Option<u64>,
    #[serde(default, skip_serializing_if = "BTreeMap::is_empty")]
    pub(super) arguments: Arguments,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(super) struct Profile {
    pub(super) event: Option<ProfileEvent>,
    pub(super) delay: Option<String>,
    pub(super) duration: String,
    pub(super) freq: Option<u32>,
}

impl Serialize for model::Scenario {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        Scenario::from(self).serialize(serializer)
    }
}

impl From<&model::Scenario> for Scenario {
    fn from(scenario: &model::Scenario) -> Self {
        Self {
            name: scenario.name.clone(),
            description: Some(scenario.description.clone()),
            seed: Some(scenario.seed),
            broker: Some(Broker::from(&scenario.broker)),
            run: scenario
                .stop
                .duration
                .map(|time| Run { duration: Some(display_duration(time).to_string()) }),
            profile: scenario.profile.as_ref().map(Profile::from),
            queues: scenario.queues.iter().map(Queue::from).collect(),
            publishers: scenario.publishers.iter().map(Publishers::from).collect(),
            consumers: scenario.consumers.iter().map(Consumers::from).collect(),
            requests: scenario.requests.iter().map(Requests::from).collect(),
            responders: scenario.responders.iter().map(Responders::from).collect(),
            churn: scenario.churn.iter().map(Churn::from).collect(),
        }
    }
}

impl From<&BrokerSpec> for Broker {
    fn from(broker: &BrokerSpec) -> Self {
        match broker {
            BrokerSpec::Existing { uri } => {
                Self { uri: Some(without_password(uri)), ..Self::default() }
            }
            BrokerSpec::Throwaway(broker) => Self {
                uri: None,
                plugins: Some(broker.plugins.clone()),
                config: Some(broker.config.clone()),
                advanced_config: Some(broker.advanced_config.clone()),
                erl_args: Some(broker.erl_args.clone()),
            },
        }
    }
}

/// Cuts from the first `:` after the scheme to the last `@`, so that even a URI that is not valid
/// cannot leak its password.
fn without_password(uri: &str) -> String {
    let start = uri.find("://").map_or(0, |at| at + 3);
    match uri.rfind('@') {
        Some(end) if end > start => {
            let user = uri[start..end].split(':').next().unwrap_or_default();
            format!("{}{user}{}", &uri[..start], &uri[end..])
        }
        _ => uri.to_owned(),
    }
}

impl From<&model::QueueSpec> for Queue {
    fn from(queue: &model::QueueSpec) -> Self {
        Self {
            name: queue.name.clone(),
            kind: Some(queue.queue_type),
            durable: Some(queue.durable),
            exclusive: Some(queue.exclusive),
            auto_delete: Some(queue.auto_delete),
            keep: Some(queue.keep),
            arguments: queue.arguments.clone(),
            bindings: queue.bindings.iter().map(Binding::from).collect(),
        }
    }
}

impl From<&model::Binding> for Binding {
    fn from(binding: &model::Binding) -> Self {
        Self { exchange: binding.exchange.clone(), routing_key: Some(binding.routing_key.clone()) }
    }
}

impl From<&model::PublisherGroup> for Publishers {
    fn from(group: &model::PublisherGroup) -> Self {
        let to_queue = group.exchange.is_empty();
        let (queue, exchange) = if to_queue {
            (Some(group.routing_key.clone()), None)
        } else {
            (None, Some(group.exchange.clone()))
        };
        Self {
            name: Some(group.name.clone()),
            count: Some(group.count),
            connections: Some(group.connections),
            channels: Some(group.channels),
            queue,
            exchange,
            routing_key: (!to_queue).then(|| group.routing_key.clone()),
            size: Some(display_size(u64::from(group.size_bytes)).to_string()),
            persistent: Some(group.persistent),
            confirm_window: group.confirm_window,
            mandatory: Some(group.mandatory),
            rate: group.rate,
            messages: group.messages,
        }
    }
}

impl From<&model::ConsumerGroup> for Consumers {
    fn from(group: &model::ConsumerGroup) -> Self {
        Self {
            name: Some(group.name.clone()),
            count: Some(group.count),
            connections: Some(group.connections),
            channels: Some(group.channels),
            queue: group.queue.clone(),
            prefetch: group.prefetch,
            auto_ack: Some(group.auto_ack),
            multi_ack_every: Some(group.multi_ack_every),
            messages: group.messages,
            arguments: group.arguments.clone(),
        }
    }
}

impl From<&model::ProfileSpec> for Profile {
    fn from(profile: &model::ProfileSpec) -> Self {
        Self {
            event: Some(profile.event),
            delay: Some(display_duration(profile.delay).to_string()),
            duration: display_duration(profile.duration).to_string(),
            freq: Some(profile.freq_hz),
        }
    }
}
