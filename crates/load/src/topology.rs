//! Queues before and after a run: looked up, declared, removed.

use std::collections::BTreeMap;

use rabbitscope_amqp::{
    ConnectionError, Refusal, Request, Table, Uri, Value,
    blocking::{Client, ClientError},
};
use rabbitscope_data::scenario::{Binding, FieldValue, QueueSpec, QueueType, Scenario};

use crate::{
    LoadError,
    dial::{Dialer, Stream},
};

/// A connection for topology, with a channel that is reopened when the broker closes it.
#[derive(Debug)]
pub(crate) struct Topology {
    client: Client<Stream>,
    channel: u16,
    uri: Uri,
}

impl Topology {
    /// Connects. Heartbeats are off: this connection is idle while the load runs.
    pub(crate) fn connect(dialer: &Dialer) -> Result<Self, LoadError> {
        let answer = dialer.dial_idle("rabbitscope control", 0);
        let (mut client, uri) = answer.map_err(|failed| connecting(failed.uri, failed.error))?;
        let channel = client.open_channel().map_err(|error| connecting(uri, error))?;
        Ok(Self { client, channel, uri: uri.clone() })
    }

    /// Where it is connected to.
    pub(crate) fn uri(&self) -> &Uri {
        &self.uri
    }

    /// What the broker says of itself.
    pub(crate) fn server_properties(&self) -> &Table {
        self.client.connection().server_properties()
    }

    /// Is there such a queue?
    pub(crate) fn has_queue(&mut self, queue: &str) -> Result<bool, LoadError> {
        let none = Table::default();
        let passive = Request::QueueDeclare {
            queue,
            passive: true,
            durable: false,
            exclusive: false,
            auto_delete: false,
            arguments: &none,
        };
        self.exists(&passive, queue)
    }

    /// Is there such an exchange?
    pub(crate) fn has_exchange(&mut self, exchange: &str) -> Result<bool, LoadError> {
        let none = Table::default();
        let passive = Request::ExchangeDeclare {
            exchange,
            kind: "direct",
            passive: true,
            durable: false,
            auto_delete: false,
            internal: false,
            arguments: &none,
        };
        self.exists(&passive, exchange)
    }

    fn exists(&mut self, passive: &Request<'_>, name: &str) -> Result<bool, LoadError> {
        match self.call(passive, &format!("looking up `{name}`"))? {
            Ok(()) => Ok(true),
            Err(refusal) if refusal.is_not_found() => Ok(false),
            Err(refusal) => Err(LoadError::QueueRefused { queue: name.into(), text: refusal.text }),
        }
    }

    /// Declares a queue, or checks that it is as the scenario says.
    pub(crate) fn declare(&mut self, queue: &QueueSpec) -> Result<(), LoadError> {
        let arguments = table(queue);
        let request = declare_request(queue, &arguments);
        let outcome = self.call(&request, &format!("declaring queue `{}`", queue.name))?;
        outcome.map_err(|refusal| LoadError::QueueRefused {
            queue: queue.name.clone(),
            text: refusal.text,
        })
    }

    /// Declares a queue that is not there yet, and binds it.
    pub(crate) fn create(&mut self, queue: &QueueSpec) -> Result<(), LoadError> {
        self.declare(queue)?;
        for binding in &queue.bindings {
            let doing = format!("binding queue `{}` to `{}`", queue.name, binding.exchange);
            let outcome = self.call(&bind_request(queue, binding, &Table::default()), &doing)?;
            outcome.map_err(|refusal| LoadError::QueueRefused {
                queue: queue.name.clone(),
                text: refusal.text,
            })?;
        }
        Ok(())
    }

    /// Deletes a queue. RabbitMQ says yes when there is none, so this asks first; false: none.
    pub(crate) fn delete(&mut self, queue: &str) -> Result<bool, LoadError> {
        if !self.has_queue(queue)? {
            return Ok(false);
        }
        let request = Request::QueueDelete { queue, if_unused: false, if_empty: false };
        let outcome = self.call(&request, &format!("removing queue `{queue}`"))?;
        outcome.map_err(|refusal| LoadError::QueueRefused {
            queue: queue.to_owned(),
            text: refusal.text,
        })?;
        Ok(true)
    }

    /// The inner error is the broker's refusal, after which the channel is open again.
    fn call(
        &mut self,
        request: &Request<'_>,
        doing: &str,
    ) -> Result<Result<(), Refusal>, LoadError> {
        match self.client.call(self.channel, request) {
            Ok(_) => Ok(Ok(())),
            Err(ClientError::Channel(refusal)) => {
                let channel = self.client.open_channel();
                self.channel = channel.map_err(|error| broken(&self.uri, doing, error))?;
                Ok(Err(refusal))
            }
            Err(error) => Err(broken(&self.uri, doing, error)),
        }
    }

    /// Says goodbye; a broker that does not answer is no matter.
    pub(crate) fn close(self) {
        self.client.close().ok();
    }
}

/// Everything that a scenario needs on the broker.
pub(crate) struct Needs<'a> {
    /// To be created.
    pub(crate) missing: Vec<&'a QueueSpec>,
    /// There already, to be checked.
    pub(crate) present: Vec<&'a QueueSpec>,
}

