//! AMQP requests for the exchanges, queues and bindings of a scenario, and the reply codes that matter.

use std::collections::BTreeMap;

use rabbitscope_amqp::{Request, Table, Value};
use rabbitscope_runs::scenario::{ExchangeSpec, FieldValue, QueueSpec, QueueType};

pub(super) fn passive_queue<'a>(queue: &'a str, none: &'a Table) -> Request<'a> {
    Request::QueueDeclare {
        queue,
        passive: true,
        durable: false,
        exclusive: false,
        auto_delete: false,
        arguments: none,
    }
}

pub(super) fn passive_exchange<'a>(exchange: &'a str, none: &'a Table) -> Request<'a> {
    Request::ExchangeDeclare {
        exchange,
        kind: "direct",
        passive: true,
        durable: false,
        auto_delete: false,
        internal: false,
        arguments: none,
    }
}

pub(super) fn exchange_request<'a>(
    exchange: &'a ExchangeSpec,
    arguments: &'a Table,
) -> Request<'a> {
    Request::ExchangeDeclare {
        exchange: &exchange.name,
        kind: &exchange.kind,
        passive: false,
        durable: exchange.durable,
        auto_delete: exchange.auto_delete,
        internal: exchange.internal,
        arguments,
    }
}

/// Declares the queue `name`, which is one of those that `queue` stands for.
pub fn declare_request<'a>(queue: &QueueSpec, name: &'a str, arguments: &'a Table) -> Request<'a> {
    Request::QueueDeclare {
        queue: name,
        passive: false,
        durable: queue.durable,
        exclusive: queue.exclusive,
        auto_delete: queue.auto_delete,
        arguments,
    }
}

pub(crate) fn bind_request<'a>(
    queue: &'a str,
    exchange: &'a str,
    routing_key: &'a str,
    arguments: &'a Table,
) -> Request<'a> {
    Request::QueueBind { queue, exchange, routing_key, arguments }
}

/// Returns the arguments of `queue.declare`. A classic queue does not need its type as an argument.
pub(crate) fn queue_arguments(queue: &QueueSpec) -> Table {
    typed_queue_arguments(queue.queue_type, &queue.arguments)
}

/// Returns the arguments of a queue of this type.
pub fn typed_queue_arguments(
    queue_type: QueueType,
    arguments: &BTreeMap<String, FieldValue>,
) -> Table {
    let mut table = field_table(arguments);
    if queue_type != QueueType::Classic {
        let kind = Value::Text(queue_type.as_str().to_owned());
        table.0.push(("x-queue-type".to_owned(), kind));
    }
    table
}

/// Converts a scenario's table into an AMQP field table.
pub fn field_table(fields: &BTreeMap<String, FieldValue>) -> Table {
    Table(fields.iter().map(|(name, field)| (name.clone(), value(field))).collect())
}

fn value(field: &FieldValue) -> Value {
    match field {
        FieldValue::Bool(flag) => Value::Bool(*flag),
        FieldValue::Integer(number) => Value::Integer(*number),
        FieldValue::Float(number) => Value::Float(*number),
        FieldValue::Text(text) => Value::Text(text.clone()),
        FieldValue::Array(items) => Value::Array(items.iter().map(value).collect()),
        FieldValue::Time(time) => Value::Timestamp(time.seconds),
        FieldValue::Table(table) => Value::Table(field_table(table)),
    }
}

/// Reply codes (AMQP 0-9-1, 1.2).
pub(super) const RESOURCE_LOCKED: u16 = 405;

pub(super) const PRECONDITION_FAILED: u16 = 406;
