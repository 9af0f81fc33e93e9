//! A session on a broker: connects, declares, runs the load and removes the declarations.

use std::{io, sync::atomic::AtomicBool};

use rabbitscope_amqp::{Table, Uri};
use rabbitscope_files::random_digits;
use rabbitscope_measurements::{LoadOutcome, Progress, RemoteStart, RemoteWorkers};
use rabbitscope_runs::{
    record::{BrokerFacts, Doubt, DoubtKind, Verdict},
    scenario::Scenario,
};
use rabbitscope_timing::run_tag;
use rabbitscope_topology::{
    Dialer, Messages, Needs, OwnMessages, OwnedTopology, Removal, RemovalPolicy, Restorer,
    Topology, TopologyError, look_up, remove,
};

use crate::{
    context::RunContext,
    error::LoadError,
    message::BodyFiles,
    plan::{churned_bindings, churned_queues, foreign_claim, plan_links},
    prefill::prefill,
    run::{assemble_workers, run_load, run_remote, wait_for_start},
    share::Share,
};

/// A broker that is ready for the load of one scenario.
#[derive(Debug)]
pub struct Session {
    scenario: Scenario,
    dialer: Dialer,
    broker: BrokerFacts,
    declared: OwnedTopology,
    ownership: Ownership,
    /// Absent before a load has run to its end.
    own_messages: Option<OwnMessages>,
    /// Declares again the objects that a restart of the broker deleted.
    restorer: Restorer,
    /// Connections to the second and further brokers, if there are several.
    others: Vec<Topology>,
}

/// The owner of the broker. It decides how a run proves its declarations there.
#[derive(Clone, Copy)]
pub enum BrokerOwner<'a> {
    /// The broker belongs to the caller and ends with the run: all declarations of the run are removed.
    Caller,
    /// The broker belongs to another owner.
    SomebodyElse(&'a dyn CleanupJournal),
}

/// A record of a run's declarations, so that they can be removed if this process is killed.
pub trait CleanupJournal {
    /// Records the names of planned declarations that will have to be removed, before the first declaration. After a
    /// failure, nothing is declared.
    fn remember(&self, declaring: &OwnedTopology) -> io::Result<()>;

    /// Reports the outcome of the removal of all declarations after a failure.
    fn undone(&self, declared: &OwnedTopology, removal: Result<Removal, TopologyError>);
}

/// The session's proof of its declarations at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
enum Ownership {
    /// The broker belongs to the caller.
    Broker,
    /// Every queue and exchange has a marker.
    Marked,
    /// The user may not declare markers; the broker's text.
    Unmarked(String),
    /// The user may not declare markers, and the declaring process is gone. Nothing proves its declarations.
    Unproved(String),
}

impl Session {
    /// Connects, declares the scenario's exchanges and queues and binds them. Existing objects are used with their
    /// existing bindings if they match the scenario, and are never deleted.
    pub fn open(
        scenario: &Scenario,
        dialer: &Dialer,
        owner: BrokerOwner<'_>,
    ) -> Result<Self, LoadError> {
        let mut control = Topology::connect(dialer)?;
        let broker = facts(control.uri(), control.server_properties());
        let needs = needs_of(scenario, &mut control)?;
        control.declare(&needs.present)?;
        let declared = owned_topology(scenario, &needs)?;
        let mut ownership = remember(&declared, owner, &mut control)?;
        let created = create(&mut control, &needs, &declared, &mut ownership)
            .and_then(|()| control.bind(&needs.to_bind))
            .and_then(|()| prefill(&needs.missing.queues, dialer))
            .and_then(|()| create_at_others(scenario, dialer));
        let others = match created {
            Ok(others) => others,
            // The first error is the relevant one.
            Err(error) => {
                undo(control, (&declared, &ownership), dialer, owner);
                return Err(error.into());
            }
        };
        let marked = (ownership == Ownership::Marked).then(|| declared.clone());
        let restorer = Restorer::new(control, needs.missing, marked);
        let (scenario, dialer) = (scenario.clone(), dialer.clone());
        let own_messages = None;
        Ok(Self { scenario, dialer, broker, declared, ownership, own_messages, restorer, others })
    }

    /// Returns the facts that the broker reports about itself.
    pub fn broker(&self) -> &BrokerFacts {
        &self.broker
    }

    /// Returns the objects that this session created and will remove. Exclusive queues disappear by themselves.
    pub fn declared(&self) -> &OwnedTopology {
        &self.declared
    }

