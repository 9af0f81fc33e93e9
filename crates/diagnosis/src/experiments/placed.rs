//! The arms of an experiment in the observed load: the places of its groups, and the metric that can show the change.

use rabbitscope_runs::scenario::{Arrival, ConsumerGroup, PublisherGroup, QueueType, Scenario};

use super::{
    arm::{Arm, Proof, ProofMetric},
    base::BaseScenario,
    clients::{EACH, MAX_BYTES_PER_SECOND, MORE, PREFETCH, WINDOW, more},
    focus::Focus,
    load::{Load, MAX_MEMBERS},
    settings::BrokerSettings,
};

/// Keys with their values, in the order of a file.
type Keys = Vec<(String, String)>;

/// The arms in the observed load, without their brokers.
#[derive(Debug, Default)]
struct Place {
    observed: Arm,
    changed: Arm,
    /// The publishers that the change is about; absent for all.
    publishers: Option<usize>,
    /// True if the change saves work, and no waiting.
    is_about_cost: bool,
}

/// Returns an experiment on a smaller load as one on the observed load, or the reason against it.
pub(super) fn placed(
    proof: &Proof,
    load: &Load,
    focus: &Focus<'_>,
    base: &BaseScenario,
) -> Result<Proof, String> {
    if load.broker.nodes > 1 {
        return Err("packets do not show mirrors".to_owned());
    }
    let place = place(proof, load, focus, base)?;
    let metric = metric(proof.metric, base, &place);
    let arm = |arm: Arm, own: &Arm| Arm { broker: broker(own, load), ..arm };
    let observed = arm(place.observed, &proof.observed);
    let changed = arm(place.changed, &proof.changed);
    if !(base.accepts(&observed) && base.accepts(&changed)) {
        return Err("its groups cannot have the change".to_owned());
    }
    Ok(Proof { metric, observed, changed })
}

/// Returns the broker of an arm: its own, else that of the smaller load, as the observed load has none.
fn broker(arm: &Arm, load: &Load) -> Option<BrokerSettings> {
    let of_load = || (load.broker != BrokerSettings::default()).then(|| load.broker.clone());
    arm.broker.clone().or_else(of_load)
}

fn place(
    proof: &Proof,
    load: &Load,
    focus: &Focus<'_>,
    base: &BaseScenario,
) -> Result<Place, String> {
    let keys: Vec<&str> = proof.changed.set.iter().map(|(key, _)| key.as_str()).collect();
    match keys[..] {
        [] => Ok(Place::default()),
        ["consumers.0.prefetch"] => prefetch(focus, base),
        ["consumers.0.multi-ack-every"] => multiple_acks(focus, base),
        ["consumers.0.polling", "consumers.0.prefetch"] => no_polling(focus, base),
        ["consumers.0.count", "consumers.0.connections"] => reading_connections(focus, base),
        ["publishers.0.confirm-window"] if proof.observed.set.is_empty() => window(focus, base),
        ["publishers.0.confirm-window"] => no_transactions(focus, base),
        ["publishers.0.count"] => more_publishers(false, focus, base),
        ["publishers.0.count", "publishers.0.connections"] => more_publishers(true, focus, base),
        ["churn.0.rate"] => churn(proof, load, base),
        ["pollers.0.interval"] => poller(proof, load, base),
        [key] if key.starts_with("queues.0.arguments.") => argument(proof, load, focus, base),
        _ => Err("it has no numbers of queues to change".to_owned()),
    }
}

fn key(list: &str, place: usize, key: &str, value: &impl ToString) -> (String, String) {
    (format!("{list}.{place}.{key}"), value.to_string())
}

impl Place {
    /// Creates arms of which one sets keys.
    fn of_keys(set: Keys) -> Self {
        Self { changed: Arm { set, ..Arm::default() }, ..Self::default() }
    }
}

fn consumers_of(
    base: &BaseScenario,
    focus: &Focus<'_>,
    fits: impl Fn(&ConsumerGroup) -> bool,
    needed: &str,
) -> Result<(usize, ConsumerGroup), String> {
    let found = base.consumers(focus, fits).map(|(place, group)| (place, group.clone()));
    found.ok_or_else(|| format!("it has no consumers {needed} where the finding is"))
}

fn prefetch(focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let is_low = |group: &ConsumerGroup| {
        let limit = group.prefetch.map(u64::from);
        limit.is_some_and(|limit| (1..PREFETCH).contains(&limit)) && group.polling != Some(true)
    };
    let (place, _) = consumers_of(base, focus, is_low, "with a low prefetch")?;
    let changed = vec![key("consumers", place, "prefetch", &PREFETCH)];
    Ok(Place::of_keys(changed))
}

