//! `[[consumers]]`.

use serde::{Deserialize, Serialize};

use super::super::model::{self, FieldValue, MemberQueues, Settle};
use super::values::{Arguments, unless_zero};
use rabbitscope_text::display_duration;

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Consumers {
    pub(in crate::scenario) name: Option<String>,
    pub(in crate::scenario) count: Option<u32>,
    pub(in crate::scenario) connections: Option<u32>,
    pub(in crate::scenario) channels: Option<u32>,
    pub(in crate::scenario) queue: String,
    pub(in crate::scenario) member_queues: Option<MemberQueues>,
    pub(in crate::scenario) prefetch: Option<u16>,
    pub(in crate::scenario) channel_prefetch: Option<u16>,
    pub(in crate::scenario) auto_ack: Option<bool>,
    pub(in crate::scenario) multi_ack_every: Option<u32>,
    pub(in crate::scenario) nack: Option<bool>,
    pub(in crate::scenario) requeue: Option<bool>,
    pub(in crate::scenario) tx_size: Option<u32>,
    pub(in crate::scenario) rate: Option<f64>,
    pub(in crate::scenario) processing_time: Option<String>,
    pub(in crate::scenario) processing_times: Option<Vec<ProcessingStep>>,
    pub(in crate::scenario) polling: Option<bool>,
    pub(in crate::scenario) poll_interval: Option<String>,
    #[serde(skip_serializing)]
    pub(in crate::scenario) priority: Option<i64>,
    #[serde(skip_serializing)]
    pub(in crate::scenario) offset: Option<FieldValue>,
    pub(in crate::scenario) exclusive: Option<bool>,
    pub(in crate::scenario) unpack: Option<bool>,
    pub(in crate::scenario) messages: Option<u64>,
    pub(in crate::scenario) start_delay: Option<String>,
    pub(in crate::scenario) slow_start: Option<String>,
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub(in crate::scenario) arguments: Arguments,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct ProcessingStep {
    pub(in crate::scenario) time: String,
    #[serde(rename = "for")]
    pub(in crate::scenario) lasts: String,
}

impl From<&model::ConsumerGroup> for Consumers {
    fn from(group: &model::ConsumerGroup) -> Self {
        let steps = group.processing_times.iter().map(|step| ProcessingStep {
            time: display_duration(step.time).to_string(),
            lasts: display_duration(step.lasts).to_string(),
        });
        let has_steps = !group.processing_times.is_empty();
        Self {
            name: Some(group.name.clone()),
            count: Some(group.count),
            connections: Some(group.connections),
            channels: Some(group.channels),
            queue: group.queue.clone(),
            member_queues: Some(group.member_queues),
            prefetch: group.prefetch,
            channel_prefetch: group.channel_prefetch,
            auto_ack: Some(group.auto_ack),
            multi_ack_every: Some(group.multi_ack_every),
            nack: Some(group.settle != Settle::Ack),
            requeue: (group.settle != Settle::Ack).then_some(group.settle == Settle::Requeue),
            tx_size: group.tx_size,
            rate: group.rate,
            processing_time: unless_zero(group.processing_time).filter(|_| !has_steps),
            processing_times: has_steps.then(|| steps.collect()),
            polling: Some(group.polling.is_some()),
            poll_interval: group.polling.map(|interval| display_duration(interval).to_string()),
            priority: None,
            offset: None,
            exclusive: Some(group.exclusive),
            unpack: (!group.unpack).then_some(false),
            messages: group.messages,
            start_delay: unless_zero(group.start_delay),
            slow_start: unless_zero(group.slow_start),
            arguments: group.arguments.clone(),
        }
    }
}
