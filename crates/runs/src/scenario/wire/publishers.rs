//! `[[publishers]]`.

use serde::{Deserialize, Serialize};

use super::values::{Arguments, unless_zero};
use super::{
    super::model::{
        self, AfterPhases, Algorithm, Arrival, Body, LatePolicy, MemberQueues, NO_WINDOW,
        RoutingKeys, WriteMode,
    },
    Phase,
};
use rabbitscope_text::{display_duration, display_size};

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Publishers {
    pub(in crate::scenario) name: Option<String>,
    pub(in crate::scenario) count: Option<u32>,
    pub(in crate::scenario) connections: Option<u32>,
    pub(in crate::scenario) channels: Option<u32>,
    pub(in crate::scenario) queue: Option<String>,
    pub(in crate::scenario) exchange: Option<String>,
    pub(in crate::scenario) routing_key: Option<String>,
    pub(in crate::scenario) member_queues: Option<MemberQueues>,
    pub(in crate::scenario) from: Option<u32>,
    pub(in crate::scenario) to: Option<u32>,
    pub(in crate::scenario) routing_keys: Option<Vec<String>>,
    pub(in crate::scenario) random_routing_keys: Option<u32>,
    pub(in crate::scenario) size: Option<String>,
    pub(in crate::scenario) sizes: Option<Vec<SizeStep>>,
    pub(in crate::scenario) body: Option<BodyKind>,
    pub(in crate::scenario) json_bodies: Option<u32>,
    pub(in crate::scenario) json_fields: Option<u32>,
    pub(in crate::scenario) body_files: Option<Vec<String>>,
    pub(in crate::scenario) items_per_message: Option<u32>,
    pub(in crate::scenario) compression: Option<Algorithm>,
    pub(in crate::scenario) compression_level: Option<u32>,
    pub(in crate::scenario) persistent: Option<bool>,
    pub(in crate::scenario) confirms: Option<bool>,
    pub(in crate::scenario) confirm_window: Option<u32>,
    pub(in crate::scenario) confirm_timeout: Option<String>,
    pub(in crate::scenario) on_confirm_timeout: Option<OnConfirmTimeout>,
    pub(in crate::scenario) republish_unconfirmed: Option<bool>,
    pub(in crate::scenario) write: Option<WriteMode>,
    pub(in crate::scenario) tx_size: Option<u32>,
    pub(in crate::scenario) mandatory: Option<bool>,
    pub(in crate::scenario) rate: Option<f64>,
    #[serde(skip_serializing)]
    pub(in crate::scenario) interval: Option<String>,
    pub(in crate::scenario) arrival: Option<Arrival>,
    pub(in crate::scenario) after_phases: Option<AfterPhases>,
    pub(in crate::scenario) late: Option<LatePolicy>,
    pub(in crate::scenario) messages: Option<u64>,
    pub(in crate::scenario) start_delay: Option<String>,
    pub(in crate::scenario) random_start_delay: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) phases: Vec<Phase>,
    #[serde(default, skip_serializing_if = "Properties::is_empty")]
    pub(in crate::scenario) properties: Properties,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct SizeStep {
    pub(in crate::scenario) size: String,
    #[serde(rename = "for")]
    pub(in crate::scenario) lasts: String,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum BodyKind {
    Filler,
    Json,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(in crate::scenario) enum OnConfirmTimeout {
    Count,
    Fail,
}

#[derive(Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Properties {
    pub(in crate::scenario) content_type: Option<String>,
    pub(in crate::scenario) content_encoding: Option<String>,
    pub(in crate::scenario) delivery_mode: Option<u8>,
    pub(in crate::scenario) priority: Option<u8>,
    pub(in crate::scenario) correlation_id: Option<String>,
    pub(in crate::scenario) reply_to: Option<String>,
    pub(in crate::scenario) expiration: Option<String>,
    pub(in crate::scenario) message_id: Option<String>,
    pub(in crate::scenario) timestamp: Option<u64>,
    #[serde(rename = "type")]
    pub(in crate::scenario) kind: Option<String>,
    pub(in crate::scenario) user_id: Option<String>,
    pub(in crate::scenario) app_id: Option<String>,
    pub(in crate::scenario) cluster_id: Option<String>,
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub(in crate::scenario) headers: Arguments,
}

impl Properties {
    fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}

impl From<&model::PublisherGroup> for Publishers {
    fn from(group: &model::PublisherGroup) -> Self {
        let schedule = &group.schedule;
        let to_queue = group.exchange.is_empty();
        let of_queue = to_queue || group.keys == RoutingKeys::QueueNames;
        let has_key = matches!(group.keys, RoutingKeys::Fixed | RoutingKeys::Numbered(_));
        let range = match group.keys {
            RoutingKeys::Numbered(range) => Some(range),
            _ => None,
        };
        let (routing_keys, random_routing_keys) = various_keys(&group.keys);
        let (body, json_bodies, json_fields, body_files) = body(&group.body);
        let compression = group.packing.compression;
        let has_size = group.sizes.is_empty() && body_files.is_none();
        Self {
            name: Some(group.name.clone()),
            count: Some(group.count),
            connections: Some(group.connections),
            channels: Some(group.channels),
            queue: of_queue.then(|| group.routing_key.clone()),
            exchange: (!to_queue).then(|| group.exchange.clone()),
            routing_key: (!to_queue && has_key).then(|| group.routing_key.clone()),
            member_queues: Some(group.member_queues),
            from: range.map(|range| range.from),
            to: range.map(|range| range.to),
            routing_keys,
            random_routing_keys,
            size: has_size.then(|| display_size(u64::from(group.size_bytes)).to_string()),
            sizes: steps(&group.sizes),
            body,
            json_bodies,
            json_fields,
            body_files,
            items_per_message: Some(group.packing.items).filter(|items| *items > 1),
            compression: compression.map(|compression| compression.algorithm),
            compression_level: compression.map(|compression| compression.level),
            persistent: Some(group.persistent).filter(|_| group.properties.delivery_mode.is_none()),
            confirms: (group.confirm_window == Some(NO_WINDOW)).then_some(true),
            confirm_window: group.confirm_window.filter(|window| *window != NO_WINDOW),
            confirm_timeout: group
                .confirm_timeout
                .map(|timeout| display_duration(timeout.after).to_string()),
            on_confirm_timeout: group.confirm_timeout.map(|timeout| {
                if timeout.ends_run { OnConfirmTimeout::Fail } else { OnConfirmTimeout::Count }
            }),
            republish_unconfirmed: group.confirm_window.map(|_| group.republish_unconfirmed),
            write: Some(group.write),
            tx_size: group.tx_size,
            mandatory: Some(group.mandatory),
            rate: schedule.rate,
            interval: None,
            arrival: schedule.is_set().then_some(schedule.arrival),
            after_phases: (!schedule.phases.is_empty()).then_some(schedule.after_phases),
            late: schedule.is_set().then_some(group.late),
            phases: schedule.phases.iter().map(Phase::from).collect(),
            messages: group.messages,
            start_delay: unless_zero(group.start_delay),
            random_start_delay: unless_zero(group.random_start_delay),
            properties: Properties::from(&group.properties),
        }
    }
}

fn various_keys(keys: &RoutingKeys) -> (Option<Vec<String>>, Option<u32>) {
    match keys {
        RoutingKeys::Listed(keys) => (Some(keys.clone()), None),
        RoutingKeys::Random(count) => (None, Some(*count)),
        _ => (None, None),
    }
}

type BodyKeys = (Option<BodyKind>, Option<u32>, Option<u32>, Option<Vec<String>>);

fn body(body: &Body) -> BodyKeys {
    match body {
        Body::Filler => (Some(BodyKind::Filler), None, None, None),
        Body::Json { documents, fields } => (Some(BodyKind::Json), Some(*documents), *fields, None),
        Body::Files(files) => (None, None, None, Some(files.clone())),
    }
}

fn steps(steps: &[model::SizeStep]) -> Option<Vec<SizeStep>> {
    let written = steps.iter().map(|step| SizeStep {
        size: display_size(u64::from(step.size_bytes)).to_string(),
        lasts: display_duration(step.lasts).to_string(),
    });
    (!steps.is_empty()).then(|| written.collect())
}

impl From<&model::MessageProperties> for Properties {
    fn from(properties: &model::MessageProperties) -> Self {
        let properties = properties.clone();
        Self {
            content_type: properties.content_type,
            content_encoding: properties.content_encoding,
            delivery_mode: properties.delivery_mode,
            priority: properties.priority,
            correlation_id: properties.correlation_id,
            reply_to: properties.reply_to,
            expiration: properties.expiration.map(|time| display_duration(time).to_string()),
            message_id: properties.message_id,
            timestamp: properties.timestamp,
            kind: properties.kind,
            user_id: properties.user_id,
            app_id: properties.app_id,
            cluster_id: properties.cluster_id,
            headers: properties.headers,
        }
    }
}
