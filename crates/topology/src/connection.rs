//! The AMQP connection that looks up, declares, binds and deletes exchanges and queues.
//!
//! It sends many requests at a time, so that thousands of queues do not take thousands of round trips.

use rabbitscope_amqp::{
    Event, Refusal, Reply, Request, Table, Uri,
    blocking::{Client, ClientError},
};

use super::{
    declarations::{CreatedObjects, Declarations, MissingTopology},
    owned_topology::OwnedTopology,
    requests::{declare_request, exchange_request, field_table, passive_exchange, passive_queue},
};
use crate::{
    dial::{Dialer, Stream, dial_error, request_error},
    error::TopologyError,
};

/// Requests that are outstanding at the same time. A quorum queue takes tens of milliseconds, and all of these requests
/// share the timeout of one call.
const WINDOW: usize = 64;

/// A connection for topology, with a channel that is reopened when the broker closes it.
#[derive(Debug)]
pub struct Topology {
    pub(super) client: Client<Stream>,
    channel: u16,
    pub(super) uri: Uri,
    pub(super) created: CreatedObjects,
}

impl Topology {
    /// Connects. Heartbeats are off: this connection is idle while the load runs.
    pub fn connect(dialer: &Dialer) -> Result<Self, TopologyError> {
        let answer = dialer.dial_idle("rabbitscope control", 0);
        let (mut client, uri) = answer.map_err(|failed| dial_error(failed.uri, failed.error))?;
        let channel = client.open_channel().map_err(|error| dial_error(uri, error))?;
        Ok(Self { client, channel, uri: uri.clone(), created: CreatedObjects::default() })
    }

    /// The address of the broker.
    pub fn uri(&self) -> &Uri {
        &self.uri
    }

    /// Objects declared over this connection.
    pub fn created(&self) -> &CreatedObjects {
        &self.created
    }

    /// The `server-properties` of the broker.
    pub fn server_properties(&self) -> &Table {
        self.client.connection().server_properties()
    }

    /// Returns whether each of these queues exists.
    pub(crate) fn has_queues(&mut self, names: &[String]) -> Result<Vec<bool>, TopologyError> {
        let none = Table::default();
        let requests: Vec<_> = names.iter().map(|name| passive_queue(name, &none)).collect();
        self.exist(&requests, names, refused_queue)
    }

    /// Returns the exchanges and queues of `declarations` that do not exist.
    pub(crate) fn lost(
        &mut self,
        declarations: &Declarations,
    ) -> Result<MissingTopology, TopologyError> {
        let exchanges = declarations.exchanges.iter().map(|spec| spec.name.clone()).collect();
        let queues = declarations.queues.iter().flat_map(|set| set.names.clone()).collect();
        let (exchanges, queues): (Vec<_>, Vec<_>) = (exchanges, queues);
        let there = self.has_exchanges(&exchanges)?;
        let exchanges = missing(exchanges, &there);
        let there = self.has_queues(&queues)?;
        Ok(MissingTopology { exchanges, queues: missing(queues, &there) })
    }

    /// Returns the number of messages in a queue that are ready for consumers; absent if the queue does not exist.
    pub fn messages(&mut self, queue: &str) -> Option<u64> {
        let none = Table::default();
        match self.client.call(self.channel, &passive_queue(queue, &none)) {
            Ok(Reply::QueueDeclared { messages, .. }) => Some(u64::from(messages)),
            _ => None,
        }
    }

    /// Returns the number of ready messages in each of these queues; absent for queues that do not exist or that belong
    /// to another connection.
    pub fn depths(&mut self, queues: &[String]) -> Result<Vec<Option<u64>>, TopologyError> {
        let is_there = self.has_queues(queues)?;
        let mut depths = Vec::with_capacity(queues.len());
        for (queue, is_there) in queues.iter().zip(is_there) {
            depths.push(if is_there { self.messages(queue) } else { None });
        }
        Ok(depths)
    }

    /// Returns whether each of these exchanges exists.
    pub(crate) fn has_exchanges(&mut self, names: &[String]) -> Result<Vec<bool>, TopologyError> {
        let none = Table::default();
        let requests: Vec<_> = names.iter().map(|name| passive_exchange(name, &none)).collect();
        self.exist(&requests, names, refused_exchange)
    }

