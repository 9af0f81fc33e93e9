//! `[[exchanges]]` and `[[queues]]`.

use serde::{Deserialize, Serialize};

use super::super::model::{self, QueueNames, QueueType};
use super::values::Arguments;

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Exchange {
    pub(in crate::scenario) name: String,
    #[serde(rename = "type")]
    pub(in crate::scenario) kind: Option<String>,
    pub(in crate::scenario) durable: Option<bool>,
    pub(in crate::scenario) auto_delete: Option<bool>,
    pub(in crate::scenario) internal: Option<bool>,
    pub(in crate::scenario) predeclared: Option<bool>,
    pub(in crate::scenario) if_missing: Option<bool>,
    pub(in crate::scenario) keep: Option<bool>,
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub(in crate::scenario) arguments: Arguments,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) bindings: Vec<Binding>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Queue {
    pub(in crate::scenario) name: String,
    pub(in crate::scenario) from: Option<u32>,
    pub(in crate::scenario) to: Option<u32>,
    pub(in crate::scenario) names: Option<Vec<String>>,
    #[serde(skip_serializing)]
    pub(in crate::scenario) names_file: Option<String>,
    pub(in crate::scenario) server_named: Option<bool>,
    #[serde(rename = "type")]
    pub(in crate::scenario) kind: Option<QueueType>,
    pub(in crate::scenario) durable: Option<bool>,
    pub(in crate::scenario) exclusive: Option<bool>,
    pub(in crate::scenario) auto_delete: Option<bool>,
    pub(in crate::scenario) predeclared: Option<bool>,
    pub(in crate::scenario) if_missing: Option<bool>,
    pub(in crate::scenario) bind_existing: Option<bool>,
    pub(in crate::scenario) keep: Option<bool>,
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub(in crate::scenario) arguments: Arguments,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) bindings: Vec<Binding>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Binding {
    pub(in crate::scenario) exchange: String,
    pub(in crate::scenario) routing_key: Option<String>,
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub(in crate::scenario) arguments: Arguments,
}

impl From<&model::ExchangeSpec> for Exchange {
    fn from(exchange: &model::ExchangeSpec) -> Self {
        Self {
            name: exchange.name.clone(),
            kind: Some(exchange.kind.clone()),
            durable: Some(exchange.durable),
            auto_delete: Some(exchange.auto_delete),
            internal: Some(exchange.internal),
            predeclared: Some(exchange.predeclared),
            if_missing: Some(exchange.if_missing),
            keep: Some(exchange.keep),
            arguments: exchange.arguments.clone(),
            bindings: exchange.bindings.iter().map(Binding::from).collect(),
        }
    }
}

impl From<&model::QueueSpec> for Queue {
    fn from(queue: &model::QueueSpec) -> Self {
        let (range, names) = match &queue.names {
            QueueNames::One | QueueNames::ByBroker => (None, None),
            QueueNames::Numbered(range) => (Some(range), None),
            QueueNames::Listed(names) => (None, Some(names.clone())),
        };
        Self {
            name: queue.name.clone(),
            from: range.map(|range| range.from),
            to: range.map(|range| range.to),
            names,
            names_file: None,
            server_named: Some(queue.names == QueueNames::ByBroker),
            kind: Some(queue.queue_type),
            durable: Some(queue.durable),
            exclusive: Some(queue.exclusive),
            auto_delete: Some(queue.auto_delete),
            predeclared: Some(queue.predeclared),
            if_missing: Some(queue.if_missing),
            bind_existing: (!queue.bindings.is_empty()).then_some(queue.bind_existing),
            keep: Some(queue.keep),
            arguments: queue.arguments.clone(),
            bindings: queue.bindings.iter().map(Binding::from).collect(),
        }
    }
}

impl From<&model::Binding> for Binding {
    fn from(binding: &model::Binding) -> Self {
        Self {
            exchange: binding.exchange.clone(),
            routing_key: Some(binding.routing_key.clone()),
            arguments: binding.arguments.clone(),
        }
    }
}