fn multiple_acks(focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let each = |group: &ConsumerGroup| match group.prefetch.or(group.channel_prefetch) {
        Some(limit) => EACH.min(u64::from(limit) / 2),
        None => EACH,
    };
    let is_single = |group: &ConsumerGroup| {
        let acknowledges = !group.auto_ack && !group.nack && group.polling != Some(true);
        acknowledges && group.multi_ack_every == 1 && each(group) > 1
    };
    let needed = "that acknowledge each message and have several";
    let (place, group) = consumers_of(base, focus, is_single, needed)?;
    let changed = vec![key("consumers", place, "multi-ack-every", &each(&group))];
    Ok(Place { is_about_cost: true, ..Place::of_keys(changed) })
}

fn no_polling(focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let polls = |group: &ConsumerGroup| group.polling == Some(true) && !group.auto_ack;
    let (place, _) = consumers_of(base, focus, polls, "that poll")?;
    let changed = vec![
        key("consumers", place, "polling", &false),
        key("consumers", place, "prefetch", &PREFETCH),
    ];
    Ok(Place::of_keys(changed))
}

fn reading_connections(focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let is_shared = |group: &ConsumerGroup| !group.exclusive;
    let (place, group) = consumers_of(base, focus, is_shared, "that may be more")?;
    let connections = more(u64::from(group.connections), MAX_MEMBERS);
    let connections = connections.ok_or("it has as many connections as an experiment may have")?;
    let changed = vec![
        key("consumers", place, "count", &connections.max(u64::from(group.count))),
        key("consumers", place, "connections", &connections),
    ];
    Ok(Place::of_keys(changed))
}

fn window(focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let is_narrow = |group: &PublisherGroup| {
        group.confirm_window.is_some_and(|window| u64::from(window) < WINDOW)
    };
    let found = base.publishers(focus, is_narrow);
    let (place, _) = found.ok_or("it has no publishers with few unconfirmed messages")?;
    let changed = vec![key("publishers", place, "confirm-window", &WINDOW)];
    Ok(Place { publishers: Some(place), ..Place::of_keys(changed) })
}

/// Returns confirms in place of transactions.
fn no_transactions(focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let found = base.publishers(focus, |group| group.tx_size.is_some());
    let (place, _) = found.ok_or("it has no publishers with transactions where the finding is")?;
    let set = vec![key("publishers", place, "confirm-window", &WINDOW)];
    let removed = vec![format!("publishers.{place}.tx-size")];
    let changed = Arm { set, removed, broker: None };
    Ok(Place { changed, publishers: Some(place), ..Place::default() })
}

/// Returns more publishers, with more connections or on the same. These findings say that the broker holds publishers
/// back, so that a rate without confirms is the broker's, which neither arm has.
fn more_publishers(on_more: bool, focus: &Focus<'_>, base: &BaseScenario) -> Result<Place, String> {
    let is_held_back = |group: &PublisherGroup| {
        is_closed(group)
            || group.phases.is_empty()
                && group.confirms != Some(true)
                && group.confirm_window.is_none()
                && bytes_per_second(group) * MORE as f64 <= MAX_BYTES_PER_SECOND
    };
    let found = base.publishers(focus, is_held_back);
    let (place, group) =
        found.ok_or("its publishers have rates, and more of them would be more")?;
    let (count, connections) = (u64::from(group.count), u64::from(group.connections));
    let more = more(if on_more { connections } else { count }, MAX_MEMBERS);
    let more = more.ok_or("it has as many publishers as an experiment may have")?;
    let mut changed = vec![key("publishers", place, "count", &more.max(count))];
    if on_more {
        changed.push(key("publishers", place, "connections", &more));
    }
    let of_schedule = [
        ("rate", group.rate.is_some()),
        ("arrival", group.arrival == Some(Arrival::Poisson)),
        ("random-start-delay", !group.random_start_delay.is_zero()),
    ];
    let written = of_schedule.into_iter().filter(|(_, is_written)| *is_written);
    let removed: Vec<String> =
        written.map(|(key, _)| format!("publishers.{place}.{key}")).collect();
    let observed = Arm { removed: removed.clone(), ..Arm::default() };
    let changed = Arm { set: changed, removed, broker: None };
    Ok(Place { observed, changed, publishers: Some(place), is_about_cost: false })
}

