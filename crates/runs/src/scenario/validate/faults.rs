//! `[[faults]]`: only for a broker that the run starts itself.

use std::time::Duration;

use toml::Value;

use super::{
    super::{
        error::{Problem, allowed, quoted, refuse},
        model::{
            BrokerSpec, FaultKind, FaultNode, FaultSpec, MAX_OCCURRENCES, QueueNames, Repetition,
            Stop, ThrowawayBroker,
        },
        wire,
    },
    context::{Context, each},
    fields,
};

/// The reason why faults are not done to existing brokers.
pub(super) const NOT_OURS: &str =
    "need a broker that the run starts itself: remove the broker's URI, or the faults";

/// Checks all faults. `stop` holds the length of the load.
pub(super) fn faults(
    wire: Vec<wire::Fault>,
    context: &Context<'_>,
    stop: &Stop,
) -> Result<Vec<FaultSpec>, Problem> {
    if wire.is_empty() {
        return Ok(Vec::new());
    }
    let BrokerSpec::Throwaway(broker) = context.broker else { return refuse("faults", NOT_OURS) };
    if context.broker.is_several_brokers() {
        return refuse("faults", "need one broker or one cluster: remove `broker.cluster`");
    }
    let check = |_, written: wire::Fault| {
        fits(written.kind, broker)?;
        fault(&written, broker.nodes, context, stop)
    };
    each("faults", wire, check)
}

/// Checks that this broker can suffer the fault.
fn fits(kind: FaultKind, broker: &ThrowawayBroker) -> Result<(), Problem> {
    if kind == FaultKind::Partition && broker.nodes < 2 {
        return refuse("kind", "`partition` needs a cluster: give `[broker] nodes`");
    }
    if kind.ends_node() && broker.patches.len() + broker.modules.len() > 0 {
        let kind = kind.as_str();
        let reason = format!(
            "`{kind}` ends the node, which comes back without its `patches` and `modules`: leave those out"
        );
        return refuse("kind", reason);
    }
    Ok(())
}

fn fault(
    wire: &wire::Fault,
    nodes: u32,
    context: &Context<'_>,
    stop: &Stop,
) -> Result<FaultSpec, Problem> {
    let at = fields::delay("at", Some(&wire.at))?;
    if stop.duration.is_some_and(|load| at >= load) {
        return refuse("at", "is not before the end of the load (`run.duration`)");
    }
    let lasts = lasts(wire)?;
    let repetition = repetition(wire, at, lasts, stop)?;
    Ok(FaultSpec { kind: wire.kind, node: node(wire, nodes, context)?, at, repetition, lasts })
}

/// Checks `for`. A killed node may be started again at once; no other fault makes sense for zero time.
fn lasts(wire: &wire::Fault) -> Result<Option<Duration>, Problem> {
    let Some(text) = wire.lasts.as_deref() else { return Ok(None) };
    if wire.kind.ends_node() {
        fields::delay("for", Some(text)).map(Some)
    } else {
        fields::duration("for", Some(text))
    }
}

fn repetition(
    wire: &wire::Fault,
    at: Duration,
    lasts: Option<Duration>,
    stop: &Stop,
) -> Result<Option<Repetition>, Problem> {
    let times = fields::at_least_one("times", wire.times)?;
    let until = fields::duration("until", wire.until.as_deref())?;
    let Some(every) = fields::duration("every", wire.every.as_deref())? else {
        return match (times, until) {
            (Some(_), _) => refuse("times", "goes with `every`: leave it out"),
            (_, Some(_)) => refuse("until", "goes with `every`: leave it out"),
            (None, None) => Ok(None),
        };
    };
    match lasts {
        Some(lasts) if lasts < every => {}
        Some(_) => return refuse("for", "must be shorter than `every`: one ends before the next"),
        None => return refuse("for", "is missing: with `every` each ends before the next begins"),
    }
    if until.is_some_and(|until| until <= at) {
        return refuse("until", "must be after `at`, or the fault never happens");
    }
    let Some(end) = [until, stop.duration].into_iter().flatten().min() else {
        return match times {
            Some(times) if times <= MAX_OCCURRENCES => {
                Ok(Some(Repetition { every, times: Some(times), until }))
            }
            Some(_) => refuse("times", format!("must be at most {MAX_OCCURRENCES}")),
            None => refuse("every", "never ends: give `times` or `until`, or `run.duration`"),
        };
    };
    let most = end.saturating_sub(at).as_nanos().div_ceil(every.as_nanos());
    if most.min(u128::from(times.unwrap_or(u64::MAX))) > u128::from(MAX_OCCURRENCES) {
        let reason =
            format!("is too short: {most} occurrences exceed the limit of {MAX_OCCURRENCES}");
        return refuse("every", reason);
    }
    Ok(Some(Repetition { every, times, until }))
}

fn node(wire: &wire::Fault, nodes: u32, context: &Context<'_>) -> Result<FaultNode, Problem> {
    let node = match &wire.node {
        None if nodes == 1 => FaultNode::Number(1),
        None => return refuse("node", "is missing: give a number, `\"random\"` or `\"leader\"`"),
        Some(Value::Integer(number)) => number_of(*number, nodes)?,
        Some(Value::String(word)) if word == "random" => FaultNode::Random,
        Some(Value::String(word)) if word == "leader" => leader(wire, context)?,
        Some(Value::String(word)) => {
            let words = allowed(word, &["random", "leader"]);
            let reason = format!("{} is unknown; allowed are a number, {words}", quoted(word));
            return refuse("node", reason);
        }
        Some(_) => return refuse("node", "must be a number, `\"random\"` or `\"leader\"`"),
    };
    if wire.queue.is_some() && !matches!(node, FaultNode::LeaderOf(_)) {
        return refuse("queue", "goes with `node = \"leader\"`: leave it out");
    }
    Ok(node)
}

fn number_of(number: i64, nodes: u32) -> Result<FaultNode, Problem> {
    match u32::try_from(number) {
        Ok(number) if (1..=nodes).contains(&number) => Ok(FaultNode::Number(number)),
        _ => refuse("node", format!("must be from 1 to {nodes}, the nodes of the broker")),
    }
}

fn leader(wire: &wire::Fault, context: &Context<'_>) -> Result<FaultNode, Problem> {
    let Some(name) = &wire.queue else {
        return refuse("queue", "is missing: give the queue of this leader");
    };
    let queue = fields::queue(name, context)?;
    fields::not_exclusive(queue, "the fault")?;
    if queue.is_some_and(|queue| queue.names != QueueNames::One && queue.name == *name) {
        let reason = format!("`{name}` selects several queues: give the name of one");
        return refuse("queue", reason);
    }
    Ok(FaultNode::LeaderOf(name.clone()))
}
