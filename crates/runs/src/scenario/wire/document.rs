//! The tables of a scenario file, as written.

use super::{
    Broker, Churn, Consumers, Exchange, Expect, Fault, Pollers, Publishers, Queue, Requests,
    Responders, Run,
};
use crate::scenario::model::{self, ProfileEvent};
use rabbitscope_text::display_duration;
use serde::{Deserialize, Serialize, Serializer};

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Scenario {
    pub(in crate::scenario) name: String,
    pub(in crate::scenario) description: Option<String>,
    pub(in crate::scenario) seed: Option<u64>,
    pub(in crate::scenario) broker: Option<Broker>,
    pub(in crate::scenario) run: Option<Run>,
    pub(in crate::scenario) profile: Option<Profile>,
    #[serde(skip_serializing_if = "Option::is_none")]
    pub(in crate::scenario) packets: Option<Packets>,
    pub(in crate::scenario) expect: Option<Expect>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) exchanges: Vec<Exchange>,
    #[serde(default)]
    pub(in crate::scenario) queues: Vec<Queue>,
    #[serde(default)]
    pub(in crate::scenario) publishers: Vec<Publishers>,
    #[serde(default)]
    pub(in crate::scenario) consumers: Vec<Consumers>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) requests: Vec<Requests>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) responders: Vec<Responders>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) churn: Vec<Churn>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) pollers: Vec<Pollers>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(in crate::scenario) faults: Vec<Fault>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Profile {
    pub(in crate::scenario) event: Option<ProfileEvent>,
    pub(in crate::scenario) delay: Option<String>,
    pub(in crate::scenario) duration: String,
    pub(in crate::scenario) freq: Option<u32>,
}

#[derive(Debug, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub(in crate::scenario) struct Packets {
    pub(in crate::scenario) duration: String,
    pub(in crate::scenario) save: Option<bool>,
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
            broker: Some(Broker::from_spec(&scenario.broker, &scenario.connecting)),
            run: Some(Run::from(scenario)),
            profile: scenario.profile.as_ref().map(Profile::from),
            packets: scenario.packets.as_ref().map(Packets::from),
            expect: Option::from(&scenario.expect),
            exchanges: scenario.exchanges.iter().map(Exchange::from).collect(),
            queues: scenario.queues.iter().map(Queue::from).collect(),
            publishers: scenario.publishers.iter().map(Publishers::from).collect(),
            consumers: scenario.consumers.iter().map(Consumers::from).collect(),
            requests: scenario.requests.iter().map(Requests::from).collect(),
            responders: scenario.responders.iter().map(Responders::from).collect(),
            churn: scenario.churn.iter().map(Churn::from).collect(),
            pollers: scenario.pollers.iter().map(Pollers::from).collect(),
            faults: scenario.faults.iter().map(Fault::from).collect(),
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

impl From<&model::PacketsSpec> for Packets {
    fn from(packets: &model::PacketsSpec) -> Self {
        Self { duration: display_duration(packets.duration).to_string(), save: Some(packets.save) }
    }
}
