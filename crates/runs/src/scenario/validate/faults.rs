//! `[[faults]]`: only for a broker that the run starts itself.

use std::time::Duration;

use super::{
    super::{
        error::{Problem, refuse},
        model::{
            BrokerSpec, FaultKind, FaultNode, FaultSpec, MAX_OCCURRENCES, QueueNames,
            ThrowawayBroker,
        },
    },
    context::{Context, check_each},
    fields,
};

/// The reason why faults are not done to existing brokers.
pub(super) const NOT_OURS: &str =
    "need a broker that the run starts itself: remove the broker's URI, or the faults";

/// Checks all faults. `load` is the length of the load, if it is known.
pub(super) fn faults(
    faults: &mut [FaultSpec],
    context: &Context<'_>,
    load: Option<Duration>,
) -> Result<(), Problem> {
    if faults.is_empty() {
        return Ok(());
    }
    let BrokerSpec::Throwaway(broker) = context.broker else { return refuse("faults", NOT_OURS) };
    if context.broker.is_several_brokers() {
        return refuse("faults", "need one broker or one cluster: remove `broker.cluster`");
    }
    check_each("faults", faults, |_, fault| {
        fits(fault.kind, broker)?;
        if load.is_some_and(|load| fault.at >= load) {
            return refuse("at", "is not before the end of the load (`run.duration`)");
        }
        // A killed node may be started again at once; no other fault makes sense for zero time.
        if fault.lasts == Some(Duration::ZERO) && !fault.kind.ends_node() {
            return refuse("for", "must be longer than 0s");
        }
        repetition(fault, load)?;
        node(fault, broker.nodes, context)
    })
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

fn repetition(fault: &FaultSpec, load: Option<Duration>) -> Result<(), Problem> {
    let FaultSpec { at, times, until, lasts, .. } = *fault;
    fields::at_least_one("times", times)?;
    let Some(every) = fault.every else {
        return match (times, until) {
            (Some(_), _) => refuse("times", "goes with `every`: leave it out"),
            (_, Some(_)) => refuse("until", "goes with `every`: leave it out"),
            (None, None) => Ok(()),
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
    let Some(end) = [until, load].into_iter().flatten().min() else {
        return match times {
            Some(times) if times <= MAX_OCCURRENCES => Ok(()),
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
    Ok(())
}

/// Checks the node, and fills in the only one.
fn node(fault: &mut FaultSpec, nodes: u32, context: &Context<'_>) -> Result<(), Problem> {
    match fault.node {
        None if nodes == 1 => fault.node = Some(FaultNode::Number(1)),
        None => return refuse("node", "is missing: give a number, `\"random\"` or `\"leader\"`"),
        Some(FaultNode::Number(number)) if !(1..=nodes).contains(&number) => {
            return refuse("node", format!("must be from 1 to {nodes}, the nodes of the broker"));
        }
        Some(FaultNode::Leader) => return leader(fault.queue.as_deref(), context),
        Some(_) => {}
    }
    match fault.queue {
        None => Ok(()),
        Some(_) => refuse("queue", "goes with `node = \"leader\"`: leave it out"),
    }
}

fn leader(queue: Option<&str>, context: &Context<'_>) -> Result<(), Problem> {
    let Some(name) = queue else {
        return refuse("queue", "is missing: give the queue of this leader");
    };
    let queue = fields::queue(name, context)?;
    fields::not_exclusive(queue, "the fault")?;
    if queue.is_some_and(|queue| queue.queues() != QueueNames::One && queue.name == name) {
        let reason = format!("`{name}` selects several queues: give the name of one");
        return refuse("queue", reason);
    }
    Ok(())
}
