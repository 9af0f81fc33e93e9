//! The nodes of a broker that was started for the run, during the load: their faults and the positions of queues.

use std::{
    io,
    sync::{
        atomic::AtomicBool,
        mpsc::{self, Sender},
    },
    thread::{self, Scope, ScopedJoinHandle},
    time::Instant,
};

use rabbitscope_broker::NodeControl;
use rabbitscope_runs::{
    record::{FaultRecord, ReplicaSnapshot},
    scenario::Scenario,
};

use super::{conductor::conduct, replicas::ReplicaLog};

/// The nodes under load. Nodes of an existing broker are neither harmed nor asked.
pub(in crate::run) struct NodesUnderLoad<'a> {
    scenario: &'a Scenario,
    own: Option<(NodeControl, ReplicaLog)>,
}

impl<'a> NodesUnderLoad<'a> {
    /// Prepares the nodes. Single nodes without faults are not asked.
    pub(in crate::run) fn new(scenario: &'a Scenario, control: Option<NodeControl>) -> Self {
        let is_wanted =
            |control: &NodeControl| is_cluster(scenario, control) || !scenario.faults.is_empty();
        let own =
            control.filter(is_wanted).map(|control| (control.clone(), ReplicaLog::new(control)));
        Self { scenario, own }
    }

    /// Notes the positions of the queues at this time of the load.
    pub(in crate::run) fn note_replicas(&self, at_nanos: u64, when: &str) {
        if let Some((_, replicas)) = &self.own {
            replicas.take(at_nanos, when, &[]);
        }
    }

    /// Takes the notes so far, in chronological order.
    pub(in crate::run) fn take_replicas(&self) -> Vec<ReplicaSnapshot> {
        self.own.as_ref().map_or_else(Vec::new, |(_, replicas)| replicas.taken())
    }

    /// Starts the thread that executes the scenario's faults, if there are any. It waits for the start of the load.
    pub(in crate::run) fn start_faults<'scope>(
        &'scope self,
        scope: &'scope Scope<'scope, '_>,
        (has_ended, stop): (&'scope AtomicBool, &'scope AtomicBool),
    ) -> io::Result<Option<StartedFaults<'scope>>> {
        let Some((control, replicas)) = &self.own else { return Ok(None) };
        if self.scenario.faults.is_empty() {
            return Ok(None);
        }
        let (started, load_started) = mpsc::channel();
        let nodes = (control, replicas);
        let conduct = move || conduct(self.scenario, nodes, &load_started, (has_ended, stop));
        let thread =
            thread::Builder::new().name("faults".to_owned()).spawn_scoped(scope, conduct)?;
        Ok(Some(StartedFaults { started: Some(started), thread }))
    }
}

fn is_cluster(scenario: &Scenario, control: &NodeControl) -> bool {
    control.nodes().len() > 1 && !scenario.broker.spec.is_several_brokers()
}

/// Faults that wait for the load, or are in progress.
pub(in crate::run) struct StartedFaults<'scope> {
    started: Option<Sender<Instant>>,
    thread: ScopedJoinHandle<'scope, Vec<FaultRecord>>,
}

impl StartedFaults<'_> {
    /// Takes the channel on which to announce the start of the load.
    pub(in crate::run) fn load_started(&mut self) -> Option<Sender<Instant>> {
        self.started.take()
    }

    /// Waits until everything is undone.
    pub(in crate::run) fn finish(self) -> Vec<FaultRecord> {
        self.thread.join().expect("faults panicked")
    }
}
