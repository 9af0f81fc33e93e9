//! What a scenario file may say. Nothing here has been checked beyond its type.
//!
//! The same types write the resolved scenario, so that reading and writing cannot drift apart.

mod broker;
mod churn;
mod consumers;
mod expect;
mod polling;
mod publishers;
mod rpc;
mod timing;
mod topology;

use std::{collections::BTreeMap, time::Duration};

use serde::{Deserialize, Serialize, Serializer};

use super::model::{self, FieldValue, ProfileEvent};
use rabbitscope_text::display_duration;

pub(super) use broker::{AuthKind, Broker};
pub(super) use churn::Churn;
pub(super) use consumers::Consumers;
pub(super) use expect::Expect;
pub(super) use polling::Pollers;
pub(super) use publishers::{BodyKind, OnConfirmTimeout, Properties, Publishers};
pub(super) use rpc::{Requests, Responders};
pub(super) use timing::{Phase, Run, UntilKind};
pub(super) use topology::{Binding, Exchange, Queue};

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
    pub(super) expect: Option<Expect>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) exchanges: Vec<Exchange>,
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
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(super) pollers: Vec<Pollers>,
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
            broker: Some(Broker::of(&scenario.broker, &scenario.connecting)),
            run: Some(Run::from(scenario)),
            profile: scenario.profile.as_ref().map(Profile::from),
            expect: Option::from(&scenario.expect),
            exchanges: scenario.exchanges.iter().map(Exchange::from).collect(),
            queues: scenario.queues.iter().map(Queue::from).collect(),
            publishers: scenario.publishers.iter().map(Publishers::from).collect(),
            consumers: scenario.consumers.iter().map(Consumers::from).collect(),
            requests: scenario.requests.iter().map(Requests::from).collect(),
            responders: scenario.responders.iter().map(Responders::from).collect(),
            churn: scenario.churn.iter().map(Churn::from).collect(),
            pollers: scenario.pollers.iter().map(Pollers::from).collect(),
        }
    }
}

/// A time in the resolved form, left out when it is none.
fn unless_zero(time: Duration) -> Option<String> {
    (!time.is_zero()).then(|| display_duration(time).to_string())
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
