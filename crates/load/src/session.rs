//! A session: connect, declare, run, remove.

use std::sync::atomic::AtomicBool;

use rabbitscope_amqp::Uri;
use rabbitscope_data::{run::BrokerFacts, scenario::Scenario};

use crate::{LoadError, LoadOutcome, Progress};

/// A broker that is ready for the load of one scenario.
#[derive(Debug)]
pub struct Session {
    broker: BrokerFacts,
    declared: Vec<String>,
}

impl Session {
    /// Connects and declares the scenario's queues. A queue that is there already is used as it is
    /// and never deleted. `declaring` is told the names of the queues that are about to be created,
    /// before the first of them is, so that the caller can remember to remove them.
    pub fn open(
        _scenario: &Scenario,
        uri: &Uri,
        _declaring: &mut dyn FnMut(&[String]),
    ) -> Result<Self, LoadError> {
        Err(LoadError::Unreachable { address: uri.address(), reason: "being written".to_owned() })
    }

    /// The broker, as it says of itself.
    pub fn broker(&self) -> &BrokerFacts {
        &self.broker
    }

    /// Queues that this session created and will remove.
    pub fn declared(&self) -> &[String] {
        &self.declared
    }

    /// Puts the load on until the scenario says stop, `stop` becomes true or the broker goes away.
    pub fn run(
        &mut self,
        _progress: &mut dyn FnMut(Progress<'_>),
        _stop: &AtomicBool,
    ) -> Result<LoadOutcome, LoadError> {
        Err(LoadError::Unreachable {
            address: self.broker.address.clone(),
            reason: "being written".to_owned(),
        })
    }

    /// Removes the queues that this session created, but for those that the scenario keeps.
    pub fn close(self) -> Result<(), LoadError> {
        Ok(())
    }
}

/// Removes queues that an earlier run left behind; says which of them were there.
pub fn remove_queues(_uri: &Uri, _names: &[String]) -> Result<Vec<String>, LoadError> {
    Ok(Vec::new())
}
