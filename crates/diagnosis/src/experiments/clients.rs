//! Arms of findings about clients, and about the numbers of queues, channels and connections.

use super::{
    arm::{Arm, Proof, ProofMetric},
    focus::Focus,
    load::{Churn, Confirms, Figure, Group, Load, MAX_MEMBERS, MAX_QUEUES, Settling, whole},
    readers::pollers,
};
use crate::{
    case::{Case, QueueKind},
    finding::Finding,
};

/// Prefetch of the changed arm, within the 100 to 300 of RabbitMQ's documentation.
pub(super) const PREFETCH: u64 = 200;
/// Unconfirmed messages of the changed arm.
pub(super) const WINDOW: u64 = 100;
/// Messages for an acknowledgement in the changed arm.
pub(super) const EACH: u64 = 50;
/// Factor of queues, channels or connections in the changed arm.
pub(super) const MORE: u64 = 4;
/// Highest rate of opened connections, channels or queues per second.
const MAX_CHURN: f64 = 200.0;
/// Bytes per second above which publishers without confirms would fill memory faster than a test lasts.
pub(super) const MAX_BYTES_PER_SECOND: f64 = 64e6;

/// A prefetch that keeps consumers busy.
pub(super) fn prefetch(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let group = load.at_full_speed();
    let limits = matches!(
        &group.consumers.as_ref()?.settling,
        Settling::Acknowledged { prefetch, .. } if (1..PREFETCH).contains(&prefetch.value)
    );
    supply(group);
    let set = vec![("consumers.0.prefetch", PREFETCH.to_string())];
    limits.then(|| Proof::of_keys(ProofMetric::Consumed, set))
}

/// Acknowledgements for several messages.
pub(super) fn multiple_acks(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let group = load.at_full_speed();
    let Settling::Acknowledged { prefetch, each } = &mut group.consumers.as_mut()?.settling else {
        return None;
    };
    *each = Figure::noted(1, "as the finding says");
    let more = if prefetch.value == 0 { EACH } else { EACH.min(prefetch.value / 2) };
    supply(group);
    let set = vec![("consumers.0.multi-ack-every", more.to_string())];
    (more > 1).then(|| Proof::of_keys(ProofMetric::Consumed, set))
}

/// Consumers instead of polling.
pub(super) fn consume(load: &mut Load, case: &Case, finding: &Finding) -> Option<Proof> {
    let pollers = pollers(case, &Focus::new(case, finding))?;
    if !load.put_first(|kind| kind != QueueKind::Stream) {
        return None;
    }
    load.at_observed_rate().consumers = Some(pollers);
    let set = vec![
        ("consumers.0.polling", "false".to_owned()),
        ("consumers.0.prefetch", PREFETCH.to_string()),
    ];
    Some(Proof::of_keys(ProofMetric::Cpu, set))
}

/// Confirms instead of transactions.
pub(super) fn no_transactions(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    if !load.put_first(|kind| kind != QueueKind::Stream) {
        return None;
    }
    load.at_full_speed().publishers.confirms = Confirms::OfArm;
    load.remarks
        .push("The arms have a commit for each message (assumed), and confirms.".to_owned());
    let arm = |key, value: u64| Arm::of_keys(vec![(key, value.to_string())]);
    Some(Proof {
        metric: ProofMetric::Published,
        observed: arm("publishers.0.tx-size", 1),
        changed: arm("publishers.0.confirm-window", WINDOW),
    })
}

/// Several unconfirmed messages.
#[expect(clippy::unnecessary_wraps, reason = "some builders of the table return none")]
pub(super) fn confirms_in_flight(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    let waiting = case.turns.as_ref().and_then(|turns| turns.publishers.first());
    let window = waiting.and_then(|one| one.window).map_or(1, u64::from).clamp(1, WINDOW - 1);
    let group = load.at_full_speed();
    group.publishers.confirms = Confirms::Window(Figure::noted(window, "as the finding says"));
    let set = vec![("publishers.0.confirm-window", WINDOW.to_string())];
    Some(Proof::of_keys(ProofMetric::Published, set))
}