/// Looks up every queue and exchange that the scenario names.
pub(crate) fn look_up<'a>(
    scenario: &'a Scenario,
    topology: &mut Topology,
) -> Result<Needs<'a>, LoadError> {
    let mut needs = Needs { missing: Vec::new(), present: Vec::new() };
    for queue in &scenario.queues {
        let is_present = topology.has_queue(&queue.name)?;
        if is_present { &mut needs.present } else { &mut needs.missing }.push(queue);
    }
    let declared = |name: &str| scenario.queues.iter().any(|queue| queue.name == name);
    let to_queues = scenario.publishers.iter().filter(|group| group.exchange.is_empty());
    let queues = to_queues
        .map(|group| &group.routing_key)
        .chain(scenario.consumers.iter().map(|group| &group.queue));
    let queues = queues.map(String::as_str).chain(of_groups(scenario));
    for queue in queues.filter(|queue| !declared(queue)) {
        if !topology.has_queue(queue)? {
            return Err(LoadError::QueueMissing { queue: queue.to_owned() });
        }
    }
    for group in scenario.publishers.iter().filter(|group| !group.exchange.is_empty()) {
        if !topology.has_exchange(&group.exchange)? {
            return Err(LoadError::ExchangeMissing { exchange: group.exchange.clone() });
        }
    }
    Ok(needs)
}

/// Queues of callers, responders and churn.
fn of_groups(scenario: &Scenario) -> impl Iterator<Item = &str> {
    let requests = scenario.requests.iter().map(|group| group.queue.as_str());
    let responders = scenario.responders.iter().map(|group| group.queue.as_str());
    let churn = scenario.churn.iter().filter_map(|group| group.subject.queue());
    requests.chain(responders).chain(churn)
}

pub(crate) fn declare_request<'a>(queue: &'a QueueSpec, arguments: &'a Table) -> Request<'a> {
    Request::QueueDeclare {
        queue: &queue.name,
        passive: false,
        durable: queue.durable,
        exclusive: queue.exclusive,
        auto_delete: queue.auto_delete,
        arguments,
    }
}

pub(crate) fn bind_request<'a>(
    queue: &'a QueueSpec,
    binding: &'a Binding,
    no_arguments: &'a Table,
) -> Request<'a> {
    Request::QueueBind {
        queue: &queue.name,
        exchange: &binding.exchange,
        routing_key: &binding.routing_key,
        arguments: no_arguments,
    }
}

/// Arguments of `queue.declare`. A classic queue needs none to say so.
pub(crate) fn table(queue: &QueueSpec) -> Table {
    typed(queue.queue_type, &queue.arguments)
}

/// Arguments of a queue of this type.
pub(crate) fn typed(queue_type: QueueType, arguments: &BTreeMap<String, FieldValue>) -> Table {
    let mut table = fields(arguments);
    if queue_type != QueueType::Classic {
        let kind = Value::Text(queue_type.as_str().to_owned());
        table.0.push(("x-queue-type".to_owned(), kind));
    }
    table
}

/// A scenario's table as AMQP writes it.
pub(crate) fn fields(fields: &BTreeMap<String, FieldValue>) -> Table {
    Table(fields.iter().map(|(name, field)| (name.clone(), value(field))).collect())
}

fn value(field: &FieldValue) -> Value {
    match field {
        FieldValue::Bool(flag) => Value::Bool(*flag),
        FieldValue::Integer(number) => Value::Integer(*number),
        FieldValue::Float(number) => Value::Float(*number),
        FieldValue::Text(text) => Value::Text(text.clone()),
        FieldValue::Array(items) => Value::Array(items.iter().map(value).collect()),
        FieldValue::Table(table) => Value::Table(fields(table)),
    }
}

/// An error before the connection was open.
pub(crate) fn connecting(uri: &Uri, error: ClientError) -> LoadError {
    let address = uri.address();
    match error {
        ClientError::Connection(ConnectionError::AuthenticationRefused(refusal)) => {
            LoadError::AuthenticationRefused { address, user: uri.user.clone(), text: refusal.text }
        }
        ClientError::Connection(ConnectionError::VhostRefused(refusal)) => {
            LoadError::VhostRefused { address, vhost: uri.vhost.clone(), text: refusal.text }
        }
        ClientError::Connection(ConnectionError::ClosedByBroker(refusal)) => {
            LoadError::Refused { address, doing: "the connection".to_owned(), text: refusal.text }
        }
        ClientError::Connect { source, .. } => {
            LoadError::Unreachable { address, reason: source.to_string() }
        }
        error => LoadError::Unreachable { address, reason: error.to_string() },
    }
}

/// An error on a connection that was open.
pub(crate) fn broken(uri: &Uri, doing: &str, error: ClientError) -> LoadError {
    let (address, doing) = (uri.address(), doing.to_owned());
    match error {
        ClientError::Channel(refusal)
        | ClientError::Connection(ConnectionError::ClosedByBroker(refusal)) => {
            LoadError::Refused { address, doing, text: refusal.text }
        }
        error => LoadError::Broken { address, doing, reason: error.to_string() },
    }
}
