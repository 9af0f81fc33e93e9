//! Removal of what a run declared: only what is certainly the run's, and what nobody else uses.
//!
//! ```text
//! state of each ─► left: used, or full and not asked for ─► proof by marker ─► delete ─► markers
//! ```
//!
//! What is deleted has no consumer when it is asked, and classic queues are deleted `if-unused`, so that
//! the broker itself refuses should one come in between.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{ConnectionError, Refusal, Reply, Request, Table, blocking::ClientError};
use rabbitscope_runs::scenario::QueueType;

use super::{
    connection::{Topology, ask},
    markers::{Marker, Proof, RunPresence},
    owned_topology::OwnedTopology,
    removal_policy::{Messages, RemovalPolicy},
    removed::{KeptObject, KeptReason, Leftovers, Removal},
    requests::{PRECONDITION_FAILED, field_table, passive_queue},
};
use crate::{
    dial::{Dialer, request_error},
    error::LoadError,
};

const CONSUMERS_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// A broker may still be at the last requests of a connection that was killed: such as an exchange or a
/// binding. Chosen, not measured: the fault campaign saw it once.
const LAST_REQUESTS_TIMEOUT: Duration = Duration::from_secs(2);

/// As [`LAST_REQUESTS_TIMEOUT`], when the last may be the declaration of a queue. A quorum queue
/// came more than two seconds after its connection was gone, on two cores with four programs at
/// work.
const LAST_DECLARATION_TIMEOUT: Duration = Duration::from_secs(10);

/// AMQP's code for what a type of queue does not know; it ends the connection.
const NOT_IMPLEMENTED: u16 = 540;