/// More channels of publishers.
pub(super) fn more_channels(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let group = load.at_full_speed();
    let more = more(group.publishers.count.value, MAX_MEMBERS)?;
    let set = vec![("publishers.0.count", more.to_string())];
    Some(Proof::of_keys(ProofMetric::Published, set))
}

/// More connections of publishers, each with at least one channel.
pub(super) fn more_publishing_connections(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let publishers = &load.at_full_speed().publishers;
    let connections = more(publishers.connections.value, MAX_MEMBERS)?;
    let set = vec![
        ("publishers.0.count", connections.max(publishers.count.value).to_string()),
        ("publishers.0.connections", connections.to_string()),
    ];
    Some(Proof::of_keys(ProofMetric::Published, set))
}

/// More connections of consumers, each with at least one consumer.
pub(super) fn more_reading_connections(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let group = load.at_full_speed();
    supply(group);
    let consumers = group.consumers.as_ref()?;
    let connections = more(consumers.connections.value, MAX_MEMBERS)?;
    let set = vec![
        ("consumers.0.count", connections.max(consumers.count.value).to_string()),
        ("consumers.0.connections", connections.to_string()),
    ];
    Some(Proof::of_keys(ProofMetric::Consumed, set))
}

/// More queues. Each has a consumer if there are any.
pub(super) fn more_queues(load: &mut Load, _: &Case, _: &Finding) -> Option<Proof> {
    let group = load.at_full_speed();
    let queues = more(group.queues.value, MAX_QUEUES)?;
    if let Some(consumers) = group.consumers.as_mut().filter(|own| own.count.value < queues) {
        // In both arms, so that the queues alone are the difference.
        consumers.count = Figure::noted(queues, "one for each queue of the changed arm");
    }
    let set = vec![("queues.0.to", queues.to_string())];
    Some(Proof::of_keys(throughput(group), set))
}

/// Connections that stay.
pub(super) fn lasting_connections(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    let churn = case.broker.as_ref().ok()?.churn?;
    without_churn(load, "connections", churn.connections_opened)
}

/// Channels that stay.
pub(super) fn lasting_channels(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    let churn = case.broker.as_ref().ok()?.churn?;
    without_churn(load, "channels", churn.channels_opened)
}

/// Queues that stay.
pub(super) fn lasting_queues(load: &mut Load, case: &Case, _: &Finding) -> Option<Proof> {
    let churn = case.broker.as_ref().ok()?.churn?;
    let changed = churn.queues_created.max(churn.queues_deleted).max(churn.queues_declared);
    without_churn(load, "queues", changed)
}

fn without_churn(load: &mut Load, kind: &'static str, opened: f64) -> Option<Proof> {
    if !(opened.is_finite() && opened >= 0.1) {
        return None;
    }
    load.at_observed_rate();
    let rate = if opened > MAX_CHURN {
        Figure::noted(MAX_CHURN, format!("a part of {:.0} a second", opened.min(1e12)))
    } else {
        Figure::seen(opened)
    };
    load.churn = Some(Churn { kind, rate });
    load.remarks.push(format!("The arms open {kind} beside the messages, or hardly any."));
    Some(Proof::of_keys(ProofMetric::Cpu, vec![("churn.0.rate", "0.001".to_owned())]))
}

/// Returns the metric of throughput.
pub(super) const fn throughput(group: &Group) -> ProofMetric {
    match group.consumers {
        Some(_) => ProofMetric::Consumed,
        None => ProofMetric::Published,
    }
}

/// Returns several times a number, within a limit. `None` if the limit is reached.
pub(super) fn more(number: u64, limit: u64) -> Option<u64> {
    let more = number.max(1).saturating_mul(MORE).min(limit);
    (more > number).then_some(more)
}

/// Limits the rate of publishers if messages are large, because the queue grows while its consumers are slower.
fn supply(group: &mut Group) {
    /// Messages per second up to which no limit is needed.
    const QUICK: f64 = 20_000.0;
    let most = MAX_BYTES_PER_SECOND / group.publishers.size_bytes.value.max(1) as f64;
    if most < QUICK {
        let rate = whole(most, 1 << 32).max(1) as f64;
        group.publishers.rate =
            Some(Figure::noted(rate, "chosen: enough messages, which do not fill the memory"));
    }
}
