//! Checks a scenario as a whole.

use super::super::{
    error::{Problem, refuse},
    model::{ProfileSpec, PublisherGroup, QueueSpec, RequestGroup, Scenario, Stop},
    wire,
};
use super::{
    broker, churn, connecting, consumers,
    context::{Context, TextFiles, each},
    exchanges, expect, fields, polling, publishers, queues, rpc, run,
};

/// The scenario that a file means.
pub(in crate::scenario) fn scenario(
    wire: wire::Scenario,
    files: &mut TextFiles<'_>,
) -> Result<Scenario, Problem> {
    run_name(&wire.name)?;
    let broker = wire.broker.unwrap_or_default();
    let connecting = connecting::connecting(&broker).map_err(|problem| problem.under("broker"))?;
    let broker = broker::broker(broker).map_err(|problem| problem.under("broker"))?;
    let exchanges = each("exchanges", wire.exchanges, |_, wire| exchanges::exchange(wire))?;
    fields::unique("exchanges", exchanges.iter().map(|exchange| exchange.name.as_str()))?;
    let queues = all_queues(wire.queues, files)?;
    let context = Context { exchanges: &exchanges, queues: &queues, broker: &broker };
    let publishers =
        each("publishers", wire.publishers, |index, it| publishers::group(index, it, &context))?;
    fields::unique("publishers", publishers.iter().map(|group| group.name.as_str()))?;
    let consumers =
        each("consumers", wire.consumers, |index, group| consumers::group(index, group, &context))?;
    fields::unique("consumers", consumers.iter().map(|group| group.name.as_str()))?;
    consumers::exclusive_queues(&queues, &consumers)?;
    let requests =
        each("requests", wire.requests, |index, group| rpc::requests(index, group, &context))?;
    fields::unique("requests", requests.iter().map(|group| group.name.as_str()))?;
    let responders =
        each("responders", wire.responders, |index, it| rpc::responders(index, it, &context))?;
    fields::unique("responders", responders.iter().map(|group| group.name.as_str()))?;
    let churn = each("churn", wire.churn, |index, group| churn::group(index, group, &context))?;
    fields::unique("churn", churn.iter().map(|group| group.name.as_str()))?;
    let pollers = polling::groups(wire.pollers, &broker)?;
    let endless = (responders.len() + pollers.len() > 0).then_some(false);
    let ends = [
        ends(&publishers, PublisherGroup::ends),
        ends(&consumers, |group| group.messages.is_some()),
        ends(&requests, RequestGroup::ends),
        ends(&churn, |group| group.cycles.is_some()),
        endless,
    ];
    let wire_run = wire.run.unwrap_or_default();
    let stop = run::stop(&wire_run, &ends)?;
    run::can_empty(&stop, &publishers, &queues).map_err(|problem| problem.under("run"))?;
    let run = run::options(&wire_run, &stop, &publishers, &consumers, &queues);
    let run = run.map_err(|problem| problem.under("run"))?;
    let others = [requests.len(), responders.len(), churn.len()];
    let measured = expect::Measured::new(&run, &publishers, &consumers, others);
    let expect = expect::expect(wire.expect.unwrap_or_default(), &measured)?;
    let profile = wire.profile.map(|wire| profile(&wire, &stop)).transpose();
    Ok(Scenario {
        name: wire.name,
        description: wire.description.unwrap_or_default(),
        seed: wire.seed.unwrap_or(1),
        profile: profile.map_err(|problem| problem.under("profile"))?,
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
    })
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

/// Do all groups of this kind end by themselves? Absent: there are none.
fn ends<T>(groups: &[T], ends: fn(&T) -> bool) -> Option<bool> {
    (!groups.is_empty()).then(|| groups.iter().all(ends))
}

fn profile(wire: &wire::Profile, stop: &Stop) -> Result<ProfileSpec, Problem> {
    let delay = match wire.delay.as_deref() {
        Some("0s") | None => std::time::Duration::ZERO,
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
    Ok(ProfileSpec { event: wire.event.unwrap_or_default(), delay, duration, freq_hz })
}