/// Removes what a run left behind that has ended, as far as that is certain.
pub fn remove_leftovers(
    dialer: &Dialer,
    run: &OwnedTopology,
    messages: Messages,
) -> Result<Leftovers, LoadError> {
    let mut topology = Topology::connect(dialer)?;
    let outcome = match topology.presence_of(run)? {
        RunPresence::None => Leftovers::NotHere,
        RunPresence::Alive => Leftovers::Alive,
        RunPresence::Refused(text) => Leftovers::Unknown(text),
        RunPresence::Ended => {
            let policy = RemovalPolicy::of_leftovers(messages);
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

/// Removes what `run` declared, on these terms. Gives back the connection, or the one in its place.
pub(crate) fn remove(
    topology: Topology,
    dialer: &Dialer,
    run: &OwnedTopology,
    policy: RemovalPolicy,
) -> Result<(Removal, Topology), LoadError> {
    let (removal, topology, _) = try_remove(topology, dialer, run, policy)?;
    Ok((removal, topology))
}

/// As [`remove`], with the time in which something may still be declared: because an object does
/// not exist and was never marked, or because churn declares it again and again.
fn try_remove(
    topology: Topology,
    dialer: &Dialer,
    run: &OwnedTopology,
    policy: RemovalPolicy,
) -> Result<(Removal, Topology, Duration), LoadError> {
    let removal = Removal::default();
    let has_churn = !run.bindings.is_empty() || run.queues.iter().any(|queue| queue.named_by_token);
    let may_come = if has_churn { LAST_REQUESTS_TIMEOUT } else { Duration::ZERO };
    let mut remover = Remover { topology, dialer, run, policy, removal, may_come };
    remover.bindings()?;
    remover.queues()?;
    remover.exchanges()?;
    if !remover.removal.kept.iter().any(|kept| kept.reason.is_ours()) {
        remover.topology.unmark_run(run)?;
    }
    Ok((remover.removal, remover.topology, remover.may_come))
}

struct Remover<'a> {
    topology: Topology,
    dialer: &'a Dialer,
    run: &'a OwnedTopology,
    policy: RemovalPolicy,
    removal: Removal,
    may_come: Duration,
}

/// The state of a queue.
#[derive(Debug)]
enum State {
    Absent,
    There { messages: u32, consumers: u32 },
    Refused(String),
}

impl Remover<'_> {
    /// Unbinds what holds the token in its key: it is the run's. Unbinding what is not bound does nothing.
    fn bindings(&mut self) -> Result<(), LoadError> {
        let (own, others): (Vec<_>, Vec<_>) = (self.run.bindings.iter())
            .partition(|binding| self.run.is_named_by_token(&binding.routing_key));
        for binding in others {
            self.keep(format!("binding of queue `{}`", binding.queue), KeptReason::NotMarked);
        }
        let arguments: Vec<_> = own.iter().map(|it| field_table(&it.arguments)).collect();
        let requests: Vec<_> = own
            .iter()
            .zip(&arguments)
            .map(|(it, arguments)| Request::QueueUnbind {
                queue: &it.queue,
                exchange: &it.exchange,
                routing_key: &it.routing_key,
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

    fn queues(&mut self) -> Result<(), LoadError> {
        let mut free = Vec::new();
        let mut absent = Vec::new();
        for (at, state) in self.settled_states()?.into_iter().enumerate() {
            let reason = match state {
                State::Absent => {
                    absent.push(at);
                    continue;
                }
                State::Refused(text) => KeptReason::Refused(text),
                State::There { consumers: 1.., .. } => KeptReason::InUse,
                State::There { messages: messages @ 1.., .. } if self.policy.needs_empty => {
                    KeptReason::Messages(messages)
                }
                State::There { .. } => {
                    free.push(at);
                    continue;
                }
            };
            self.keep(self.queue_in_words(at), reason);
        }
        let free = self.proved(free, OwnedTopology::queue_mark, Self::queue_in_words)?;
        self.delete_queues(&free)?;
        self.unmark(&free, &absent, OwnedTopology::queue_mark)
    }

    /// Deletes the markers of what is gone, which are bound to nothing now.
    fn unmark(
        &mut self,
        deleted: &[usize],
        absent: &[usize],
        mark_of: impl Fn(&OwnedTopology, usize) -> Option<Marker>,
    ) -> Result<(), LoadError> {
        let all = |numbers: &[usize]| -> Vec<Marker> {
            numbers.iter().filter_map(|&at| mark_of(self.run, at)).collect()
        };
        let (deleted, absent) = (all(deleted), all(absent));
        self.topology.prove(&deleted)?;
        if self.topology.prove(&absent)?.contains(&Proof::NoMarker) {
            self.may_come = LAST_DECLARATION_TIMEOUT;
        }
        Ok(())
    }

    /// Those of `numbers` that are certainly the run's; the others are kept.
    fn proved(
        &mut self,
        numbers: Vec<usize>,
        mark_of: impl Fn(&OwnedTopology, usize) -> Option<Marker>,
        in_words: impl Fn(&Self, usize) -> String,
    ) -> Result<Vec<usize>, LoadError> {
        if !self.policy.needs_proof {
            return Ok(numbers);
        }
        let (marked, mut proved): (Vec<usize>, Vec<usize>) =
            numbers.into_iter().partition(|&at| mark_of(self.run, at).is_some());
        let marks: Vec<Marker> = marked.iter().filter_map(|&at| mark_of(self.run, at)).collect();
        for (at, proof) in marked.into_iter().zip(self.topology.prove(&marks)?) {
            match proof {
                Proof::Bound => proved.push(at),
                Proof::Unbound => self.keep(in_words(self, at), KeptReason::DeclaredAnew),
                Proof::NoMarker => self.keep(in_words(self, at), KeptReason::NotMarked),
            }
        }
        Ok(proved)
    }

    /// What each queue holds, once consumers that are about to go have gone.
    fn settled_states(&mut self) -> Result<Vec<State>, LoadError> {
        let mut states = self.states(&(0..self.run.queues.len()).collect::<Vec<_>>())?;
        let deadline = Instant::now() + self.policy.consumers_gone_timeout;
        loop {
            let is_used = |state: &State| matches!(state, State::There { consumers: 1.., .. });
            let used: Vec<usize> = (0..states.len()).filter(|&at| is_used(&states[at])).collect();
            if used.is_empty() || Instant::now() >= deadline {
                return Ok(states);
            }
            thread::sleep(CONSUMERS_POLL_INTERVAL);
            for (at, state) in used.iter().zip(self.states(&used)?) {
                states[*at] = state;
            }
        }
    }

    fn states(&mut self, numbers: &[usize]) -> Result<Vec<State>, LoadError> {
        let none = Table::default();
        let requests: Vec<_> =
            numbers.iter().map(|&at| passive_queue(&self.run.queues[at].name, &none)).collect();
        let answers = self.topology.each(&requests, "looking at queues")?;
        Ok(answers.into_iter().map(State::of).collect())
    }

    fn delete_queues(&mut self, numbers: &[usize]) -> Result<(), LoadError> {
        let (classic, others): (Vec<usize>, Vec<usize>) =
            numbers.iter().partition(|&&at| self.run.queues[at].queue_type == QueueType::Classic);
        for (numbers, if_unused) in [(classic, true), (others, false)] {
            for window in numbers.chunks(self.topology.window()) {
                let answers = self.delete_window(window, if_unused)?;
                for (&at, answer) in window.iter().zip(answers) {
                    self.note(self.queue_in_words(at), answer.map(drop));
                }
            }
        }
        Ok(())
    }

    /// Queues that are of another type than was asked for (the virtual host may have a type of its
    /// own) do not know the condition, which the broker answers with the end of the connection.
    fn delete_window(
        &mut self,
        numbers: &[usize],
        if_unused: bool,
    ) -> Result<Vec<Result<Reply, Refusal>>, LoadError> {
        let requests: Vec<_> = numbers
            .iter()
            .map(|&at| {
                let queue = self.run.queues[at].name.as_str();
                Request::QueueDelete { queue, if_unused, if_empty: false }
            })
            .collect();
        match ask(&mut self.topology.client, &requests) {
            Ok(answers) => Ok(answers),
            Err(ClientError::Connection(ConnectionError::ClosedByBroker(refusal)))
                if if_unused && refusal.code == NOT_IMPLEMENTED =>
            {
                self.topology = Topology::connect(self.dialer)?;
                self.delete_window(numbers, false)
            }
            Err(error) => Err(request_error(&self.topology.uri, "removing queues", error)),
        }
    }

    /// An exchange from which another of the run's is fed is used until that one is gone.
    fn exchanges(&mut self) -> Result<(), LoadError> {
        let all: Vec<usize> = (0..self.run.exchanges.len()).collect();
        let names: Vec<_> = self.run.exchanges.iter().map(|it| it.name.clone()).collect();
        let there = self.topology.has_exchanges(&names)?;
        let (present, absent): (Vec<usize>, Vec<usize>) =
            all.into_iter().partition(|&at| there[at]);
        let mut left =
            self.proved(present, OwnedTopology::exchange_mark, Self::exchange_in_words)?;
        let mut gone = Vec::new();
        let mut refusals = Vec::new();
        loop {
            let before = left.len();
            refusals.clear();
            let requests: Vec<_> = left
                .iter()
                .map(|&at| Request::ExchangeDelete { exchange: &names[at], if_unused: true })
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

    fn note(&mut self, what: String, answer: Result<(), Refusal>) {
        match answer {
            Ok(()) => self.removal.removed.push(what),
            Err(refusal) if refusal.code == PRECONDITION_FAILED => {
                self.keep(what, KeptReason::InUse);
            }
            Err(refusal) => self.keep(what, KeptReason::Refused(refusal.text)),
        }
    }

    fn keep(&mut self, what: String, reason: KeptReason) {
        self.removal.kept.push(KeptObject { what, reason });
    }

    fn queue_in_words(&self, at: usize) -> String {
        format!("queue `{}`", self.run.queues[at].name)
    }

    fn exchange_in_words(&self, at: usize) -> String {
        format!("exchange `{}`", self.run.exchanges[at].name)
    }
}

impl State {
    fn of(answer: Result<Reply, Refusal>) -> Self {
        match answer {
            Ok(Reply::QueueDeclared { messages, consumers, .. }) => {
                Self::There { messages, consumers }
            }
            Err(refusal) if refusal.is_not_found() => Self::Absent,
            Err(refusal) => Self::Refused(refusal.text),
            Ok(_) => Self::Refused("the broker answered something else".to_owned()),
        }
    }
}
