//! Checks of a scenario as a whole.

use super::super::{
    error::{Problem, refuse, refuse_at},
    model::{
        Allocation, Broker, BrokerSpec, PublisherGroup, QueueSpec, RequestGroup, RunOptions,
        Scenario, UntilKind,
    },
};
use super::{
    broker, churn, consumers,
    context::{Context, TextFiles, check_each},
    exchanges, expect, faults, fields, polling, publishers, queues, rpc, run, sharing,
};

/// Checks a scenario that was read, and fills in the values that follow from others.
pub(in crate::scenario) fn check(
    scenario: &mut Scenario,
    files: &mut TextFiles<'_>,
) -> Result<(), Problem> {
    run_name(&scenario.name)?;
    broker::table(&mut scenario.broker).map_err(|problem| problem.under("broker"))?;
    groups(scenario, files)?;
    let Scenario { publishers, consumers, requests, responders, churn, pollers, .. } = &*scenario;
    let ends = [
        ends(publishers, PublisherGroup::ends),
        ends(consumers, |group| group.messages.is_some()),
        ends(requests, RequestGroup::ends),
        ends(churn, |group| group.cycles.is_some()),
        (responders.len() + pollers.len() > 0).then_some(false),
    ];
    let Scenario { run, exchanges, queues, publishers, consumers, .. } = scenario;
    run::end(run, &ends)?;
    let context = Context { exchanges, queues, broker: &scenario.broker.spec };
    faults::faults(&mut scenario.faults, &context, run.duration)?;
    let under_run = |problem: Problem| problem.under("run");
    run::can_empty(run, publishers, consumers, queues).map_err(under_run)?;
    run::options(run, publishers, consumers, queues).map_err(under_run)?;
    fits_several_brokers(&scenario.broker, run)?;
    prefill(queues, &scenario.broker)?;
    expect::expect(scenario)?;
    let Scenario { run, profile, packets, .. } = scenario;
    let profile = profile.iter().try_for_each(|profile| run::profile(profile, run));
    profile.map_err(|problem| problem.under("profile"))?;
    let packets = packets.iter().try_for_each(|packets| run::packets(packets, run));
    packets.map_err(|problem| problem.under("packets"))
}

/// Checks exchanges and queues, and then the groups that refer to them.
fn groups(scenario: &mut Scenario, files: &mut TextFiles<'_>) -> Result<(), Problem> {
    scenario.enable_plugins();
    queues::expand(scenario)?;
    let Scenario { exchanges, queues, publishers, consumers, .. } = scenario;
    check_each("exchanges", exchanges, |_, exchange| exchanges::exchange(exchange))?;
    fields::unique("exchanges", exchanges.iter().map(|exchange| &exchange.name))?;
    check_each("queues", queues, |_, queue| queues::queue(queue, files))?;
    fields::unique("queues", queues.iter().map(|queue| &queue.name))?;
    queues::distinct(queues)?;
    let context = Context { exchanges, queues, broker: &scenario.broker.spec };
    sharing::connections(publishers, consumers)?;
    check_each("publishers", publishers, |at, group| publishers::group(at, group, &context))?;
    fields::unique("publishers", publishers.iter().map(|group| &group.name))?;
    check_each("consumers", consumers, |at, group| consumers::group(at, group, &context))?;
    fields::unique("consumers", consumers.iter().map(|group| &group.name))?;
    consumers::exclusive_queues(queues, consumers)?;
    sharing::channels(publishers, consumers)?;
    let Scenario { requests, responders, churn, pollers, .. } = scenario;
    check_each("requests", requests, |at, group| rpc::requests(at, group, &context))?;
    fields::unique("requests", requests.iter().map(|group| &group.name))?;
    check_each("responders", responders, |at, group| rpc::responders(at, group, &context))?;
    fields::unique("responders", responders.iter().map(|group| &group.name))?;
    check_each("churn", churn, |at, group| churn::group(at, group, &context))?;
    fields::unique("churn", churn.iter().map(|group| &group.name))?;
    check_each("pollers", pollers, |at, group| polling::group(at, group, context.broker))?;
    fields::unique("pollers", pollers.iter().map(|group| &group.name))
}

/// Refuses messages that wait on the broker of another owner, where nothing would prove that they are the run's.
fn prefill(queues: &[QueueSpec], broker: &Broker) -> Result<(), Problem> {
    let is_own =
        matches!(broker.spec, BrokerSpec::Throwaway(_)) && !broker.spec.is_several_brokers();
    match queues.iter().position(|queue| queue.prefill > 0) {
        Some(at) if !is_own => {
            let reason = "needs a throwaway broker or cluster, which ends with the run";
            refuse_at(&["queues", &at.to_string(), "prefill"], reason)
        }
        _ => Ok(()),
    }
}

/// Refuses settings that query one broker about queues that each of several has, or that confuse one broker with
/// another.
fn fits_several_brokers(broker: &Broker, run: &RunOptions) -> Result<(), Problem> {
    let needs_one = [
        ("broker.recovery", broker.connecting.recovery.is_some()),
        // A publisher and its consumer would share a broker only by chance.
        ("broker.allocation", broker.connecting.allocation == Allocation::Random),
        ("run.verify", run.verify),
        ("run.until", run.until == Some(UntilKind::Empty)),
    ];
    match needs_one.into_iter().find(|(_, given)| *given && broker.spec.is_several_brokers()) {
        None => Ok(()),
        Some((key, _)) => refuse(
            "broker.cluster",
            format!("`false` makes several brokers, but `{key}` is for one: remove one of the two"),
        ),
    }
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
