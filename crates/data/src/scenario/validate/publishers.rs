//! `[[publishers]]`.

use super::{
    super::{
        error::{Problem, allowed, refuse},
        model::{BrokerSpec, PublisherGroup},
        wire,
    },
    Context, fields,
};

/// Exchanges that every broker has.
const PREDECLARED: [&str; 5] =
    ["amq.direct", "amq.fanout", "amq.topic", "amq.headers", "amq.match"];

pub(super) fn group(
    index: usize,
    wire: wire::Publishers,
    context: &Context<'_>,
) -> Result<PublisherGroup, Problem> {
    let spread = fields::spread(wire.count, wire.connections, wire.channels)?;
    let size_bytes = fields::size("size", wire.size.as_deref().unwrap_or("12B"))?;
    let confirm_window = fields::at_least_one("confirm-window", wire.confirm_window)?;
    if confirm_window.is_some_and(|window| window > 10_000_000) {
        return refuse("confirm-window", "must be at most 10000000");
    }
    let rate = rate(wire.rate)?;
    let messages = fields::at_least_one("messages", wire.messages)?;
    let (exchange, routing_key) = target(wire.queue, wire.exchange, wire.routing_key, context)?;
    Ok(PublisherGroup {
        name: wire.name.unwrap_or_else(|| format!("publishers-{index}")),
        count: spread.count,
        connections: spread.connections,
        channels: spread.channels,
        exchange,
        routing_key,
        size_bytes,
        persistent: wire.persistent.unwrap_or(false),
        confirm_window,
        mandatory: wire.mandatory.unwrap_or(false),
        rate,
        messages,
    })
}

fn rate(rate: Option<f64>) -> Result<Option<f64>, Problem> {
    if rate.is_some_and(|rate| !(0.001..=10_000_000.0).contains(&rate)) {
        let reason = "must be from 0.001 to 10000000 messages a second for each publisher; leave \
                      it out for as fast as it goes";
        return refuse("rate", reason);
    }
    Ok(rate)
}

/// Exchange and routing key.
fn target(
    queue: Option<String>,
    exchange: Option<String>,
    routing_key: Option<String>,
    context: &Context<'_>,
) -> Result<(String, String), Problem> {
    let either = "give either `queue`, or `exchange` with `routing-key`";
    match (queue, exchange, routing_key) {
        (Some(_), Some(_), _) => refuse("exchange", either),
        (Some(_), None, Some(_)) => refuse("routing-key", either),
        (None, None, _) => refuse("queue", format!("is missing: {either}")),
        (Some(queue), None, None) => {
            fields::queue(&queue, context)?;
            Ok((String::new(), fields::short_string("queue", queue)?))
        }
        (None, Some(exchange), key) => {
            check_exchange(&exchange, context)?;
            let key = fields::short_string("routing-key", key.unwrap_or_default())?;
            Ok((fields::short_string("exchange", exchange)?, key))
        }
    }
}

pub(super) fn check_exchange(exchange: &str, context: &Context<'_>) -> Result<(), Problem> {
    if exchange.is_empty() {
        return refuse("exchange", "is the default exchange: give `queue` instead");
    }
    let is_new_broker = matches!(context.broker, BrokerSpec::Throwaway(_));
    if is_new_broker && !PREDECLARED.contains(&exchange) {
        let names = allowed(exchange, &PREDECLARED);
        return refuse("exchange", format!("a new broker has no `{exchange}`; it has {names}"));
    }
    Ok(())
}
