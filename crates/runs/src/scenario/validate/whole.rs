//! Checks of a scenario as a whole.

use std::time::Duration;

use super::super::{
    connecting::{Allocation, Connecting},
    error::{Problem, refuse},
    model::{
        BrokerSpec, PacketsSpec, ProfileSpec, PublisherGroup, QueueSpec, RequestGroup, Scenario,
        Stop, Until,
    },
    wire,
};
use super::{
    broker, churn, connecting, consumers,
    context::{Context, TextFiles, each},
    exchanges, expect, faults, fields, polling, publishers, queues, rpc, run,
};

/// Converts a file into the scenario.
pub(in crate::scenario) fn scenario(
    wire: wire::Scenario,
    files: &mut TextFiles<'_>,
) -> Result<Scenario, Problem> {
    run_name(&wire.name)?;
    let broker = wire.broker.unwrap_or_default();
    let connecting = connecting::connecting(&broker).map_err(|problem| problem.under("broker"))?;
    let broker = broker::broker(broker).map_err(|problem| problem.under("broker"))?;
    let check = |_, exchange| exchanges::exchange(exchange);
    let exchanges = each_named("exchanges", wire.exchanges, check, |exchange| &exchange.name)?;
    let queues = all_queues(wire.queues, files)?;
    let context = Context { exchanges: &exchanges, queues: &queues, broker: &broker };
    let check = |index, group| publishers::group(index, group, &context);
    let publishers = each_named("publishers", wire.publishers, check, |group| &group.name)?;
    let check = |index, group| consumers::group(index, group, &context);
    let consumers = each_named("consumers", wire.consumers, check, |group| &group.name)?;
    consumers::exclusive_queues(&queues, &consumers)?;
    let check = |index, group| rpc::requests(index, group, &context);
    let requests = each_named("requests", wire.requests, check, |group| &group.name)?;
    let check = |index, group| rpc::responders(index, group, &context);
    let responders = each_named("responders", wire.responders, check, |group| &group.name)?;
    let check = |index, group| churn::group(index, group, &context);
    let churn = each_named("churn", wire.churn, check, |group| &group.name)?;
    let pollers = polling::groups(wire.pollers, &broker)?;
    let ends = [
        ends(&publishers, PublisherGroup::ends),
        ends(&consumers, |group| group.messages.is_some()),
        ends(&requests, RequestGroup::ends),
        ends(&churn, |group| group.cycles.is_some()),
        (responders.len() + pollers.len() > 0).then_some(false),
    ];
    let wire_run = wire.run.unwrap_or_default();
    let stop = run::stop(&wire_run, &ends)?;
    let faults = faults::faults(wire.faults, &context, &stop)?;
    run::can_empty(&stop, &publishers, &queues).map_err(|problem| problem.under("run"))?;
    let run = run::options(&wire_run, &stop, &publishers, &consumers, &queues)
        .map_err(|problem| problem.under("run"))?;
    fits_several_brokers(&broker, &connecting, run.verify, &stop)?;
    let others = [requests.len(), responders.len(), churn.len()];
    let measured = expect::Measured::new(&run, &publishers, &consumers, others);
    let expect = expect::expect(wire.expect.unwrap_or_default(), &measured)?;
    Ok(Scenario {
        name: wire.name,
        description: wire.description.unwrap_or_default(),
        seed: wire.seed.unwrap_or(1),
        profile: profile(wire.profile, &stop).map_err(|problem| problem.under("profile"))?,
        packets: packets(wire.packets, &stop).map_err(|problem| problem.under("packets"))?,
        expect,
        broker,
        connecting,
        stop,
        exchanges,
        run,
        queues,
        publishers,
        consumers,
        requests,
        responders,
        churn,
        pollers,
        faults,
    })
}

/// Refuses settings that query one broker about queues that each of several has, or that confuse one broker with
/// another.
fn fits_several_brokers(
    broker: &BrokerSpec,
    connecting: &Connecting,
    verifies: bool,
    stop: &Stop,
) -> Result<(), Problem> {
    let needs_one = [
        ("broker.recovery", connecting.recovery.is_some()),
        // A publisher and its consumer would share a broker only by chance.
        ("broker.allocation", connecting.allocation == Allocation::Random),
        ("run.verify", verifies),
        ("run.until", matches!(stop.until, Some(Until::Empty(_)))),
    ];
    match needs_one.into_iter().find(|(_, given)| *given && broker.is_several_brokers()) {
        None => Ok(()),
        Some((key, _)) => refuse(
            "broker.cluster",
            format!("`false` makes several brokers, but `{key}` is for one: remove one of the two"),
        ),
    }
}

/// Checks every group of a list, and that no two have the same name.
fn each_named<W, T>(
    key: &str,
    items: Vec<W>,
    check: impl FnMut(usize, W) -> Result<T, Problem>,
    name: fn(&T) -> &String,
) -> Result<Vec<T>, Problem> {
    let checked = each(key, items, check)?;
    fields::unique(key, checked.iter().map(|group| name(group).as_str()))?;
    Ok(checked)
}

fn all_queues(
    wire: Vec<wire::Queue>,
    files: &mut TextFiles<'_>,
) -> Result<Vec<QueueSpec>, Problem> {
    let queues = each("queues", wire, |_, queue| queues::queue(queue, files))?;
    fields::unique("queues", queues.iter().map(|queue| queue.name.as_str()))?;
    queues::distinct(&queues)?;
    Ok(queues)
}

fn run_name(name: &str) -> Result<(), Problem> {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.len() > 100 || name.starts_with('.') || !name.chars().all(plain) {
        let allowed = "must have 1 to 100 letters, digits, `-`, `_` or `.`, and not start with `.`";
        return refuse("name", allowed);
    }
    Ok(())
}

/// Returns whether all groups of this kind end by themselves; absent if there are none.
fn ends<T>(groups: &[T], ends: fn(&T) -> bool) -> Option<bool> {
    (!groups.is_empty()).then(|| groups.iter().all(ends))
}

fn profile(wire: Option<wire::Profile>, stop: &Stop) -> Result<Option<ProfileSpec>, Problem> {
    let Some(wire) = wire else { return Ok(None) };
    let delay = match wire.delay.as_deref() {
        Some("0s") | None => Duration::ZERO,
        delay => fields::duration("delay", delay)?.unwrap_or_default(),
    };
    let duration = fields::duration("duration", Some(&wire.duration))?.unwrap_or_default();
    let freq_hz = wire.freq.unwrap_or(999);
    if !(1..=20_000).contains(&freq_hz) {
        return refuse("freq", "must be from 1 to 20000 ticks a second");
    }
    if stop.duration.is_some_and(|run| delay + duration > run) {
        return refuse("duration", "delay and duration of the profile exceed `run.duration`");
    }
    Ok(Some(ProfileSpec { event: wire.event.unwrap_or_default(), delay, duration, freq_hz }))
}

fn packets(wire: Option<wire::Packets>, stop: &Stop) -> Result<Option<PacketsSpec>, Problem> {
    let Some(wire) = wire else { return Ok(None) };
    let duration = fields::duration("duration", Some(&wire.duration))?.unwrap_or_default();
    if stop.duration.is_some_and(|run| duration > run) {
        return refuse("duration", "the capture is longer than `run.duration`");
    }
    Ok(Some(PacketsSpec { duration, save: wire.save.unwrap_or(false) }))
}