/// Returns the bytes that publishers with a rate send. More of them without it could fill the memory and the disk of the
/// machine, which may be the observed node's.
fn bytes_per_second(group: &PublisherGroup) -> f64 {
    let of_shares = group.size_shares.iter().flatten().map(|share| share.size_bytes).max();
    let of_steps = group.sizes.iter().flatten().map(|step| step.size_bytes).max();
    let size = [group.size, of_shares, of_steps].into_iter().flatten().max().unwrap_or(0);
    group.rate.unwrap_or(0.0) * f64::from(group.count) * f64::from(size)
}

/// Returns fewer requests to the management API. Packets show neither these nor idle queues, which the answers list.
fn poller(proof: &Proof, load: &Load, base: &BaseScenario) -> Result<Place, String> {
    let poller = load.poller.as_ref().ok_or("the finding names no requests")?;
    let Scenario { queues, pollers, .. } = base.scenario();
    let of_poller = |name: &str, value: &str| key("pollers", pollers.len(), name, &value);
    let mut observed = vec![
        of_poller("url", &format!("\"{}\"", poller.path)),
        of_poller("interval", &format!("\"{}ms\"", poller.interval_ms.value)),
    ];
    let used: usize = queues.iter().map(|spec| spec.queue_names().len()).sum();
    let idle = load.groups[0].queues.value.saturating_sub(used as u64);
    if idle > 0 {
        observed.push(key("queues", queues.len(), "name", &"\"idle-{}\""));
        observed.push(key("queues", queues.len(), "to", &idle));
    }
    let mut changed = observed.clone();
    let value = proof.changed.set.first().map_or("", |(_, value)| value);
    value.clone_into(&mut changed[1].1);
    let [observed, changed] = [observed, changed].map(|set| Arm { set, ..Arm::default() });
    Ok(Place { observed, changed, ..Place::default() })
}

fn churn(proof: &Proof, load: &Load, base: &BaseScenario) -> Result<Place, String> {
    let kind = load.churn.as_ref().map(|churn| churn.kind);
    let mut groups = base.scenario().churn.iter();
    let found = groups.position(|group| Some(group.kind.as_str()) == kind);
    let place = found.ok_or("the packets showed none that came and went")?;
    let value = proof.changed.set.first().map_or("", |(_, value)| value);
    Ok(Place::of_keys(vec![key("churn", place, "rate", &value)]))
}

/// Returns an argument of classic queues, with the present value in the first arm.
fn argument(
    proof: &Proof,
    load: &Load,
    focus: &Focus<'_>,
    base: &BaseScenario,
) -> Result<Place, String> {
    let found = base.queues(focus, |spec| {
        spec.queue_type == QueueType::Classic && !spec.server_named && !spec.exclusive
    });
    let (place, _) = found.ok_or("it has no classic queue of the finding")?;
    let present = load.groups[0].arguments.last().map(|(name, value)| (*name, value.clone()));
    let (name, present) = present.ok_or("the finding names no argument")?;
    let value = proof.changed.set.first().map_or("", |(_, value)| value);
    let set = |value: &str| vec![key("queues", place, &format!("arguments.{name}"), &value)];
    let [observed, changed] = [set(&present), set(value)].map(|set| Arm { set, ..Arm::default() });
    Ok(Place { observed, changed, ..Place::default() })
}

const fn is_closed(group: &PublisherGroup) -> bool {
    group.rate.is_none() && group.phases.is_empty()
}

/// Returns the metric that can change. Publishers with a schedule send the same number of messages whatever the broker
/// does, so that a time shows the change, or the cost of a message.
fn metric(metric: ProofMetric, base: &BaseScenario, place: &Place) -> ProofMetric {
    if !matches!(metric, ProofMetric::Published | ProofMetric::Consumed) {
        return metric;
    }
    let all = &base.scenario().publishers;
    let meant = match place.publishers {
        Some(place) => &all[place..=place],
        None => &all[..],
    };
    let has_consumers = !base.scenario().consumers.is_empty();
    let is_counted = metric == ProofMetric::Published || has_consumers;
    let is_fast = |group: &PublisherGroup| is_closed(group) || !place.observed.removed.is_empty();
    if meant.iter().any(is_fast) && is_counted {
        return metric;
    }
    if place.is_about_cost {
        return ProofMetric::Cpu;
    }
    let is_confirmed = |group: &PublisherGroup| group.confirm_window.is_some();
    if metric == ProofMetric::Published && meant.iter().any(is_confirmed) {
        return ProofMetric::Confirm;
    }
    let is_stamped = !all.is_empty() && all.iter().all(PublisherGroup::is_stamped);
    match (has_consumers && is_stamped, metric) {
        (true, _) => ProofMetric::EndToEnd,
        (false, ProofMetric::Consumed) if has_consumers => metric,
        (false, _) => ProofMetric::Cpu,
    }
}
