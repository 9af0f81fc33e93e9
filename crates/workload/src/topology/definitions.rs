//! A definitions file, as `rabbitmqctl export_definitions` writes it.

use core::net::SocketAddr;
use std::collections::BTreeMap;

use rabbitscope_runs::scenario::FieldValue;
use serde::Deserialize;

use super::{
    consumers::{
        ClientProtocol, Connection, Consumer, ConsumerPlace, KnownLink, StreamPublisher, canonical,
    },
    node::NodeFacts,
    objects::{
        Arguments, Binding, Destination, Exchange, Policy, Queue, Topology, is_marker,
        is_predeclared,
    },
};

/// A file that cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum DefinitionsError {
    /// The text is no JSON, or has another form.
    #[error("it is no export of definitions: {0}")]
    Form(String),
}

/// The parts that matter. All others, such as users and parameters, are skipped.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    exchanges: Vec<ExchangeRow>,
    #[serde(default)]
    queues: Vec<QueueRow>,
    #[serde(default)]
    bindings: Vec<BindingRow>,
    #[serde(default)]
    policies: Vec<PolicyRow>,
    /// Not in a file: connections and consumers of a running node.
    #[serde(default)]
    connections: Vec<ConnectionRow>,
    #[serde(default)]
    consumers: Vec<ConsumerRow>,
    /// Links of AMQP 1.0, and publishers of streams, of a running node.
    #[serde(default)]
    links: Vec<LinkRow>,
    #[serde(default)]
    publishers: Vec<PublisherRow>,
    /// Not in a file: a running node itself.
    #[serde(default)]
    node: Vec<NodeRow>,
    /// Version of the node that wrote a file.
    rabbit_version: Option<String>,
}

#[derive(Deserialize)]
struct NodeRow {
    version: String,
    otp: String,
    settings: BTreeMap<String, String>,
}

#[derive(Deserialize)]
struct ConnectionRow {
    /// The client's address and port.
    peer: String,
    vhost: String,
    product: String,
    /// The version of TLS, empty without.
    tls: String,
    #[serde(default)]
    control: bool,
}

#[derive(Deserialize)]
struct ExchangeRow {
    name: String,
    #[serde(default = "slash")]
    vhost: String,
    #[serde(rename = "type")]
    kind: String,
    durable: bool,
    auto_delete: bool,
    #[serde(default)]
    internal: bool,
    #[serde(default)]
    arguments: Arguments,
}

#[derive(Deserialize)]
struct QueueRow {
    name: String,
    #[serde(default = "slash")]
    vhost: String,
    durable: bool,
    auto_delete: bool,
    #[serde(default)]
    exclusive: bool,
    #[serde(default)]
    arguments: Arguments,
    /// The type, beside the arguments in later releases.
    #[serde(rename = "type")]
    kind: Option<String>,
    /// Of a running node.
    messages_ready: Option<u64>,
}

#[derive(Deserialize)]
struct BindingRow {
    source: String,
    #[serde(default = "slash")]
    vhost: String,
    destination: String,
    destination_type: String,
    routing_key: String,
    #[serde(default)]
    arguments: Arguments,
}

#[derive(Deserialize)]
struct PolicyRow {
    #[serde(default = "slash")]
    vhost: String,
    name: String,
    pattern: String,
    #[serde(rename = "apply-to", default = "all")]
    apply_to: String,
    definition: serde_json::Value,
    #[serde(default)]
    priority: i64,
}

#[derive(Deserialize)]
struct ConsumerRow {
    vhost: String,
    queue: String,
    consumer_tag: String,
    exclusive: bool,
    ack_required: bool,
    prefetch_count: u16,
    #[serde(default)]
    channel_prefetch_count: Option<u16>,
    channel: u16,
    /// The client's address and port.
    peer: String,
    /// `amqp-1.0` or `stream`; empty for other protocols.
    #[serde(default)]
    protocol: String,
    #[serde(default)]
    arguments: Arguments,
}