    /// Runs the load until the scenario ends it, `stop` becomes true or the broker disappears. An error means that the
    /// load did not start. The verdict has any later cause.
    pub fn run(
        &mut self,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> Result<LoadOutcome, LoadError> {
        let plans =
            plan_links(&self.scenario, &self.declared.token, Share::WHOLE, &BodyFiles::anywhere())?;
        let context = RunContext {
            scenario: &self.scenario,
            plans: &plans,
            dialer: &self.dialer,
            restorer: self.restorer(),
            share: Share::WHOLE,
        };
        let workers = assemble_workers(&context, progress, stop)?;
        let outcome = run_load(&context, workers, progress, stop);
        self.own_messages = Some(own_messages(&outcome));
        Ok(outcome)
    }

    /// Absent with several brokers, because it knows only the first.
    fn restorer(&self) -> Option<&Restorer> {
        (!self.scenario.broker.spec.is_several_brokers()).then_some(&self.restorer)
    }

    /// Runs like [`Session::run`], with the load of other processes, which have already begun.
    pub fn run_remote(
        &mut self,
        begun: &RemoteStart,
        remote: &mut dyn RemoteWorkers,
        progress: &mut dyn FnMut(Progress<'_>),
        stop: &AtomicBool,
    ) -> LoadOutcome {
        let context = RunContext {
            scenario: &self.scenario,
            plans: &[],
            dialer: &self.dialer,
            restorer: self.restorer(),
            share: Share::WHOLE,
        };
        let outcome = run_remote(&context, begun, remote, progress, stop);
        self.own_messages = Some(own_messages(&outcome));
        outcome
    }

    /// Resumes the session of a process that is gone, on a broker of another owner. `declared` is its claimed list of
    /// declarations. Claims that no run of this scenario makes are refused, and objects without a marker stay on the
    /// broker.
    pub fn resume(
        scenario: &Scenario,
        dialer: &Dialer,
        mut declared: OwnedTopology,
        unmarked: Option<String>,
    ) -> Result<Self, LoadError> {
        // A claim of bindings proves nothing. Bindings that `leftovers` finds therefore count as bindings of others.
        declared.bound.clear();
        if let Some(what) = foreign_claim(&declared, scenario) {
            return Err(LoadError::ForeignClaim { what });
        }
        let control = Topology::connect(dialer)?;
        let broker = facts(control.uri(), control.server_properties());
        let ownership = unmarked.map_or(Ownership::Marked, Ownership::Unproved);
        let marked = (ownership == Ownership::Marked).then(|| declared.clone());
        let missing = declared.declarations(scenario);
        let restorer = Restorer::new(control, missing, marked);
        let (scenario, dialer) = (scenario.clone(), dialer.clone());
        let (others, own_messages) = (Vec::new(), None);
        Ok(Self { scenario, dialer, broker, declared, ownership, own_messages, restorer, others })
    }

    /// Sleeps until the scenario's start time, if it has one in the future.
    pub fn wait_for_start(&self, stop: &AtomicBool) {
        wait_for_start(&self.scenario, stop);
    }

    /// Returns why this session could not mark its declarations: the broker's text. If this process is killed, a later
    /// run cannot prove the leftovers.
    pub fn unmarked(&self) -> Option<&str> {
        match &self.ownership {
            Ownership::Unmarked(text) | Ownership::Unproved(text) => Some(text),
            Ownership::Broker | Ownership::Marked => None,
        }
    }

    /// Removes the declarations of this session and returns those that were kept. It keeps objects that the scenario
    /// keeps and objects that others use by now. On another owner's broker it also keeps quorum queues and streams.
    pub fn close(self) -> Result<Removal, TopologyError> {
        self.close_with(Messages::Keep)
    }

    /// Closes like [`Session::close`]. A person decides about queues that hold or may hold messages of others.
    pub fn close_with(self, messages: Messages) -> Result<Removal, TopologyError> {
        self.restorer.close();
        self.others.into_iter().for_each(Topology::close);
        if self.declared.is_empty() {
            return Ok(Removal::default());
        }
        let terms = (messages, self.own_messages);
        close(&self.declared, &self.ownership, terms, &self.dialer)
    }
}

/// Removes the declarations after a failure.
fn undo(
    control: Topology,
    (declared, ownership): (&OwnedTopology, &Ownership),
    dialer: &Dialer,
    owner: BrokerOwner<'_>,
) {
    // Without markers only the memory of this process identifies its declarations.
    let own = match ownership {
        Ownership::Unmarked(_) => declared.only(control.created()),
        Ownership::Broker | Ownership::Marked | Ownership::Unproved(_) => declared.clone(),
    };
    // No message belongs to the run yet.
    let removal = close(&own, ownership, (Messages::Keep, None), dialer);
    control.close();
    if let BrokerOwner::SomebodyElse(journal) = owner {
        journal.undone(declared, removal);
    }
}

/// Returns the objects that the scenario needs at a broker. Excludes exclusive queues with consumers, because the
/// consumers declare them.
fn needs_of(scenario: &Scenario, control: &mut Topology) -> Result<Needs, TopologyError> {
    let mut needs = look_up(scenario, control)?;
    needs.missing.queues.retain(|set| {
        let mut readers = scenario.consumers.iter().map(|group| group.queue.as_str());
        !(set.spec.exclusive && readers.any(|queue| set.spec.is_meant_by(queue)))
    });
    Ok(needs)
}

/// Connects to the second and further brokers, if there are several, and declares everything there.
fn create_at_others(scenario: &Scenario, dialer: &Dialer) -> Result<Vec<Topology>, TopologyError> {
    if !scenario.broker.spec.is_several_brokers() {
        return Ok(Vec::new());
    }
    dialer.others().iter().map(|other| create_at(scenario, other)).collect()
}

/// Declares and binds everything at one more broker, which ends with the run. Exclusive queues there belong to the
/// returned connection.
fn create_at(scenario: &Scenario, broker: &Dialer) -> Result<Topology, TopologyError> {
    let mut control = Topology::connect(broker)?;
    let needs = needs_of(scenario, &mut control)?;
    control.declare(&needs.present)?;
    control.create(&needs.missing)?;
    control.bind(&needs.to_bind)?;
    Ok(control)
}

/// Returns the declarations of the session itself and those of churn during the load.
fn owned_topology(scenario: &Scenario, needs: &Needs) -> Result<OwnedTopology, TopologyError> {
    let token = random_digits().map_err(|source| TopologyError::NoToken { source })?;
    let mut declared = OwnedTopology::from_needs(needs, &token);
    declared.queues.extend(churned_queues(scenario, &token));
    declared.bindings = churned_bindings(scenario, &token);
    Ok(declared)
}

/// Records the planned declarations in the owner's journal, and declares the marker of the run.
fn remember(
    declared: &OwnedTopology,
    owner: BrokerOwner<'_>,
    control: &mut Topology,
) -> Result<Ownership, LoadError> {
    let BrokerOwner::SomebodyElse(memory) = owner else { return Ok(Ownership::Broker) };
    if declared.is_empty() {
        return Ok(Ownership::Marked);
    }
    memory.remember(declared).map_err(|source| LoadError::NotRemembered { source })?;
    Ok(match control.mark_run(declared)? {
        Ok(()) => Ownership::Marked,
        Err(refusal) => Ownership::Unmarked(refusal.text),
    })
}

/// Declares everything, with markers as long as the user may declare them.
fn create(
    control: &mut Topology,
    needs: &Needs,
    declared: &OwnedTopology,
    ownership: &mut Ownership,
) -> Result<(), TopologyError> {
    if *ownership == Ownership::Marked {
        match control.declare_marked(&needs.missing, declared)? {
            Ok(()) => return control.bind(&needs.missing),
            Err(refusal) => *ownership = Ownership::Unmarked(refusal.text),
        }
    }
    control.create(&needs.missing)
}

fn close(
    declared: &OwnedTopology,
    ownership: &Ownership,
    (messages, own_messages): (Messages, Option<OwnMessages>),
    dialer: &Dialer,
) -> Result<Removal, TopologyError> {
    let mut topology = Topology::connect(dialer)?;
    let policy = match ownership {
        Ownership::Broker => {
            topology.delete(declared)?;
            topology.close();
            return Ok(Removal::default());
        }
        Ownership::Marked | Ownership::Unproved(_) => {
            RemovalPolicy::at_the_end(true, messages, own_messages)
        }
        Ownership::Unmarked(_) => RemovalPolicy::at_the_end(false, messages, own_messages),
    };
    let (removal, topology) = remove(topology, dialer, declared, policy)?;
    topology.close();
    Ok(removal)
}

/// Returns the marks of the messages of a load that has ended.
fn own_messages(load: &LoadOutcome) -> OwnMessages {
    let is_lost = |doubt: &Doubt| doubt.kind == DoubtKind::WorkerLost;
    let has_left_workers =
        matches!(load.verdict, Verdict::Aborted { .. }) && load.doubts.iter().any(is_lost);
    OwnMessages::new(run_tag(load.started_unix_nanos), load.duration, has_left_workers)
}

/// Returns the facts that the broker reports about itself. Declares nothing.
pub fn broker_facts(dialer: &Dialer) -> Result<BrokerFacts, TopologyError> {
    let control = Topology::connect(dialer)?;
    let found = facts(control.uri(), control.server_properties());
    control.close();
    Ok(found)
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
        nodes: Vec::new(),
        patched: Vec::new(),
    }
}
