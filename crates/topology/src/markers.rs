//! Markers: exchanges that prove a run's declarations, and the queue that proves that the run is alive.
//!
//! ```text
//! rabbitscope.TOKEN         exchange: this is the broker and the virtual host of the run
//! rabbitscope.TOKEN.q7      exchange, bound to the eighth queue
//! rabbitscope.TOKEN.x0      exchange, bound to the first exchange
//! rabbitscope.TOKEN.alive   exclusive queue of the run's own connection: gone when the run is
//! ```

use std::collections::HashMap;

use rabbitscope_amqp::{Refusal, Reply, Request, Table};

use super::{
    connection::{Topology, ask, refused_exchange, refused_queue},
    declarations::{Declarations, MissingTopology, QueueSet},
    owned_topology::OwnedTopology,
    requests::{
        PRECONDITION_FAILED, RESOURCE_LOCKED, declare_request, exchange_request, field_table,
        passive_exchange, passive_queue,
    },
};
use crate::{dial::request_error, error::TopologyError};

/// A marker and its subject, to which it is bound.
#[derive(Debug)]
pub(super) struct Marker {
    pub(super) name: String,
    pub(super) durable: bool,
    subject: MarkedObject,
}

#[derive(Debug)]
enum MarkedObject {
    Queue(String),
    Exchange(String),
}

/// The presence of a run on a broker, as that broker sees it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) enum RunPresence {
    /// The marker does not exist: this is another broker or virtual host, or the broker has lost all of its objects.
    None,
    /// The run is connected.
    Alive,
    /// The marker exists, but the run is not connected.
    Ended,
    /// The broker refuses the answer; its text.
    Refused(String),
}

impl OwnedTopology {
    fn run_marker(&self) -> String {
        format!("rabbitscope.{}", self.token)
    }

    fn alive_queue(&self) -> String {
        format!("rabbitscope.{}.alive", self.token)
    }

    /// The marker of the queue at this index; absent if the queue's name is proof enough.
    pub(super) fn queue_mark(&self, at: usize) -> Option<Marker> {
        let queue = self.queues.get(at).filter(|queue| !self.is_known_by_name(queue))?;
        Some(Marker {
            name: format!("rabbitscope.{}.q{at}", self.token),
            durable: queue.durable,
            subject: MarkedObject::Queue(queue.name.clone()),
        })
    }

    /// The marker of the exchange at this index.
    pub(super) fn exchange_mark(&self, at: usize) -> Option<Marker> {
        let exchange = self.exchanges.get(at)?;
        Some(Marker {
            name: format!("rabbitscope.{}.x{at}", self.token),
            durable: exchange.durable,
            subject: MarkedObject::Exchange(exchange.name.clone()),
        })
    }

    fn queue_marks(&self) -> HashMap<&str, Marker> {
        let numbered = self.queues.iter().enumerate();
        numbered
            .filter_map(|(index, queue)| Some((queue.name.as_str(), self.queue_mark(index)?)))
            .collect()
    }

    fn marks(&self) -> impl Iterator<Item = Marker> {
        let queues = (0..self.queues.len()).filter_map(|index| self.queue_mark(index));
        queues.chain((0..self.exchanges.len()).filter_map(|index| self.exchange_mark(index)))
    }
}

/// Evidence that a queue or exchange is still the marked one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Proof {
    /// The marker is bound to the object.
    Bound,
    /// The marker exists without a binding: the object was deleted and declared again.
    Unbound,
    /// The marker does not exist: the run ended before it could mark the object, or the object is not the run's.
    NoMarker,
}

impl Marker {
    /// Returns the requests that declare and bind the marker.
    fn requests<'a>(&'a self, none: &'a Table) -> [Request<'a>; 2] {
        [marker(&self.name, self.durable, none), self.binding(none)]
    }

    fn binding<'a>(&'a self, none: &'a Table) -> Request<'a> {
        match &self.subject {
            MarkedObject::Queue(queue) => {
                Request::QueueBind { queue, exchange: &self.name, routing_key: "", arguments: none }
            }
            MarkedObject::Exchange(exchange) => Request::ExchangeBind {
                destination: exchange,
                source: &self.name,
                routing_key: "",
                arguments: none,
            },
        }
    }

    fn is_of(&self, names: &MissingTopology) -> bool {
        match &self.subject {
            MarkedObject::Queue(queue) => names.queues.contains(queue),
            MarkedObject::Exchange(exchange) => names.exchanges.contains(exchange),
        }
    }
}

