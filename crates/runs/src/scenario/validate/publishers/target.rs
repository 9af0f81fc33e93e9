//! Targets of publishers.

use super::{
    super::{
        super::{
            error::{Problem, allowed, refuse},
            model::{BrokerSpec, QueueSpec, RoutingKeys, has_placeholder},
            wire,
        },
        fields,
    },
    content,
};
use crate::scenario::validate::context::Context;

/// Exchanges that every broker has.
const PREDECLARED: [&str; 5] =
    ["amq.direct", "amq.fanout", "amq.topic", "amq.headers", "amq.match"];

pub(super) struct Target<'a> {
    pub(super) exchange: String,
    pub(super) routing_key: String,
    pub(super) keys: RoutingKeys,
    /// The queue with the default exchange, if the scenario declares it.
    pub(super) queue: Option<&'a QueueSpec>,
}

pub(super) fn target<'a>(
    wire: &wire::Publishers,
    context: &Context<'a>,
) -> Result<Target<'a>, Problem> {
    let either = "give either `queue`, or `exchange` with `routing-key`";
    match (&wire.queue, &wire.exchange) {
        (None, None) => refuse("queue", format!("is missing: {either}")),
        (Some(queue), exchange) => {
            let of_exchange = [
                ("routing-key", wire.routing_key.is_some()),
                ("routing-keys", wire.routing_keys.is_some()),
                ("random-routing-keys", wire.random_routing_keys.is_some()),
                ("from", wire.from.is_some()),
                ("to", wire.to.is_some()),
            ];
            if let Some((key, _)) = of_exchange.into_iter().find(|(_, given)| *given) {
                return refuse(key, either);
            }
            if let Some(exchange) = exchange {
                check_exchange(exchange, context)?;
            }
            let declared = fields::queue(queue, context)?;
            fields::has_known_name(declared, "publishers")?;
            Ok(Target {
                keys: if exchange.is_some() { RoutingKeys::QueueNames } else { RoutingKeys::Fixed },
                exchange: fields::short_string("exchange", exchange.clone().unwrap_or_default())?,
                routing_key: fields::short_string("queue", queue.clone())?,
                queue: declared,
            })
        }
        (None, Some(exchange)) => {
            check_exchange(exchange, context)?;
            let key = wire.routing_key.clone().unwrap_or_default();
            Ok(Target {
                keys: keys(wire)?,
                exchange: fields::short_string("exchange", exchange.clone())?,
                routing_key: fields::short_string("routing-key", key)?,
                queue: None,
            })
        }
    }
}

fn keys(wire: &wire::Publishers) -> Result<RoutingKeys, Problem> {
    let numbers = fields::numbers("routing-key", wire.routing_key.as_deref(), wire.from, wire.to)?;
    let one = "give one of `routing-key`, `routing-keys` and `random-routing-keys`";
    let mut listed = wire.routing_keys.iter().flatten();
    if listed.any(|key| has_placeholder(key)) {
        return refuse(
            "routing-keys",
            "`{}` is not replaced in a list: use `routing-key` with `from` and `to`",
        );
    }
    match (&wire.routing_keys, wire.random_routing_keys) {
        (None, None) => Ok(numbers.map_or(RoutingKeys::Fixed, RoutingKeys::Numbered)),
        (Some(_), _) if wire.routing_key.is_some() => refuse("routing-keys", one),
        (None, Some(_)) if wire.routing_key.is_some() => refuse("random-routing-keys", one),
        (Some(_), Some(_)) => refuse("random-routing-keys", one),
        (Some(keys), None) if keys.is_empty() => refuse("routing-keys", "has no key"),
        (Some(keys), None) => {
            content::short_strings("routing-keys", keys)?;
            Ok(RoutingKeys::Listed(keys.clone()))
        }
        (None, Some(count @ 1..=1_000_000)) => Ok(RoutingKeys::Random(count)),
        (None, Some(_)) => refuse("random-routing-keys", "must be from 1 to 1000000"),
    }
}

pub(in crate::scenario::validate) fn check_exchange(
    exchange: &str,
    context: &Context<'_>,
) -> Result<(), Problem> {
    if exchange.is_empty() {
        return refuse("exchange", "is the default exchange: give `queue` instead");
    }
    if let Some(spec) = context.exchanges.iter().find(|spec| spec.name == exchange) {
        if spec.internal {
            let reason = format!("`{exchange}` is internal: publishers cannot use it");
            return refuse("exchange", reason);
        }
        return Ok(());
    }
    let is_new_broker = matches!(context.broker, BrokerSpec::Throwaway(_));
    if is_new_broker && !PREDECLARED.contains(&exchange) {
        let declared = context.exchanges.iter().map(|spec| spec.name.as_str());
        let names: Vec<_> = declared.chain(PREDECLARED).collect();
        let reason = format!(
            "a new broker has no `{exchange}`: declare it with `[[exchanges]]`; there are {}",
            allowed(exchange, &names)
        );
        return refuse("exchange", reason);
    }
    Ok(())
}
