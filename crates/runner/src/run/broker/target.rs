//! The broker under load: a throwaway one for the run, or an existing one.

use std::sync::atomic::AtomicBool;

use rabbitscope_amqp::Uri;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_broker::{Broker, BrokerError, NodeControl, Registry};
use rabbitscope_runs::{
    record::ClusterNode,
    scenario::{BrokerSpec, Connecting, Scenario},
};
use rabbitscope_terminal::output;
use rabbitscope_topology::Dialer;

use super::found::FoundNodes;
use crate::leftovers::{self, Journal, RemovalConsent};

/// The broker under load. A throwaway broker ends with this value.
#[derive(Debug)]
pub struct Target {
    /// Address of the broker.
    pub(in crate::run) uri: Uri,
    pub(in crate::run) dialer: Dialer,
    /// Nodes of an existing broker.
    found: FoundNodes,
    /// The broker, if the run started it.
    pub throwaway: Option<Broker>,
    /// The journal of declarations on an existing broker.
    pub(in crate::run) journal: Option<Journal>,
    /// Consent to removals from an existing broker.
    pub(in crate::run) asked: RemovalConsent,
}

/// Treatment of earlier runs' leftovers before a run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum EarlierRuns {
    /// Remove them as far as the consent allows.
    Remove,
    /// Keep them, because the run continues one of the earlier runs.
    Resume,
}

impl Target {
    /// Opens the broker. `asked` is the consent to removals from an existing broker, now and at the end.
    pub fn open(
        scenario: &Scenario,
        directory: &RunDirectory,
        (asked, earlier): (RemovalConsent, EarlierRuns),
        stop: &AtomicBool,
    ) -> anyhow::Result<Self> {
        match &scenario.broker.spec {
            BrokerSpec::Existing { uris } => {
                let dialer = dialer(uris, &scenario.broker.connecting, scenario.seed.number())?;
                dialer.wait_for_broker(stop)?;
                let journal = Journal::open()?;
                if earlier == EarlierRuns::Remove {
                    for report in leftovers::remove(&journal, &dialer, asked, None)? {
                        report.sentences().iter().for_each(|sentence| output::note(sentence));
                    }
                }
                let uri = dialer.uri().clone();
                let found = FoundNodes::find(&uri, uris)?;
                Ok(Self { dialer, uri, found, throwaway: None, journal: Some(journal), asked })
            }
            BrokerSpec::Throwaway(spec) => {
                sweep_dead_brokers()?;
                let line = output::ProgressLine::default();
                line.show("starting a throwaway broker …");
                let broker = Broker::start(spec, &directory.broker_log(spec.nodes)?)?;
                let dialer =
                    dialer(&broker.uris(), &scenario.broker.connecting, scenario.seed.number())?
                        .for_broker(&scenario.broker.spec);
                let uri = dialer.uri().clone();
                let found = FoundNodes::default();
                Ok(Self { uri, dialer, found, throwaway: Some(broker), journal: None, asked })
            }
        }
    }
}

impl Target {
    /// Returns the control for faults; absent for an existing broker.
    pub(in crate::run) fn control(&self) -> Option<NodeControl> {
        self.throwaway.as_ref().map(Broker::control)
    }

    /// Returns the pid of the node, or of a cluster's first node, if it is on this machine. A restart changes it.
    pub fn pid(&self) -> Option<u32> {
        self.pids().first().copied()
    }

    /// Returns the pids of all nodes known to be on this machine.
    pub(in crate::run) fn pids(&self) -> Vec<u32> {
        match self.control() {
            Some(control) => control.nodes().iter().map(|node| node.pid).collect(),
            None => self.found.local.iter().map(|node| node.pid).collect(),
        }
    }

    /// Returns the addresses at which no node of this machine was found.
    pub(in crate::run) fn unseen(&self) -> &[String] {
        &self.found.unseen
    }

    /// Returns the addresses with passwords, for workers.
    pub fn uris(&self, scenario: &Scenario) -> Vec<String> {
        match (&self.throwaway, &scenario.broker.spec) {
            (Some(broker), _) => broker.uris(),
            (None, BrokerSpec::Existing { uris }) => uris.clone(),
            (None, BrokerSpec::Throwaway(_)) => Vec::new(),
        }
    }

    /// Returns the nodes of a cluster that was started for the run. For an existing broker, returns the nodes at its
    /// addresses if all are on this machine.
    pub(in crate::run) fn cluster_nodes(&self) -> Vec<ClusterNode> {
        let Some(control) = self.control() else { return self.found.cluster() };
        let nodes = control.nodes();
        let members = nodes.iter().filter(|node| node.number.is_some());
        let named = members.map(|node| (node.node_name(), node.pid));
        named.map(|(name, pid)| ClusterNode { name, pid, ..ClusterNode::default() }).collect()
    }
}

/// Returns the dialer for connections to these addresses.
pub fn dialer(uris: &[String], connecting: &Connecting, seed: u64) -> anyhow::Result<Dialer> {
    let uris = uris.iter().map(|uri| Uri::parse(uri)).collect::<Result<_, _>>()?;
    Ok(Dialer::new(uris, connecting, seed)?)
}

/// Cleans up after brokers that died together with every process that could have cleaned up. Returns an error for each
/// broker that this process cannot see; only a command that lists brokers shows them.
pub fn sweep_dead_brokers() -> anyhow::Result<Vec<BrokerError>> {
    let mut out_of_sight = Vec::new();
    for swept in Registry::open()?.sweep()? {
        let name = &swept.name;
        match swept.left {
            None => output::note(&format!("removed leftovers of the dead broker {name}")),
            Some(error @ BrokerError::OutOfSight { .. }) => out_of_sight.push(error),
            Some(error @ BrokerError::Unproven { .. }) => output::note(&error.to_string()),
            Some(error) => {
                output::note(&format!("the dead broker {name} left files behind: {error}"));
            }
        }
    }
    Ok(out_of_sight)
}
