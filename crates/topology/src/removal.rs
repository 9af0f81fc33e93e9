//! Removal of a run's declared objects: only objects that are certainly the run's and that no others use.
//!
//! ```text
//! state of each ─► left: used, bound by others, full ─► proof by marker ─► own messages out ─► delete ─► markers
//! ```
//!
//! Queues are in `queue_removal.rs`.

use std::{thread, time::Duration};

use rabbitscope_amqp::{Refusal, Request};

use super::{
    connection::Topology,
    foreign_bindings::{ForeignBindings, SeenBindings},
    markers::{Marker, Proof, RunPresence},
    owned_topology::{OwnedTopology, Subject},
    removal_policy::{Messages, RemovalPolicy},
    removed::{KeptObject, KeptReason, Leftovers, Removal},
    requests::{PRECONDITION_FAILED, field_table},
};
use crate::{dial::Dialer, error::TopologyError};

/// Time in which a broker may still process the last requests of a killed connection, such as an exchange or a binding.
/// Chosen, not measured: the fault campaign saw it once.
const LAST_REQUESTS_TIMEOUT: Duration = Duration::from_secs(2);

/// Like [`LAST_REQUESTS_TIMEOUT`], if the last request may declare a queue. One quorum queue appeared more than two
/// seconds after its connection was gone, on two cores with four busy programs.
const LAST_DECLARATION_TIMEOUT: Duration = Duration::from_secs(10);

/// Removes the objects that an ended run left behind, if they are certainly the run's.
pub fn remove_leftovers(
    dialer: &Dialer,
    run: &OwnedTopology,
    messages: Messages,
    bindings: ForeignBindings<'_>,
) -> Result<Leftovers, TopologyError> {
    let mut topology = Topology::connect(dialer)?;
    let outcome = match topology.presence_of(run)? {
        RunPresence::None => Leftovers::NotHere,
        RunPresence::Alive => Leftovers::Alive,
        RunPresence::Refused(text) => Leftovers::Unknown(text),
        RunPresence::Ended => {
            let policy = RemovalPolicy::of_leftovers(messages, bindings);
            let (mut removal, mut used, may_come) = try_remove(topology, dialer, run, policy)?;
            if !may_come.is_zero() {
                thread::sleep(may_come);
                let (rest, again, _) = try_remove(used, dialer, run, policy)?;
                removal.removed.extend(rest.removed);
                (removal.kept, used) = (rest.kept, again);
            }
            topology = used;
            Leftovers::Settled(removal)
        }
    };
    topology.close();
    Ok(outcome)
}

/// Removes the objects of `run` under this policy. Returns the connection or its replacement.
pub fn remove(
    topology: Topology,
    dialer: &Dialer,
    run: &OwnedTopology,
    policy: RemovalPolicy<'_>,
) -> Result<(Removal, Topology), TopologyError> {
    let (removal, topology, _) = try_remove(topology, dialer, run, policy)?;
    Ok((removal, topology))
}

/// Acts like [`remove`], and returns the time in which objects may still appear. This happens if an object does not exist and
/// was never marked, or if churn declares it repeatedly.
fn try_remove<'a>(
    topology: Topology,
    dialer: &'a Dialer,
    run: &'a OwnedTopology,
    policy: RemovalPolicy<'a>,
) -> Result<(Removal, Topology, Duration), TopologyError> {
    let removal = Removal::default();
    let has_churn =
        !run.bindings.is_empty() || run.queues.iter().any(|queue| run.is_known_by_name(queue));
    let may_come = if has_churn { LAST_REQUESTS_TIMEOUT } else { Duration::ZERO };
    let bindings =
        policy.bindings.map(|bindings| SeenBindings::read(bindings, &topology.uri.vhost));
    let mut remover = Remover { topology, dialer, run, policy, bindings, removal, may_come };
    remover.bindings()?;
    remover.queues()?;
    remover.exchanges()?;
    if !remover.removal.kept.iter().any(|kept| kept.reason.is_ours()) {
        remover.topology.unmark_run(run)?;
    }
    Ok((remover.removal, remover.topology, remover.may_come))
}

pub(super) struct Remover<'a> {
    pub(super) topology: Topology,
    pub(super) dialer: &'a Dialer,
    pub(super) run: &'a OwnedTopology,
    pub(super) policy: RemovalPolicy<'a>,
    /// Absent: bindings are not checked.
    bindings: Option<SeenBindings>,
    removal: Removal,
    may_come: Duration,
}

