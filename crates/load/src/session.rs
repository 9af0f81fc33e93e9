//! A session: connect, declare, run, remove.

use std::{sync::atomic::AtomicBool, time::SystemTime};

use rabbitscope_amqp::{Table, Uri};
use rabbitscope_data::{run::BrokerFacts, scenario::Scenario};

use crate::{
    LoadError, LoadOutcome, Progress,
    dial::Dialer,
    fleet, plan,
    restore::Restorer,
    run,
    topology::{self, Belongings, Topology},
};

/// A broker that is ready for the load of one scenario.
#[derive(Debug)]
pub struct Session {
    scenario: Scenario,
    dialer: Dialer,
    broker: BrokerFacts,
    declared: Belongings,
    /// Tells this run from others in names of queues.
    run: String,
    /// Declares again what a restart of the broker took away.
    restorer: Restorer,
}

impl Session {
    /// Connects, declares the scenario's exchanges and queues and binds them. What is there already
    /// is used if it is as the scenario says, with the bindings that it has, and never deleted.
    /// `declaring` is told the names of what is about to be created and will have to be removed,
    /// before the first of it is created, so that the caller can remember it should it be killed.
    pub fn open(
        scenario: &Scenario,
        dialer: &Dialer,
        declaring: &mut dyn FnMut(&Belongings),
    ) -> Result<Self, LoadError> {
        let mut control = Topology::connect(dialer)?;
        let broker = facts(control.uri(), control.server_properties());
        let needs = topology::look_up(scenario, &mut control)?;
        control.declare(&needs.present)?;
        let run = run_id();
        let mut declared = needs.belongings();
        declared.queues.extend(plan::churned_queues(scenario, &run));
        if !declared.is_empty() {
            declaring(&declared);
        }
        let mut ours = needs.missing;
        ours.queues.retain(|set| {
            let mut readers = scenario.consumers.iter().map(|group| group.queue.as_str());
            !(set.spec.exclusive && readers.any(|queue| set.spec.is_meant_by(queue)))
        });
        if let Err(error) = control.create(&ours) {
            // What came before it is taken back; the first error is the one that matters.
            remove(dialer, &declared).ok();
            return Err(error);
        }
        let restorer = Restorer::new(control, ours);
        let (scenario, dialer) = (scenario.clone(), dialer.clone());
        Ok(Self { scenario, dialer, broker, declared, run, restorer })
    }

    /// The broker, as it says of itself.
    pub fn broker(&self) -> &BrokerFacts {
        &self.broker
    }

    /// What this session created and will remove. Exclusive queues go away by themselves.
    pub fn declared(&self) -> &Belongings {
        &self.declared
    }

    /// Puts the load on until the scenario says stop, `stop` becomes true or the broker goes away.
    /// An error means that the load did not start; whatever ends it later is in the verdict.
    pub fn run(
        &mut self,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> Result<LoadOutcome, LoadError> {
        let plans = plan::links(&self.scenario, &self.run)?;
        let ground = run::Ground {
            scenario: &self.scenario,
            plans: &plans,
            dialer: &self.dialer,
            restorer: &self.restorer,
        };
        let workers = fleet::assemble(&ground, progress, stop)?;
        Ok(run::run(&ground, workers, progress, stop))
    }

    /// Removes what this session created, but for what the scenario keeps.
    pub fn close(self) -> Result<(), LoadError> {
        self.restorer.close();
        if !self.declared.is_empty() {
            remove(&self.dialer, &self.declared)?;
        }
        Ok(())
    }
}

/// Removes what an earlier run left behind; says what of it was there.
pub fn remove(dialer: &Dialer, belongings: &Belongings) -> Result<Belongings, LoadError> {
    let mut topology = Topology::connect(dialer)?;
    let removed = topology.delete(belongings)?;
    topology.close();
    Ok(removed)
}

/// Process and time: no other run has the same.
fn run_id() -> String {
    let now = SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).unwrap_or_default();
    format!("{:x}-{:x}", std::process::id(), now.as_millis())
}

fn facts(uri: &Uri, properties: &Table) -> BrokerFacts {
    let text = |name| properties.text(name).unwrap_or_default().to_owned();
    BrokerFacts {
        product: text("product"),
        version: text("version"),
        platform: text("platform"),
        cluster_name: text("cluster_name"),
        address: uri.address(),
        pid: None,
        throwaway: false,
    }
}
