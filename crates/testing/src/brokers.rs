//! Brokers of tests, and what runs on them.

use std::{path::Path, sync::OnceLock, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use rabbitscope_broker::Broker;
use rabbitscope_erlang::{ConnectOptions, Connection, CookieSource, NodeName, Port};
use rabbitscope_runs::scenario::ThrowawayBroker;

/// Returns a broker that the program did not start, as far as it can tell. All tests of this process share it, and it
/// ends with the process.
pub fn existing_broker() -> &'static Broker {
    static BROKER: OnceLock<Broker> = OnceLock::new();
    BROKER.get_or_init(|| broker_with(|_| ()))
}

/// Starts a broker with changes of the specification.
pub fn broker_with(change: impl FnOnce(&mut ThrowawayBroker)) -> Broker {
    let mut spec = ThrowawayBroker::default();
    change(&mut spec);
    Broker::start_with_own_log(&spec).unwrap()
}

/// Returns the broker's login in the form of basic authentication.
pub fn basic_authentication(broker: &Broker) -> String {
    let (user, password) = broker.login();
    STANDARD.encode(format!("{user}:{password}"))
}

/// Returns the port of a protocol, such as `mqtt`.
pub fn port_of(broker: &Broker, protocol: &str) -> u16 {
    let found = broker.listeners.iter().find(|listener| listener.protocol == protocol);
    found.unwrap_or_else(|| panic!("{protocol} is not in {:?}", broker.listeners)).port
}

/// Returns the options of commands that look inside the broker.
pub fn node_options(broker: &Broker) -> String {
    let (home, epmd) = (broker.distribution().0, broker.port_mapper());
    let cookie = home.join(".erlang.cookie");
    format!("--node {} --cookie-file {} --epmd-port {epmd}", broker.node_name(), cookie.display())
}

/// Returns the options of a connection to the broker's node.
pub fn connection_to(broker: &Broker) -> ConnectOptions {
    ConnectOptions {
        cookie: CookieSource::File(broker.distribution().0.join(".erlang.cookie")),
        port: Port::Mapped(broker.port_mapper()),
        ..ConnectOptions::new(NodeName::parse(&broker.node_name()).unwrap())
    }
}

/// Evaluates an expression on the node over a connection of its own, and returns the term as text.
pub fn evaluate(broker: &Broker, expression: &str) -> String {
    let connection = Connection::open(&connection_to(broker)).unwrap();
    let value = connection.evaluate(&format!("{expression}."), &[], Duration::from_secs(30));
    value.unwrap().to_string()
}

/// Evaluates Erlang that ends with `ok`.
#[track_caller]
pub fn plant(broker: &Broker, expression: &str) {
    assert_eq!(broker.eval(expression).unwrap(), "ok", "{expression}");
}

/// Compiles an Erlang module on the node, and loads it in place of the existing one.
pub fn load_module(broker: &Broker, source: &Path) {
    let path = source.display();
    let loaded = broker.eval(&format!(
        "{{ok, M, Code}} = compile:file(\"{path}\", [binary]), code:purge(M), \
         code:load_binary(M, \"{path}\", Code)."
    ));
    assert!(loaded.unwrap().contains("module"));
}

/// Returns the names of the queues, as Erlang prints them.
pub fn queues_on(broker: &Broker) -> String {
    broker.eval("[element(4, Name) || Name <- rabbit_amqqueue:list_names()]").unwrap()
}

/// Returns the names of the exchanges, as Erlang prints them.
pub fn exchanges_on(broker: &Broker) -> String {
    broker.eval("[element(4, Name) || Name <- rabbit_exchange:list_names()]").unwrap()
}

/// Returns the number of ready messages in a queue, as Erlang prints it.
pub fn depth(broker: &Broker, queue: &str) -> String {
    let depth = "proplists:get_value(messages_ready, rabbit_amqqueue:info(Q, [messages_ready]))";
    with_queue(broker, queue, depth)
}

/// Declares a durable queue of the type classic, as an application would.
pub fn declare_queue(broker: &Broker, queue: &str) {
    plant(
        broker,
        &format!(
            "{{new, _}} = rabbit_amqqueue:declare(rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>), \
             true, false, [], none, <<\"app\">>), ok"
        ),
    );
}

/// Deletes a queue, as a person would.
pub fn delete_queue(broker: &Broker, queue: &str) {
    with_queue(broker, queue, "rabbit_amqqueue:delete(Q, false, false, <<\"somebody\">>)");
}

/// Removes the messages of a queue, and returns their number.
pub fn purge_queue(broker: &Broker, queue: &str) -> u64 {
    let purged = with_queue(broker, queue, "{ok, N} = rabbit_amqqueue:purge(Q), N");
    purged.trim().parse().unwrap()
}

/// Evaluates an expression of the queue `Q`.
fn with_queue(broker: &Broker, queue: &str, expression: &str) -> String {
    let name = format!("rabbit_misc:r(<<\"/\">>, queue, <<\"{queue}\">>)");
    broker.eval(&format!("{{ok, Q}} = rabbit_amqqueue:lookup({name}), {expression}")).unwrap()
}

/// Closes all connections of clients.
pub fn close_connections(broker: &Broker) {
    let close = "[rabbit_networking:close_connection(P, \"by the test\") || P <- rabbit_networking:connections()]";
    broker.eval(close).unwrap();
}

/// Adds a user who may do nothing.
pub fn add_user(broker: &Broker, user: &str, password: &str) {
    let add = "rabbit_auth_backend_internal:add_user";
    broker.eval(&format!("{add}(<<\"{user}\">>, <<\"{password}\">>, <<\"test\">>)")).unwrap();
}

/// Permits a user to configure, write and read what has these names.
pub fn permit(broker: &Broker, user: &str, names: [&str; 3]) {
    let names = names.map(|name| format!("<<\"{name}\">>")).join(", ");
    let set = "rabbit_auth_backend_internal:set_permissions";
    broker.eval(&format!("{set}(<<\"{user}\">>, <<\"/\">>, {names}, <<\"test\">>)")).unwrap();
}
