//! `[[requests]]` and `[[responders]]`.

use serde::{Deserialize, Serialize};

use super::{
    super::model::{AfterPhases, Arrival, ReplyPath, RequestGroup, ResponderGroup, WriteMode},
    Phase,
};
use rabbitscope_text::{display_duration, display_size};

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in super::super) struct Requests {
    pub(in super::super) name: Option<String>,
    pub(in super::super) count: Option<u32>,
    pub(in super::super) connections: Option<u32>,
    pub(in super::super) channels: Option<u32>,
    pub(in super::super) queue: String,
    pub(in super::super) reply: Option<ReplyPath>,
    pub(in super::super) size: Option<String>,
    pub(in super::super) persistent: Option<bool>,
    pub(in super::super) write: Option<WriteMode>,
    pub(in super::super) concurrency: Option<u32>,
    pub(in super::super) rate: Option<f64>,
    pub(in super::super) arrival: Option<Arrival>,
    pub(in super::super) after_phases: Option<AfterPhases>,
    pub(in super::super) messages: Option<u64>,
    pub(in super::super) timeout: Option<String>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in super::super) phases: Vec<Phase>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in super::super) struct Responders {
    pub(in super::super) name: Option<String>,
    pub(in super::super) count: Option<u32>,
    pub(in super::super) connections: Option<u32>,
    pub(in super::super) channels: Option<u32>,
    pub(in super::super) queue: String,
    pub(in super::super) prefetch: Option<u16>,
    pub(in super::super) auto_ack: Option<bool>,
    pub(in super::super) size: Option<String>,
    pub(in super::super) write: Option<WriteMode>,
}

impl From<&RequestGroup> for Requests {
    fn from(group: &RequestGroup) -> Self {
        let schedule = &group.schedule;
        Self {
            name: Some(group.name.clone()),
            count: Some(group.count),
            connections: Some(group.connections),
            channels: Some(group.channels),
            queue: group.queue.clone(),
            reply: Some(group.reply),
            size: Some(display_size(u64::from(group.size_bytes)).to_string()),
            persistent: Some(group.persistent),
            write: Some(group.write),
            concurrency: group.concurrency,
            rate: schedule.rate,
            arrival: schedule.is_set().then_some(schedule.arrival),
            after_phases: (!schedule.phases.is_empty()).then_some(schedule.after_phases),
            phases: schedule.phases.iter().map(Phase::from).collect(),
            messages: group.messages,
            timeout: Some(display_duration(group.timeout).to_string()),
        }
    }
}

impl From<&ResponderGroup> for Responders {
    fn from(group: &ResponderGroup) -> Self {
        Self {
            name: Some(group.name.clone()),
            count: Some(group.count),
            connections: Some(group.connections),
            channels: Some(group.channels),
            queue: group.queue.clone(),
            prefetch: group.prefetch,
            auto_ack: Some(group.auto_ack),
            size: Some(display_size(u64::from(group.size_bytes)).to_string()),
            write: Some(group.write),
        }
    }
}
