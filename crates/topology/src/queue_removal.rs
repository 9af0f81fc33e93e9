//! Removal of a run's queues without loss of messages of others.
//!
//! A classic queue is deleted `if-unused` and `if-empty`: the queue's own process checks and deletes in one step.
//! Quorum queues refuse both conditions, and streams ignore them (3.10: `rabbit_quorum_queue:delete/4`,
//! `rabbit_stream_queue:delete/4`). A message confirmed between a check and the deletion would be lost. Such queues
//! stay until a person requests their removal.

use std::{
    thread,
    time::{Duration, Instant},
};

use rabbitscope_amqp::{ConnectionError, Refusal, Reply, Request, Table, blocking::ClientError};
use rabbitscope_runs::scenario::QueueType;

use super::{
    connection::{Topology, ask},
    own_messages::Drained,
    owned_topology::OwnedTopology,
    removal::Remover,
    removed::KeptReason,
    requests::passive_queue,
};
use crate::{dial::request_error, error::TopologyError};

const CONSUMERS_POLL_INTERVAL: Duration = Duration::from_millis(50);

/// Time for removing a run's own messages from all of its queues. Chosen: enough for some hundred thousand messages.
const DRAIN_TIMEOUT: Duration = Duration::from_secs(10);

/// AMQP's code for a condition that a queue type does not support; it ends the connection.
const NOT_IMPLEMENTED: u16 = 540;

/// Answers to a window of deletions.
type Answers = Vec<Result<Reply, Refusal>>;

/// The state of a queue.
#[derive(Debug)]
enum State {
    Absent,
    There { messages: u32, consumers: u32 },
    Refused(String),
}

