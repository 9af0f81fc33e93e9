//! `[broker]` as a whole.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use super::{BrokerSpec, Connecting, written};

/// The broker under load, and the settings of connections to it.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Broker {
    /// The broker that is there, or is started for the run.
    pub spec: BrokerSpec,
    /// Settings of connections to the broker.
    pub connecting: Connecting,
    /// The table as read, until it is checked.
    pub(in crate::scenario) unchecked: Option<Box<written::Broker>>,
}

impl Serialize for Broker {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        written::Broker::new(&self.spec, &self.connecting).serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for Broker {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let unchecked = written::Broker::deserialize(deserializer)?;
        Ok(Self { unchecked: Some(Box::new(unchecked)), ..Self::default() })
    }
}
