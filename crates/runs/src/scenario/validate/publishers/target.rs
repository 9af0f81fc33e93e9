//! Targets of publishers.

use super::{
    super::{
        super::{
            error::{Problem, allowed, refuse},
            model::{
                BrokerSpec, MemberQueues, PublisherGroup, QueueSpec, RoutingKeys, has_placeholder,
            },
        },
        fields,
    },
    content,
};
use crate::scenario::validate::context::Context;

/// Exchanges that every broker has.
const PREDECLARED: [&str; 5] =
    ["amq.direct", "amq.fanout", "amq.topic", "amq.headers", "amq.match"];

/// Checks the target. Returns the queue with the default exchange, if the scenario declares it.
pub(super) fn target<'a>(
    group: &mut PublisherGroup,
    context: &Context<'a>,
) -> Result<Option<&'a QueueSpec>, Problem> {
    let either = "give either `queue`, or `exchange` with `routing-key`";
    if let Some(exchange) = &group.exchange {
        fields::short_string("exchange", exchange)?;
    }
    match (&group.queue, &group.exchange) {
        (None, None) => refuse("queue", format!("is missing: {either}")),
        (Some(queue), exchange) => {
            let of_exchange = [
                ("routing-key", group.routing_key.is_some()),
                ("routing-keys", group.routing_keys.is_some()),
                ("random-routing-keys", group.random_routing_keys.is_some()),
                ("from", group.from.is_some()),
                ("to", group.to.is_some()),
            ];
            if let Some((key, _)) = of_exchange.into_iter().find(|(_, given)| *given) {
                return refuse(key, either);
            }
            if let Some(exchange) = exchange {
                check_exchange(exchange, context)?;
            }
            let declared = fields::queue(queue, context)?;
            fields::has_known_name(declared, "publishers")?;
            fields::short_string("queue", queue)?;
            Ok(declared)
        }
        (None, Some(exchange)) => {
            check_exchange(exchange, context)?;
            keys(group)?;
            fields::short_string("routing-key", group.routing_key())?;
            Ok(None)
        }
    }
}

fn keys(group: &mut PublisherGroup) -> Result<(), Problem> {
    let key = group.routing_key.as_deref();
    fields::numbers("routing-key", key, &mut group.from, group.to)?;
    let one = "give one of `routing-key`, `routing-keys` and `random-routing-keys`";
    let mut listed = group.routing_keys.iter().flatten();
    if listed.any(|key| has_placeholder(key)) {
        return refuse(
            "routing-keys",
            "`{}` is not replaced in a list: use `routing-key` with `from` and `to`",
        );
    }
    match (&group.routing_keys, group.random_routing_keys) {
        (None, None) => {
            // The resolved form names the key even if it is empty.
            group.routing_key.get_or_insert_default();
            Ok(())
        }
        (Some(_), _) if key.is_some() => refuse("routing-keys", one),
        (None, Some(_)) if key.is_some() => refuse("random-routing-keys", one),
        (Some(_), Some(_)) => refuse("random-routing-keys", one),
        (Some(keys), None) if keys.is_empty() => refuse("routing-keys", "has no key"),
        (Some(keys), None) => content::short_strings("routing-keys", keys),
        (None, Some(1..=1_000_000)) => Ok(()),
        (None, Some(_)) => refuse("random-routing-keys", "must be from 1 to 1000000"),
    }
}

/// Checks shares of queues or keys. All members must use all of them: otherwise shares would hold for none.
pub(super) fn key_shares(group: &PublisherGroup, queue: Option<&QueueSpec>) -> Result<(), Problem> {
    let shares = group.key_shares.as_deref().unwrap_or_default();
    let (key, given) = match group.key_exponent {
        None if group.key_shares.is_none() => return Ok(()),
        None => ("key-shares", shares.len()),
        Some(exponent) if !(0.0..=10.0).contains(&exponent) => {
            return refuse("key-exponent", "must be from 0 to 10");
        }
        Some(_) => ("key-exponent", shares.len()),
    };
    if group.key_shares.is_some() {
        fields::shares("key-shares", shares.iter().copied())?;
    }
    let count = match group.keys() {
        RoutingKeys::Fixed => 1,
        RoutingKeys::QueueNames => {
            let set = queue.filter(|queue| queue.name == group.routing_key());
            set.map_or(1, |queue| queue.queue_names().len())
        }
        RoutingKeys::Numbered(range) => range.count(),
        RoutingKeys::Listed(keys) => keys.len(),
        RoutingKeys::Random(count) => count as usize,
    };
    if count < 2 {
        return refuse(key, "needs several queues or routing keys");
    }
    if given > count {
        return refuse("key-shares", format!("has {given} shares for {count} queues or keys"));
    }
    let divides = !matches!(group.keys(), RoutingKeys::Listed(_) | RoutingKeys::Random(_));
    if divides && group.count > 1 && group.member_queues != MemberQueues::All {
        let reason =
            "needs `member-queues = \"all\"`: these publishers divide the keys among themselves";
        return refuse(key, reason);
    }
    if group.is_packed() {
        return refuse(key, "cannot be combined with `items-per-message` and `compression`");
    }
    Ok(())
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