    /// Makes passive declarations, each on a channel of its own: the broker closes the channel if the object does not
    /// exist.
    fn exist(
        &mut self,
        passive: &[Request<'_>],
        names: &[String],
        refused: fn(&str, Refusal) -> TopologyError,
    ) -> Result<Vec<bool>, TopologyError> {
        let window = self.window();
        let mut found = Vec::with_capacity(names.len());
        for (passive, names) in passive.chunks(window).zip(names.chunks(window)) {
            let doing = format!("looking up `{}`", names[0]);
            let answers = ask(&mut self.client, passive);
            let answers = answers.map_err(|error| request_error(&self.uri, &doing, error))?;
            for (answer, name) in answers.into_iter().zip(names) {
                found.push(match answer {
                    Ok(_) => true,
                    Err(refusal) if refusal.is_not_found() => false,
                    Err(refusal) => return Err(refused(name, refusal)),
                });
            }
        }
        Ok(found)
    }

    /// Declares all exchanges and queues, or checks those that exist against the scenario.
    pub fn declare(&mut self, declarations: &Declarations) -> Result<(), TopologyError> {
        self.declare_but(declarations, none)
    }

    fn declare_but(
        &mut self,
        declarations: &Declarations,
        is_borne: fn(&Refusal) -> bool,
    ) -> Result<(), TopologyError> {
        for exchange in &declarations.exchanges {
            let arguments = field_table(&exchange.arguments);
            let request = exchange_request(exchange, &arguments);
            let outcome = self.call_all(&[request], "declaring an exchange")?;
            outcome.map_err(|(_, refusal)| refused_exchange(&exchange.name, refusal))?;
            self.created.exchanges.insert(exchange.name.clone());
        }
        for set in &declarations.queues {
            let names = set.names.iter().enumerate();
            let requests: Vec<_> = names
                .map(|(index, name)| declare_request(&set.spec, name, set.arguments(index)))
                .collect();
            let outcome = self.call_all_but(&requests, "declaring queues", is_borne)?;
            let done = outcome.as_ref().map_or_else(|(at, _)| *at, |()| set.names.len());
            self.created.queues.extend(set.names[..done].iter().cloned());
            outcome.map_err(|(at, refusal)| refused_queue(&set.names[at], refusal))?;
        }
        Ok(())
    }

    /// Declares all exchanges and queues, and binds them.
    pub fn create(&mut self, declarations: &Declarations) -> Result<(), TopologyError> {
        self.declare(declarations)?;
        self.bind(declarations)
    }

    /// Creates all exchanges and queues that the broker accepts now. It refuses a durable queue whose node is down; the
    /// queue reappears together with its node.
    pub(crate) fn create_again(
        &mut self,
        declarations: &Declarations,
    ) -> Result<(), TopologyError> {
        self.declare_but(declarations, is_home_down)?;
        self.bind_but(declarations, is_home_down)
    }

    /// Makes the bindings of the scenario.
    pub fn bind(&mut self, declarations: &Declarations) -> Result<(), TopologyError> {
        self.bind_but(declarations, none)
    }

    fn bind_but(
        &mut self,
        declarations: &Declarations,
        is_borne: fn(&Refusal) -> bool,
    ) -> Result<(), TopologyError> {
        for exchange in &declarations.exchanges {
            for binding in &exchange.bindings {
                let arguments = field_table(&binding.arguments);
                let request = Request::ExchangeBind {
                    destination: &exchange.name,
                    source: &binding.exchange,
                    routing_key: &binding.routing_key,
                    arguments: &arguments,
                };
                let outcome = self.call_all(&[request], "binding an exchange")?;
                outcome.map_err(|(_, refusal)| refused_exchange(&exchange.name, refusal))?;
            }
        }
        for set in &declarations.queues {
            for requests in set.bind_requests() {
                let outcome = self.call_all_but(&requests, "binding queues", is_borne)?;
                outcome.map_err(|(at, refusal)| refused_queue(&set.names[at], refusal))?;
            }
        }
        Ok(())
    }

    /// Number of channels that can be open at a time, for requests with a channel each.
    pub(super) fn window(&self) -> usize {
        let channel_max = usize::from(self.client.connection().limits().channel_max);
        WINDOW.min(channel_max.saturating_sub(1)).max(1)
    }

    /// Deletes everything, on a broker that belongs to the caller. RabbitMQ accepts the deletion of objects that do not
    /// exist.
    pub fn delete(&mut self, owned: &OwnedTopology) -> Result<(), TopologyError> {
        let queues: Vec<_> = owned
            .queues
            .iter()
            .map(|queue| Request::QueueDelete {
                queue: &queue.name,
                if_unused: false,
                if_empty: false,
            })
            .collect();
        let outcome = self.call_all(&queues, "removing queues")?;
        outcome.map_err(|(at, refusal)| refused_queue(&owned.queues[at].name, refusal))?;
        let exchanges: Vec<_> = owned
            .exchanges
            .iter()
            .map(|exchange| Request::ExchangeDelete { exchange: &exchange.name, if_unused: false })
            .collect();
        let outcome = self.call_all(&exchanges, "removing exchanges")?;
        outcome.map_err(|(at, refusal)| refused_exchange(&owned.exchanges[at].name, refusal))
    }

    /// Sends all requests in order. The inner error is the index of the refused request and the broker's refusal; the
    /// channel is open again by then.
    pub(super) fn call_all(
        &mut self,
        requests: &[Request<'_>],
        doing: &str,
    ) -> Result<Result<(), (usize, Refusal)>, TopologyError> {
        let mut done = 0;
        for window in requests.chunks(WINDOW) {
            for request in window {
                self.client.send(self.channel, request);
            }
            let (channel, last) = (self.channel, done + window.len());
            let outcome = self.client.wait(|event| match event {
                Event::Reply { channel: answered, .. } if answered == channel => {
                    done += 1;
                    (done == last).then_some(Ok(()))
                }
                Event::ChannelClosed { channel: closed, refusal: Some(refusal) }
                    if closed == channel =>
                {
                    Some(Err(ClientError::Refused(refusal)))
                }
                _ => None,
            });
            match outcome {
                Ok(()) => {}
                Err(ClientError::Refused(refusal)) => {
                    let channel = self.client.open_channel();
                    self.channel =
                        channel.map_err(|error| request_error(&self.uri, doing, error))?;
                    return Ok(Err((done, refusal)));
                }
                Err(error) => return Err(request_error(&self.uri, doing, error)),
            }
        }
        Ok(Ok(()))
    }

    /// Sends all requests like [`Self::call_all`], but skips each request whose refusal is tolerable.
    fn call_all_but(
        &mut self,
        requests: &[Request<'_>],
        doing: &str,
        is_borne: fn(&Refusal) -> bool,
    ) -> Result<Result<(), (usize, Refusal)>, TopologyError> {
        let mut done = 0;
        while let Err((at, refusal)) = self.call_all(&requests[done..], doing)? {
            if !is_borne(&refusal) {
                return Ok(Err((done + at, refusal)));
            }
            done += at + 1;
        }
        Ok(Ok(()))
    }

    /// Closes the connection. A missing answer of the broker does not matter.
    pub fn close(self) {
        self.client.close().ok();
    }
}

/// Tolerates no refusal.
fn none(_: &Refusal) -> bool {
    false
}

/// Returns whether the broker refuses because the node of the queue is down (`rabbit_amqqueue:absent/2`).
fn is_home_down(refusal: &Refusal) -> bool {
    refusal.is_not_found() && refusal.text.contains("is down or inaccessible")
}

/// Sends each request on a channel of its own, all at the same time.
pub(super) fn ask(
    client: &mut Client<Stream>,
    requests: &[Request<'_>],
) -> Result<Vec<Result<Reply, Refusal>>, ClientError> {
    let mut channels = Vec::with_capacity(requests.len());
    for request in requests {
        let channel = client.begin_channel()?;
        client.send(channel, request);
        channels.push(channel);
    }
    let position = |channel| channels.iter().position(|one| *one == channel);
    let mut answers: Vec<Option<Result<Reply, Refusal>>> = vec![None; requests.len()];
    let mut missing = requests.len();
    client.wait(|event| {
        let (channel, answer) = match event {
            Event::Reply { channel, reply } => (channel, Ok(reply)),
            Event::ChannelClosed { channel, refusal: Some(refusal) } => (channel, Err(refusal)),
            _ => return None,
        };
        if let Some(slot) = position(channel).map(|index| &mut answers[index]) {
            missing -= usize::from(slot.is_none());
            *slot = Some(answer);
        }
        (missing == 0).then_some(Ok(()))
    })?;
    let answers: Vec<_> = answers.into_iter().flatten().collect();
    let open = channels.iter().zip(&answers).filter(|(_, answer)| answer.is_ok());
    let mut closing = 0;
    for (channel, _) in open {
        client.end_channel(*channel);
        closing += 1;
    }
    if closing > 0 {
        client.wait(|event| {
            closing -= usize::from(matches!(event, Event::ChannelClosed { refusal: None, .. }));
            (closing == 0).then_some(Ok(()))
        })?;
    }
    Ok(answers)
}

/// Returns the names that do not exist.
fn missing(names: Vec<String>, there: &[bool]) -> Vec<String> {
    names.into_iter().zip(there).filter(|(_, there)| !**there).map(|(name, _)| name).collect()
}

pub(super) fn refused_queue(queue: &str, refusal: Refusal) -> TopologyError {
    TopologyError::QueueRefused { queue: queue.to_owned(), refusal: refusal.into() }
}

pub(super) fn refused_exchange(exchange: &str, refusal: Refusal) -> TopologyError {
    TopologyError::ExchangeRefused { exchange: exchange.to_owned(), refusal: refusal.into() }
}