impl Remover<'_> {
    pub(super) fn queues(&mut self) -> Result<(), TopologyError> {
        let states = self.settled_states()?;
        let is_absent = |index: &usize| matches!(states[*index], State::Absent);
        let (absent, present): (Vec<usize>, Vec<usize>) = (0..states.len()).partition(is_absent);
        let proved = self.proved(present, OwnedTopology::queue_mark, Self::queue_in_words)?;
        let mut free = Vec::with_capacity(proved.len());
        for at in proved {
            match self.reason_to_keep(at, &states[at]) {
                Some(reason) => self.keep(self.queue_in_words(at), reason),
                None => free.push(at),
            }
        }
        let free = self.without_foreign_bindings(free, true);
        let is_full = |index: usize| states[index].has_messages() && self.spares(index);
        let full = free.iter().copied().filter(|&index| is_full(index)).collect::<Vec<_>>();
        let free = self.drained(free, &full)?;
        self.delete_queues(&free)?;
        self.unmark(&free, &absent, OwnedTopology::queue_mark)
    }

    /// Returns whether messages of others in this queue are preserved. Others cannot know a name with the token.
    fn spares(&self, at: usize) -> bool {
        self.policy.keeps_messages() && !self.run.is_known_by_name(&self.run.queues[at])
    }

    fn reason_to_keep(&self, at: usize, state: &State) -> Option<KeptReason> {
        let queue_type = self.run.queues[at].queue_type;
        match *state {
            State::Refused(ref text) => Some(KeptReason::Refused(text.clone())),
            State::There { consumers: 1.., .. } => Some(KeptReason::InUse),
            State::There { .. } if !self.spares(at) => None,
            State::There { .. } if queue_type != QueueType::Classic => {
                Some(KeptReason::NeverChecked(queue_type))
            }
            State::There { messages: messages @ 1.., .. } if self.policy.own_messages.is_none() => {
                Some(KeptReason::Messages(messages))
            }
            State::Absent | State::There { .. } => None,
        }
    }

    /// Removes the run's own messages from the `full` ones among `queues`. Queues with messages of others are kept.
    fn drained(&mut self, queues: Vec<usize>, full: &[usize]) -> Result<Vec<usize>, TopologyError> {
        let Some(own) = self.policy.own_messages else { return Ok(queues) };
        let (deadline, run) = (Instant::now() + DRAIN_TIMEOUT, self.run);
        let mut kept = Vec::new();
        for &at in full {
            let reason = match self.topology.drain(&run.queues[at].name, own, deadline)? {
                Drained::Empty => continue,
                Drained::OfOthers => KeptReason::MessagesOfOthers,
                Drained::TooMany => KeptReason::TooManyMessages,
                Drained::Refused(text) => KeptReason::Refused(text),
            };
            self.keep(self.queue_in_words(at), reason);
            kept.push(at);
        }
        Ok(queues.into_iter().filter(|index| !kept.contains(index)).collect())
    }

    /// Returns the state of each queue, after waiting for consumers that are about to disappear.
    fn settled_states(&mut self) -> Result<Vec<State>, TopologyError> {
        let mut states = self.states(&(0..self.run.queues.len()).collect::<Vec<_>>())?;
        let deadline = Instant::now() + self.policy.consumers_gone_timeout;
        loop {
            let is_used = |state: &State| matches!(state, State::There { consumers: 1.., .. });
            let used: Vec<usize> =
                (0..states.len()).filter(|&index| is_used(&states[index])).collect();
            if used.is_empty() || Instant::now() >= deadline {
                return Ok(states);
            }
            thread::sleep(CONSUMERS_POLL_INTERVAL);
            for (at, state) in used.iter().zip(self.states(&used)?) {
                states[*at] = state;
            }
        }
    }

    fn states(&mut self, numbers: &[usize]) -> Result<Vec<State>, TopologyError> {
        let none = Table::default();
        let requests: Vec<_> = numbers
            .iter()
            .map(|&index| passive_queue(&self.run.queues[index].name, &none))
            .collect();
        let answers = self.topology.each(&requests, "looking at queues")?;
        Ok(answers.into_iter().map(State::from_answer).collect())
    }

    fn delete_queues(&mut self, numbers: &[usize]) -> Result<(), TopologyError> {
        let (classic, others): (Vec<usize>, Vec<usize>) = numbers
            .iter()
            .partition(|&&index| self.run.queues[index].queue_type == QueueType::Classic);
        let (spared, classic) = classic.into_iter().partition(|&index| self.spares(index));
        let all = [(spared, Condition::UnusedAndEmpty), (classic, Condition::Unused)];
        for (numbers, condition) in all.into_iter().chain([(others, Condition::None)]) {
            for window in numbers.chunks(self.topology.window()) {
                let answers = self.delete_window(window, condition)?;
                for (&at, answer) in window.iter().zip(answers) {
                    self.note(self.queue_in_words(at), answer.map(drop));
                }
            }
        }
        Ok(())
    }

    /// Deletes a window of queues. The actual type of a queue may differ from the declared one, because the virtual
    /// host may have a default type. Such a queue may not support the conditions, and the broker then ends the
    /// connection.
    fn delete_window(
        &mut self,
        numbers: &[usize],
        condition: Condition,
    ) -> Result<Answers, TopologyError> {
        if let Some(answers) = self.try_delete(numbers, condition)? {
            return Ok(answers);
        }
        match condition {
            Condition::UnusedAndEmpty => {
                let one = |index: &usize| self.delete_one(*index, condition);
                numbers.iter().map(one).collect()
            }
            Condition::Unused | Condition::None => self.delete_window(numbers, Condition::None),
        }
    }

    /// Deletes one queue or keeps it, without dropping a condition. A previously deleted queue is absent, which the
    /// broker accepts.
    fn delete_one(
        &mut self,
        at: usize,
        condition: Condition,
    ) -> Result<Result<Reply, Refusal>, TopologyError> {
        let answers = self.try_delete(&[at], condition)?;
        let refusal = || Refusal {
            code: NOT_IMPLEMENTED,
            text: "the broker deletes a queue of this type even if a message arrives".to_owned(),
            class_id: 0,
            method_id: 0,
        };
        Ok(answers.and_then(|answers| answers.into_iter().next()).unwrap_or_else(|| Err(refusal())))
    }

    /// Absent if a queue does not support the condition; the connection has then been replaced.
    fn try_delete(
        &mut self,
        numbers: &[usize],
        condition: Condition,
    ) -> Result<Option<Answers>, TopologyError> {
        let if_empty = condition == Condition::UnusedAndEmpty;
        let if_unused = condition != Condition::None;
        let names = numbers.iter().map(|&index| self.run.queues[index].name.as_str());
        let requests: Vec<_> =
            names.map(|queue| Request::QueueDelete { queue, if_unused, if_empty }).collect();
        match ask(&mut self.topology.client, &requests) {
            Ok(answers) => Ok(Some(answers)),
            Err(ClientError::Connection(ConnectionError::ClosedByBroker(refusal)))
                if if_unused && refusal.code == NOT_IMPLEMENTED =>
            {
                self.topology = Topology::connect(self.dialer)?;
                Ok(None)
            }
            Err(error) => Err(request_error(&self.topology.uri, "removing queues", error)),
        }
    }
}

/// The condition that the broker checks before it deletes a queue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Condition {
    UnusedAndEmpty,
    Unused,
    None,
}

impl State {
    fn has_messages(&self) -> bool {
        matches!(self, Self::There { messages: 1.., .. })
    }

    fn from_answer(answer: Result<Reply, Refusal>) -> Self {
        match answer {
            Ok(Reply::QueueDeclared { messages, consumers, .. }) => {
                Self::There { messages, consumers }
            }
            Err(refusal) if refusal.is_not_found() => Self::Absent,
            Err(refusal) => Self::Refused(refusal.text),
            Ok(_) => Self::Refused("the broker gave an unexpected answer".to_owned()),
        }
    }
}