#[derive(Deserialize)]
struct LinkRow {
    vhost: String,
    /// The client's address and port.
    peer: String,
    channel: u16,
    handle: u32,
    address: String,
    reader: bool,
}

#[derive(Deserialize)]
struct PublisherRow {
    vhost: String,
    stream: String,
    number: u8,
    has_reference: bool,
    /// The client's address and port.
    peer: String,
}

fn slash() -> String {
    "/".to_owned()
}

fn all() -> String {
    "all".to_owned()
}

impl Topology {
    /// Reads exchanges, queues, bindings and policies of a definitions file.
    pub fn from_definitions(text: &str) -> Result<Self, DefinitionsError> {
        // An error of the parser may quote a value of the file, which may be a secret.
        let form = |error: serde_json::Error| {
            let (line, column) = (error.line(), error.column());
            DefinitionsError::Form(format!("line {line}, column {column}"))
        };
        let file: File = serde_json::from_str(text).map_err(form)?;
        let mut topology = Self::default();
        file.exchanges.into_iter().for_each(|row| topology.exchange(row));
        file.queues.into_iter().for_each(|row| topology.queue(row));
        file.bindings.into_iter().for_each(|row| topology.binding(row));
        file.policies.into_iter().for_each(|row| topology.policy(row));
        file.connections.into_iter().for_each(|row| topology.connection(row));
        file.consumers.into_iter().for_each(|row| topology.consumer(row));
        file.links.into_iter().for_each(|row| topology.link(row));
        file.publishers.into_iter().for_each(|row| topology.publisher(row));
        let running =
            file.node.first().map(|row| NodeFacts::new(&row.version, &row.otp, &row.settings));
        let writer = file.rabbit_version;
        let writer = writer.map(|version| NodeFacts::new(&version, "", &BTreeMap::new()));
        topology.node = running.or(writer);
        Ok(topology)
    }

    fn exchange(&mut self, row: ExchangeRow) {
        let ExchangeRow { name, vhost, kind, durable, auto_delete, internal, arguments } = row;
        if is_predeclared(&name) || is_marker(&name) {
            return;
        }
        let exchange = Exchange { kind, durable, auto_delete, internal, arguments };
        self.vhosts.entry(vhost).or_default().exchanges.insert(name, exchange);
    }

    fn queue(&mut self, row: QueueRow) {
        let QueueRow { name, vhost, durable, auto_delete, exclusive, mut arguments, .. } = row;
        if let Some(kind) = row.kind.filter(|kind| kind != "classic") {
            arguments.entry("x-queue-type".to_owned()).or_insert_with(|| FieldValue::Text(kind));
        }
        let server_named = name.starts_with("amq.gen-");
        let queue = Queue { durable, auto_delete, exclusive, server_named, arguments };
        let objects = self.vhosts.entry(vhost).or_default();
        objects.ready.extend(row.messages_ready.map(|ready| (name.clone(), ready)));
        objects.queues.insert(name, queue);
    }

    fn binding(&mut self, row: BindingRow) {
        let BindingRow { source, vhost, destination, destination_type, routing_key, arguments } =
            row;
        if source.is_empty() || is_marker(&source) || is_marker(&destination) {
            return;
        }
        let kind = match destination_type.as_str() {
            "exchange" => Destination::Exchange,
            _ => Destination::Queue,
        };
        let binding = Binding { source, destination, kind, routing_key, arguments };
        self.vhosts.entry(vhost).or_default().bind(binding);
    }

    fn connection(&mut self, row: ConnectionRow) {
        // Those within the broker have no address.
        let Ok(peer) = row.peer.parse() else { return };
        let ConnectionRow { vhost, product, tls, control: is_control, .. } = row;
        let connection = Connection { vhost, product, tls, is_control };
        self.connections.insert(canonical(peer), connection);
    }

