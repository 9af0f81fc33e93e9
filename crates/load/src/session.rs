//! A session: connect, declare, run, remove.

use std::{sync::atomic::AtomicBool, time::SystemTime};

use rabbitscope_amqp::{Table, Uri};
use rabbitscope_data::{
    run::BrokerFacts,
    scenario::{QueueSpec, Scenario},
};

use crate::{
    LoadError, LoadOutcome, Progress,
    dial::Dialer,
    fleet, plan,
    restore::Restorer,
    run,
    topology::{self, Topology},
};

/// A broker that is ready for the load of one scenario.
#[derive(Debug)]
pub struct Session {
    scenario: Scenario,
    dialer: Dialer,
    broker: BrokerFacts,
    declared: Vec<String>,
    /// Tells this run from others in names of queues.
    run: String,
    /// Declares again what a restart of the broker took away.
    restorer: Restorer,
}

impl Session {
    /// Connects, declares the scenario's queues and binds them. A queue that is there already is
    /// used if it is as the scenario says, with the bindings that it has, and never deleted. `declaring` is told the names of the queues that
    /// are about to be created and will have to be removed, before the first of them is created, so
    /// that the caller can remember them should it be killed.
    pub fn open(
        scenario: &Scenario,
        dialer: &Dialer,
        declaring: &mut dyn FnMut(&[String]),
    ) -> Result<Self, LoadError> {
        let mut control = Topology::connect(dialer)?;
        let broker = facts(control.uri(), control.server_properties());
        let needs = topology::look_up(scenario, &mut control)?;
        for queue in &needs.present {
            control.declare(queue)?;
        }
        let run = run_id();
        let declared: Vec<_> = needs
            .missing
            .iter()
            .filter(|queue| !queue.keep && !queue.exclusive)
            .map(|queue| queue.name.clone())
            .chain(plan::churned_queues(scenario, &run))
            .collect();
        if !declared.is_empty() {
            declaring(&declared);
        }
        let has_reader =
            |queue: &QueueSpec| scenario.consumers.iter().any(|one| one.queue == queue.name);
        let ours: Vec<QueueSpec> = needs
            .missing
            .into_iter()
            .filter(|queue| !(queue.exclusive && has_reader(queue)))
            .cloned()
            .collect();
        for queue in &ours {
            if let Err(error) = control.create(queue) {
                // What came before it is taken back; the first error is the one that matters.
                remove_queues(dialer, &declared).ok();
                return Err(error);
            }
        }
        let restorer = Restorer::new(control, ours);
        let (scenario, dialer) = (scenario.clone(), dialer.clone());
        Ok(Self { scenario, dialer, broker, declared, run, restorer })
    }

    /// The broker, as it says of itself.
    pub fn broker(&self) -> &BrokerFacts {
        &self.broker
    }

    /// Queues that this session created and will remove. Exclusive ones go away by themselves.
    pub fn declared(&self) -> &[String] {
        &self.declared
    }

    /// Puts the load on until the scenario says stop, `stop` becomes true or the broker goes away.
    /// An error means that the load did not start; whatever ends it later is in the verdict.
    pub fn run(
        &mut self,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> Result<LoadOutcome, LoadError> {
        let plans = plan::links(&self.scenario, &self.run);
        let ground = run::Ground {
            scenario: &self.scenario,
            plans: &plans,
            dialer: &self.dialer,
            restorer: &self.restorer,
        };
        let workers = fleet::assemble(&ground, progress, stop)?;
        Ok(run::run(&ground, workers, progress, stop))
    }

    /// Removes the queues that this session created, but for those that the scenario keeps.
    pub fn close(self) -> Result<(), LoadError> {
        self.restorer.close();
        if !self.declared.is_empty() {
            remove_queues(&self.dialer, &self.declared)?;
        }
        Ok(())
    }
}

/// Removes queues that an earlier run left behind; says which of them were there.
pub fn remove_queues(dialer: &Dialer, names: &[String]) -> Result<Vec<String>, LoadError> {
    let mut topology = Topology::connect(dialer)?;
    let mut removed = Vec::new();
    for name in names {
        if topology.delete(name)? {
            removed.push(name.clone());
        }
    }
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
