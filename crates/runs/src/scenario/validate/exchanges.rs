//! `[[exchanges]]`, and bindings of exchanges and queues.

use super::{
    super::{
        error::{Problem, allowed, refuse},
        model::{Binding, ExchangeSpec, has_placeholder},
    },
    fields,
};
use crate::scenario::validate::context::check_each;

const TYPES: [&str; 4] = ["direct", "fanout", "topic", "headers"];

pub(super) fn exchange(exchange: &mut ExchangeSpec) -> Result<(), Problem> {
    if exchange.name.is_empty() || exchange.name.len() > 255 {
        return refuse("name", "must have 1 to 255 bytes");
    }
    if exchange.name.starts_with("amq.") && !exchange.predeclared {
        let reason = "must not start with `amq.`, which RabbitMQ reserves: its own \
                      exchanges need no declaration";
        return refuse("name", reason);
    }
    let kind = exchange.kind.as_str();
    if !TYPES.contains(&kind) && !kind.starts_with("x-") {
        let reason = format!("must be one of {}, or begin with `x-`", allowed(kind, &TYPES));
        return refuse("type", reason);
    }
    check_each("bindings", &mut exchange.bindings, |_, bound| binding(bound))?;
    no_placeholders(exchange)?;
    if exchange.bindings.iter().any(|binding| binding.exchange == exchange.name) {
        return refuse("bindings", "an exchange that is bound to itself routes in a circle");
    }
    if exchange.predeclared && exchange.if_missing {
        return refuse("if-missing", fields::PREDECLARED_OR_IF_MISSING);
    }
    if exchange.predeclared && exchange.keep {
        return refuse("keep", "a predeclared exchange is never removed: leave this out");
    }
    Ok(())
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

pub(super) fn binding(binding: &Binding) -> Result<(), Problem> {
    if binding.exchange.is_empty() {
        let reason = "must be named: every queue is bound to the default exchange by its name, \
                      and nothing else can be";
        return refuse("exchange", reason);
    }
    fields::short_string("exchange", &binding.exchange)?;
    fields::short_string("routing-key", &binding.routing_key)
}