    fn consumer(&mut self, row: ConsumerRow) {
        let Ok(peer) = row.peer.parse::<SocketAddr>() else { return };
        let priority = match row.arguments.get("x-priority") {
            Some(FieldValue::Integer(priority)) => Some(*priority),
            _ => None,
        };
        let place = ConsumerPlace::new(peer, row.channel, row.consumer_tag);
        let protocol = match row.protocol.as_str() {
            "amqp-1.0" => ClientProtocol::Amqp10,
            "stream" => ClientProtocol::Stream,
            _ => ClientProtocol::Amqp091,
        };
        let consumer = Consumer {
            protocol,
            vhost: row.vhost,
            queue: row.queue,
            exclusive: row.exclusive,
            no_ack: !row.ack_required,
            prefetch: row.prefetch_count,
            channel_prefetch: row.channel_prefetch_count,
            priority,
        };
        self.consumers.insert(place, consumer);
    }

    fn link(&mut self, row: LinkRow) {
        let Ok(peer) = row.peer.parse::<SocketAddr>() else { return };
        let LinkRow { vhost, address, .. } = row;
        let place = (canonical(peer), row.channel, row.handle, row.reader);
        self.links.insert(place, KnownLink { vhost, address });
    }

    fn publisher(&mut self, row: PublisherRow) {
        let Ok(peer) = row.peer.parse::<SocketAddr>() else { return };
        let PublisherRow { vhost, stream, number, has_reference, .. } = row;
        let publisher = StreamPublisher { vhost, stream, has_reference };
        self.publishers.insert((canonical(peer), number), publisher);
    }

    fn policy(&mut self, row: PolicyRow) {
        let PolicyRow { vhost, name, pattern, apply_to, definition, priority } = row;
        let policy = Policy { name, pattern, apply_to, definition, priority };
        self.vhosts.entry(vhost).or_default().policies.push(policy);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = r#"{"rabbit_version":"3.10.8",
      "users":[{"name":"guest","password_hash":"s3cret","tags":["administrator"]}],
      "vhosts":[{"name":"/"}],
      "parameters":[{"component":"shovel","name":"s","value":{"src-uri":"amqp://u:s3cret@h"}}],
      "policies":[{"vhost":"/","name":"p","pattern":"^q","apply-to":"queues","definition":{"max-length":10},"priority":1}],
      "queues":[{"name":"q","vhost":"/","durable":true,"auto_delete":false,"arguments":{"x-queue-type":"quorum","x-delivery-limit":3}}],
      "exchanges":[{"name":"e","vhost":"/","type":"topic","durable":true,"auto_delete":false,"internal":false,"arguments":{}},
                   {"name":"rabbitscope.0123456789ab.q0","vhost":"/","type":"direct","durable":true,"auto_delete":false,"internal":true,"arguments":{}}],
      "bindings":[{"source":"e","vhost":"/","destination":"q","destination_type":"queue","routing_key":"a.#","arguments":{}}]}"#;

    #[test]
    fn objects_are_read_and_secrets_are_not() {
        let topology = Topology::from_definitions(FILE).unwrap();
        let objects = &topology.vhosts["/"];
        assert_eq!(topology.objects(), [1, 1, 1]);
        assert_eq!(topology.node.as_ref().unwrap().title(), "RabbitMQ 3.10.8");
        assert_eq!(objects.queues["q"].arguments.len(), 2);
        assert_eq!(objects.exchanges["e"].kind, "topic");
        assert_eq!(objects.policies[0].definition["max-length"], 10);
        assert!(objects.queues_behind("e").contains("q"));
        assert!(!format!("{topology:?}").contains("s3cret"));
        let broken = FILE.replacen("\"durable\":true", "\"durable\":\"s3cret\"", 1);
        let error = Topology::from_definitions(&broken).unwrap_err().to_string();
        assert!(error.contains("line 6") && !error.contains("s3cret"), "{error}");
    }
}