fn marker<'a>(exchange: &'a str, durable: bool, none: &'a Table) -> Request<'a> {
    Request::ExchangeDeclare {
        exchange,
        kind: "direct",
        passive: false,
        durable,
        auto_delete: false,
        internal: false,
        arguments: none,
    }
}

impl Topology {
    /// Declares the markers of the run itself. The inner error means that the user may not declare them.
    pub fn mark_run(&mut self, run: &OwnedTopology) -> Result<Result<(), Refusal>, TopologyError> {
        let (name, none) = (run.run_marker(), Table::default());
        match self.call_all(&[marker(&name, true, &none)], "declaring a marker")? {
            Ok(()) => self.mark_alive(run),
            Err((_, refusal)) => Ok(Err(refusal)),
        }
    }

    /// Declares the queue that disappears with this connection. It may still belong to the run's previous connection if
    /// the broker has not noticed its loss.
    pub(crate) fn mark_alive(
        &mut self,
        run: &OwnedTopology,
    ) -> Result<Result<(), Refusal>, TopologyError> {
        let (name, none) = (run.alive_queue(), Table::default());
        let declare = Request::QueueDeclare {
            queue: &name,
            passive: false,
            durable: false,
            exclusive: true,
            auto_delete: false,
            arguments: &none,
        };
        let outcome = self.call_all(&[declare], "declaring a marker")?;
        Ok(outcome
            .map_err(|(_, refusal)| refusal)
            .or_else(|refusal| if refusal.code == RESOURCE_LOCKED { Ok(()) } else { Err(refusal) }))
    }

    /// Declares all objects, each immediately followed by its marker. After a kill between the two, nothing proves that
    /// the object is the run's. The inner error means that the user may not declare markers. The caller must then
    /// declare the remaining objects.
    pub fn declare_marked(
        &mut self,
        declarations: &Declarations,
        run: &OwnedTopology,
    ) -> Result<Result<(), Refusal>, TopologyError> {
        let none = Table::default();
        for exchange in &declarations.exchanges {
            let arguments = field_table(&exchange.arguments);
            let at = run.exchanges.iter().position(|owned| owned.name == exchange.name);
            let mark = at.and_then(|index| run.exchange_mark(index));
            let mut requests = vec![exchange_request(exchange, &arguments)];
            requests.extend(mark.iter().flat_map(|mark| mark.requests(&none)));
            _ = match self.call_all(&requests, "declaring an exchange")? {
                Ok(()) => self.created.exchanges.insert(exchange.name.clone()),
                Err((0, refusal)) => return Err(refused_exchange(&exchange.name, refusal)),
                Err((_, refusal)) => {
                    self.created.exchanges.insert(exchange.name.clone());
                    return Ok(Err(refusal));
                }
            };
        }
        let marks = run.queue_marks();
        for set in &declarations.queues {
            if let Err(refusal) = self.declare_set(set, &marks)? {
                return Ok(Err(refusal));
            }
        }
        Ok(Ok(()))
    }

    fn declare_set(
        &mut self,
        set: &QueueSet,
        marks: &HashMap<&str, Marker>,
    ) -> Result<Result<(), Refusal>, TopologyError> {
        let none = Table::default();
        // For each request, the queue that it declares; absent for a request that marks one.
        let (mut requests, mut declares) = (Vec::new(), Vec::new());
        for (at, name) in set.names.iter().enumerate() {
            requests.push(declare_request(&set.spec, name, set.arguments(at)));
            declares.push(Some(name));
            if let Some(mark) = marks.get(name.as_str()) {
                requests.extend(mark.requests(&none));
                declares.extend([None, None]);
            }
        }
        let outcome = self.call_all(&requests, "declaring queues")?;
        let done = outcome.as_ref().map_or_else(|(at, _)| *at, |()| requests.len());
        self.created.queues.extend(declares[..done].iter().flatten().map(|name| (*name).clone()));
        match outcome {
            Ok(()) => Ok(Ok(())),
            Err((at, refusal)) => match declares[at] {
                Some(queue) => Err(refused_queue(queue, refusal)),
                None => Ok(Err(refusal)),
            },
        }
    }

