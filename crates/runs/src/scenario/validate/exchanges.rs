//! `[[exchanges]]`, and bindings of exchanges and queues.

use super::{
    super::{
        error::{Problem, allowed, refuse},
        model::{Binding, ExchangeSpec, has_placeholder},
        wire,
    },
    fields,
};
use crate::scenario::validate::context::each;

const TYPES: [&str; 4] = ["direct", "fanout", "topic", "headers"];

pub(super) fn exchange(wire: wire::Exchange) -> Result<ExchangeSpec, Problem> {
    if wire.name.is_empty() || wire.name.len() > 255 {
        return refuse("name", "must have 1 to 255 bytes");
    }
    let predeclared = wire.predeclared.unwrap_or(false);
    if wire.name.starts_with("amq.") && !predeclared {
        let reason = "must not start with `amq.`, which RabbitMQ reserves: its own \
                      exchanges need no declaration";
        return refuse("name", reason);
    }
    let kind = wire.kind.unwrap_or_else(|| "direct".to_owned());
    if !TYPES.contains(&kind.as_str()) && !kind.starts_with("x-") {
        let reason = format!("must be one of {}, or begin with `x-`", allowed(&kind, &TYPES));
        return refuse("type", reason);
    }
    let exchange = ExchangeSpec {
        name: wire.name,
        kind,
        durable: wire.durable.unwrap_or(true),
        auto_delete: wire.auto_delete.unwrap_or(false),
        internal: wire.internal.unwrap_or(false),
        predeclared,
        if_missing: wire.if_missing.unwrap_or(false),
        arguments: wire.arguments,
        bindings: each("bindings", wire.bindings, |_, wire| binding(wire))?,
        keep: wire.keep.unwrap_or(false),
    };
    no_placeholders(&exchange)?;
    if exchange.bindings.iter().any(|binding| binding.exchange == exchange.name) {
        return refuse("bindings", "an exchange that is bound to itself routes in a circle");
    }
    if predeclared && exchange.if_missing {
        return refuse("if-missing", fields::PREDECLARED_OR_IF_MISSING);
    }
    if predeclared && exchange.keep {
        return refuse("keep", "a predeclared exchange is never removed: leave this out");
    }
    Ok(exchange)
}

/// Refuses placeholders in an exchange, which stands for one and has no number to replace them.
fn no_placeholders(exchange: &ExchangeSpec) -> Result<(), Problem> {
    let reason = "an exchange has no numbers; give an entry for each";
    if has_placeholder(&exchange.name) {
        return refuse("name", format!("`{{}}` is not replaced here: {reason}"));
    }
    fields::no_placeholder("arguments", &exchange.arguments, reason)?;
    for (index, binding) in exchange.bindings.iter().enumerate() {
        let texts = [("exchange", &binding.exchange), ("routing-key", &binding.routing_key)];
        let found = texts.into_iter().find(|(_, text)| has_placeholder(text));
        let checked = match found {
            Some((key, _)) => refuse(key, format!("`{{}}` is not replaced here: {reason}")),
            None => fields::no_placeholder("arguments", &binding.arguments, reason),
        };
        checked.map_err(|problem| problem.under(index.to_string()).under("bindings"))?;
    }
    Ok(())
}

pub(super) fn binding(wire: wire::Binding) -> Result<Binding, Problem> {
    if wire.exchange.is_empty() {
        let reason = "must be named: every queue is bound to the default exchange by its name, \
                      and nothing else can be";
        return refuse("exchange", reason);
    }
    let routing_key = wire.routing_key.unwrap_or_default();
    Ok(Binding {
        exchange: fields::short_string("exchange", wire.exchange)?,
        routing_key: fields::short_string("routing-key", routing_key)?,
        arguments: wire.arguments,
    })
}