impl Remover<'_> {
    /// Removes bindings with the token in their key, which are the run's. Unbinding a missing binding does nothing.
    fn bindings(&mut self) -> Result<(), TopologyError> {
        let (own, others): (Vec<_>, Vec<_>) = (self.run.bindings.iter())
            .partition(|binding| self.run.is_named_by_token(&binding.routing_key));
        for binding in others {
            self.keep(format!("binding of queue `{}`", binding.queue), KeptReason::NotMarked);
        }
        let arguments: Vec<_> = own.iter().map(|binding| field_table(&binding.arguments)).collect();
        let requests: Vec<_> = own
            .iter()
            .zip(&arguments)
            .map(|(binding, arguments)| Request::QueueUnbind {
                queue: &binding.queue,
                exchange: &binding.exchange,
                routing_key: &binding.routing_key,
                arguments,
            })
            .collect();
        let answers = self.topology.each(&requests, "removing bindings")?;
        for (binding, answer) in own.iter().zip(answers) {
            if let Err(refusal) = answer
                && !refusal.is_not_found()
            {
                let what = format!("binding of queue `{}`", binding.queue);
                self.keep(what, KeptReason::Refused(refusal.text));
            }
        }
        Ok(())
    }

    /// Deletes the markers of deleted objects, which have no bindings now.
    pub(super) fn unmark(
        &mut self,
        deleted: &[usize],
        absent: &[usize],
        mark_of: impl Fn(&OwnedTopology, usize) -> Option<Marker>,
    ) -> Result<(), TopologyError> {
        let all = |numbers: &[usize]| -> Vec<Marker> {
            numbers.iter().filter_map(|&index| mark_of(self.run, index)).collect()
        };
        let (deleted, absent) = (all(deleted), all(absent));
        self.topology.prove(&deleted)?;
        if self.topology.prove(&absent)?.contains(&Proof::NoMarker) {
            self.may_come = LAST_DECLARATION_TIMEOUT;
        }
        Ok(())
    }

    /// Returns those of `numbers` that are certainly the run's; the others are kept.
    pub(super) fn proved(
        &mut self,
        numbers: Vec<usize>,
        mark_of: impl Fn(&OwnedTopology, usize) -> Option<Marker>,
        in_words: impl Fn(&Self, usize) -> String,
    ) -> Result<Vec<usize>, TopologyError> {
        if !self.policy.needs_proof {
            return Ok(numbers);
        }
        let (marked, mut proved): (Vec<usize>, Vec<usize>) =
            numbers.into_iter().partition(|&index| mark_of(self.run, index).is_some());
        let marks: Vec<Marker> =
            marked.iter().filter_map(|&index| mark_of(self.run, index)).collect();
        for (at, proof) in marked.into_iter().zip(self.topology.prove(&marks)?) {
            match proof {
                Proof::Bound => proved.push(at),
                Proof::Unbound => self.keep(in_words(self, at), KeptReason::DeclaredAnew),
                Proof::NoMarker => self.keep(in_words(self, at), KeptReason::NotMarked),
            }
        }
        Ok(proved)
    }

    /// Removes exchanges. An exchange that feeds another exchange of the run is in use until that one is deleted.
    fn exchanges(&mut self) -> Result<(), TopologyError> {
        let all: Vec<usize> = (0..self.run.exchanges.len()).collect();
        let names: Vec<_> =
            self.run.exchanges.iter().map(|exchange| exchange.name.clone()).collect();
        let there = self.topology.has_exchanges(&names)?;
        let (present, absent): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&index| there[index]);
        let proved = self.proved(present, OwnedTopology::exchange_mark, Self::exchange_in_words)?;
        let mut left = self.without_foreign_bindings(proved, false);
        let mut gone = Vec::new();
        let mut refusals = Vec::new();
        loop {
            let before = left.len();
            refusals.clear();
            let requests: Vec<_> = left
                .iter()
                .map(|&index| Request::ExchangeDelete { exchange: &names[index], if_unused: true })
                .collect();
            let answers = self.topology.each(&requests, "removing exchanges")?;
            for (at, answer) in std::mem::take(&mut left).into_iter().zip(answers) {
                match answer {
                    Ok(_) => {
                        self.removal.removed.push(self.exchange_in_words(at));
                        gone.push(at);
                    }
                    Err(refusal) => {
                        left.push(at);
                        refusals.push(refusal);
                    }
                }
            }
            if left.is_empty() || left.len() == before {
                break;
            }
        }
        for (at, refusal) in left.into_iter().zip(refusals) {
            self.note(self.exchange_in_words(at), Err(refusal));
        }
        self.unmark(&gone, &absent, OwnedTopology::exchange_mark)
    }

    /// Returns those of `numbers` without bindings of others; the objects with such bindings are kept.
    pub(super) fn without_foreign_bindings(
        &mut self,
        numbers: Vec<usize>,
        are_queues: bool,
    ) -> Vec<usize> {
        let (mut free, run) = (Vec::new(), self.run);
        for at in numbers {
            match self.reason_of_bindings(run, at, are_queues) {
                None => free.push(at),
                Some(reason) if are_queues => self.keep(self.queue_in_words(at), reason),
                Some(reason) => self.keep(self.exchange_in_words(at), reason),
            }
        }
        free
    }

    fn reason_of_bindings(
        &self,
        run: &OwnedTopology,
        at: usize,
        is_queue: bool,
    ) -> Option<KeptReason> {
        let bindings = self.bindings.as_ref()?;
        let (name, marker) = if is_queue {
            // Only the queue's name leads to it, and no other queue has that name.
            let queue = run.queues.get(at).filter(|queue| !run.is_known_by_name(queue))?;
            (&queue.name, run.queue_mark(at))
        } else {
            (&run.exchanges.get(at)?.name, run.exchange_mark(at))
        };
        let marker = marker.as_ref().map(|marker| marker.name.as_str());
        bindings.reason_to_keep(run, &Subject { name, is_queue }, marker)
    }

    pub(super) fn note(&mut self, what: String, answer: Result<(), Refusal>) {
        match answer {
            Ok(()) => self.removal.removed.push(what),
            Err(refusal) if refusal.code == PRECONDITION_FAILED => {
                let has_message = refusal.text.ends_with("not empty");
                let reason =
                    if has_message { KeptReason::MessageArrived } else { KeptReason::InUse };
                self.keep(what, reason);
            }
            Err(refusal) => self.keep(what, KeptReason::Refused(refusal.text)),
        }
    }

    pub(super) fn keep(&mut self, what: String, reason: KeptReason) {
        self.removal.kept.push(KeptObject { what, reason });
    }

    pub(super) fn queue_in_words(&self, at: usize) -> String {
        format!("queue `{}`", self.run.queues[at].name)
    }

    fn exchange_in_words(&self, at: usize) -> String {
        format!("exchange `{}`", self.run.exchanges[at].name)
    }
}
