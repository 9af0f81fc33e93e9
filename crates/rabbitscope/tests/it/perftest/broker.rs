//! A virtual host for each program, its objects, and the messages that were published to it.

use std::{collections::BTreeSet, path::Path, sync::Mutex, time::Duration};

use base64::{Engine, engine::general_purpose::STANDARD};
use rabbitscope_amqp::{Request, Table, Value, blocking::Client};
use rabbitscope_broker::{Broker, BrokerError};
use rabbitscope_testing::{connect, load_module, take};

/// Queue of traced messages.
const OBSERVED: &str = "observer";

pub(super) fn prepare(broker: &Broker) {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/it/perftest/standing.erl");
    load_module(broker, &source);
}

/// Evaluates an expression, one at a time, because all processes of `erl_call` share a name.
fn eval(broker: &Broker, expression: &str) -> Result<String, BrokerError> {
    static ASKING: Mutex<()> = Mutex::new(());
    let _turn = ASKING.lock().unwrap_or_else(std::sync::PoisonError::into_inner);
    // On a busy machine, `erl_call` gives up before the node has answered.
    let mut answer = broker.eval(expression);
    for _ in 0..9 {
        if answer.is_ok() {
            break;
        }
        std::thread::sleep(Duration::from_millis(500));
        answer = broker.eval(expression);
    }
    answer
}

/// A virtual host of one program.
pub(super) struct Place<'a> {
    broker: &'a Broker,
    name: String,
}

impl<'a> Place<'a> {
    pub(super) fn new(broker: &'a Broker, name: String) -> Self {
        let place = Self { broker, name };
        let user = broker.login().0;
        let made = format!("standing:prepare(<<\"{}\">>, <<\"{user}\">>)", place.name);
        assert_eq!(eval(broker, &made).unwrap().trim(), "ok");
        let mut client = place.client();
        let arguments = Table(vec![("x-max-length".to_owned(), Value::Integer(50))]);
        let (passive, durable, exclusive, auto_delete) = (false, false, false, false);
        let arguments = &arguments;
        let declare = Request::QueueDeclare {
            queue: OBSERVED,
            passive,
            durable,
            exclusive,
            auto_delete,
            arguments,
        };
        client.call(1, &declare).unwrap();
        let bind = Request::QueueBind {
            queue: OBSERVED,
            exchange: "amq.rabbitmq.trace",
            routing_key: "publish.#",
            arguments: &Table::default(),
        };
        client.call(1, &bind).unwrap();
        client.close().unwrap();
        place
    }

    pub(super) fn uri(&self) -> String {
        self.broker.uri().replace("/%2f", &format!("/{}", self.name))
    }

    fn client(&self) -> Client {
        connect(&self.uri()).0
    }

    /// Returns sorted lines about the objects.
    pub(super) fn standing(&self) -> Vec<String> {
        let asked = format!("base64:encode(standing:of_vhost(<<\"{}\">>))", self.name);
        let answer = eval(self.broker, &asked).unwrap();
        let is_digit = |c: &char| c.is_ascii_alphanumeric() || "+/=".contains(*c);
        let joined: String = answer.chars().filter(is_digit).collect();
        let text = String::from_utf8(STANDARD.decode(joined).unwrap()).unwrap();
        text.lines().map(str::to_owned).collect()
    }

    /// Returns the properties of the last messages, except those that differ between messages.
    pub(super) fn messages(&self, keys: bool) -> BTreeSet<String> {
        let mut client = self.client();
        let mut described = BTreeSet::new();
        while let Some((properties, body)) = take(&mut client, 1, OBSERVED) {
            described.insert(describe(&properties.headers.unwrap(), &body, keys));
        }
        client.close().unwrap();
        described
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        // The broker ends anyway, and a failed test has its own message.
        let _ = eval(self.broker, &format!("standing:remove(<<\"{}\">>)", self.name));
    }
}

/// Describes a traced message: exchange, key, properties, and the constant part of its body.
fn describe(headers: &Table, body: &[u8], keys: bool) -> String {
    let value = |name: &str| headers.0.iter().find(|(key, _)| key == name).map(|(_, value)| value);
    let mut properties = match value("properties") {
        Some(Value::Table(Table(properties))) => properties.clone(),
        other => panic!("{other:?}"),
    };
    for (name, value) in &mut properties {
        if let (true, Value::Table(Table(headers))) = (name == "headers", value) {
            // Both programs put a time stamp in the headers if the body is not their own.
            headers
                .retain(|(name, _)| !["timestamp", "rabbitscope-stamp"].contains(&name.as_str()));
            headers.sort_by(|a, b| a.0.cmp(&b.0));
        }
    }
    properties
        .retain(|(name, value)| name != "headers" || *value != Value::Table(Table::default()));
    properties.sort_by(|a, b| a.0.cmp(&b.0));
    let exchange = value("exchange_name");
    let key = value("routing_keys").filter(|_| keys);
    let is_json =
        serde_json::from_slice::<serde_json::Value>(body).is_ok_and(|value| value.is_object());
    let content = if is_json {
        "json".to_owned()
    } else if body.iter().all(u8::is_ascii_graphic) {
        String::from_utf8_lossy(body).into_owned()
    } else {
        format!("{} bytes", body.len())
    };
    format!("{exchange:?} {key:?} {properties:?} {content}")
}