    /// Marks lost objects that have been declared again.
    pub(crate) fn mark_again(
        &mut self,
        run: &OwnedTopology,
        lost: &MissingTopology,
    ) -> Result<Result<(), Refusal>, TopologyError> {
        let marks: Vec<Marker> = run.marks().filter(|mark| mark.is_of(lost)).collect();
        self.mark(&marks)
    }

    fn mark(&mut self, marks: &[Marker]) -> Result<Result<(), Refusal>, TopologyError> {
        let none = Table::default();
        let requests: Vec<_> = marks.iter().flat_map(|mark| mark.requests(&none)).collect();
        let outcome = self.call_all(&requests, "declaring markers")?;
        Ok(outcome.map_err(|(_, refusal)| refusal))
    }

    /// Returns the presence of a run on this broker.
    pub(super) fn presence_of(
        &mut self,
        run: &OwnedTopology,
    ) -> Result<RunPresence, TopologyError> {
        let (marker, alive, none) = (run.run_marker(), run.alive_queue(), Table::default());
        match self.one(&passive_exchange(&marker, &none))? {
            Ok(_) => {}
            Err(refusal) if refusal.is_not_found() => return Ok(RunPresence::None),
            Err(refusal) => return Ok(RunPresence::Refused(refusal.text)),
        }
        Ok(match self.one(&passive_queue(&alive, &none))? {
            Err(refusal) if refusal.is_not_found() => RunPresence::Ended,
            Err(refusal) if refusal.code != RESOURCE_LOCKED => RunPresence::Refused(refusal.text),
            _ => RunPresence::Alive,
        })
    }

    /// Returns the proof that each marker gives about its subject. Deletes markers without a binding.
    pub(super) fn prove(&mut self, marks: &[Marker]) -> Result<Vec<Proof>, TopologyError> {
        let names: Vec<_> = marks.iter().map(|mark| mark.name.clone()).collect();
        let there = self.has_exchanges(&names)?;
        let requests: Vec<_> = names
            .iter()
            .map(|exchange| Request::ExchangeDelete { exchange, if_unused: true })
            .collect();
        let answers = self.each(&requests, "looking at markers")?;
        let proofs = answers.into_iter().zip(there).map(|(answer, there)| match answer {
            Err(refusal) if refusal.code == PRECONDITION_FAILED => Proof::Bound,
            _ if there => Proof::Unbound,
            _ => Proof::NoMarker,
        });
        Ok(proofs.collect())
    }

    /// Deletes the run's own marker.
    pub(super) fn unmark_run(&mut self, run: &OwnedTopology) -> Result<(), TopologyError> {
        let exchange = &run.run_marker();
        self.one(&Request::ExchangeDelete { exchange, if_unused: true })?.ok();
        Ok(())
    }

    fn one(&mut self, request: &Request<'_>) -> Result<Result<Reply, Refusal>, TopologyError> {
        let answers = self.each(std::slice::from_ref(request), "looking for a run")?;
        Ok(answers.into_iter().next().expect("an answer to each request"))
    }

    /// Sends each request on a channel of its own, many at a time.
    pub(super) fn each(
        &mut self,
        requests: &[Request<'_>],
        doing: &str,
    ) -> Result<Vec<Result<Reply, Refusal>>, TopologyError> {
        let mut all = Vec::with_capacity(requests.len());
        for window in requests.chunks(self.window()) {
            let answers = ask(&mut self.client, window);
            all.extend(answers.map_err(|error| request_error(&self.uri, doing, error))?);
        }
        Ok(all)
    }
}
