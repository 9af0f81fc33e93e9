//! The sequence of steps in a run.

use std::{
    hash::{BuildHasher, Hasher, RandomState},
    sync::{Arc, atomic::AtomicBool},
};

use rabbitscope_amqp::Uri;
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_broker::Broker;
use rabbitscope_capture::CaptureBesideLoad;
use rabbitscope_fleet::{Controller, Resumption};
use rabbitscope_runs::{
    record::{BrokerFacts, BrokerStates},
    scenario::{Auth, BrokerSpec, Protocol, QueueSpec, QueueType, Scenario},
};
use rabbitscope_terminal::UsageError;

use super::{
    broker::{self, DeclaredSession, EarlierRuns, Target},
    nodes::NodeSum,
    pages,
    record::Finished,
    recording, results, snapshot,
    under_load::load_and_record,
};
use crate::{fleet::FleetSettings, leftovers::RemovalConsent, progress::Watchers};

/// Number of drawn seeds: nine digits are short enough to be typed again.
const SEEDS: u64 = 1_000_000_000;

/// Returns the seed of a run that has another one each time.
pub fn drawn_seed() -> u64 {
    RandomState::new().build_hasher().finish() % SEEDS
}

/// Refuses invalid scenarios as far as possible before anything is touched.
pub fn check(scenario: &Scenario) -> anyhow::Result<()> {
    match &scenario.broker.spec {
        BrokerSpec::Existing { .. } if !scenario.faults.is_empty() => {
            let reason = "`[[faults]]` need a broker that the run starts itself: remove the broker's URI, or the \
                          faults";
            Err(UsageError(reason.to_owned()).into())
        }
        BrokerSpec::Existing { uris } => {
            broker::dialer(uris, &scenario.broker.connecting, scenario.seed.number()).map(drop)
        }
        BrokerSpec::Throwaway(_) if scenario.broker.connecting.auth != Auth::Plain => {
            let reason = "a broker that is started for the run knows `auth = \"plain\"` only";
            Err(UsageError(reason.to_owned()).into())
        }
        BrokerSpec::Throwaway(spec) => Ok(Broker::check(spec)?),
    }?;
    pages::check(scenario)
}

/// Refuses a scenario whose queues would still exist, with messages, at its next run on the same broker.
pub fn check_repeated(scenario: &Scenario, asked: RemovalConsent) -> anyhow::Result<()> {
    let BrokerSpec::Existing { .. } = scenario.broker.spec else { return Ok(()) };
    let is_left = |queue: &&QueueSpec| {
        let goes_by_itself = queue.exclusive || queue.auto_delete;
        let is_meant_to_stay = queue.keep || queue.predeclared;
        queue.queue_type != QueueType::Classic && !goes_by_itself && !is_meant_to_stay
    };
    match scenario.queues.iter().find(is_left) {
        Some(queue) if !asked.is_asked => Err(UsageError(format!(
            "queue `{}` of type {} would stay on the broker after each run, with its messages: the broker would \
             delete such a queue even if another client's message arrives; give --remove-leftovers if only you use \
             it, or omit the broker's URI",
            queue.name,
            queue.queue_type.as_str()
        ))
        .into()),
        _ => Ok(()),
    }
}

/// Runs `scenario` and fills `directory`. `stop` ends the run early; recorded data is kept. Leftovers of earlier runs
/// on the same broker are removed first, as far as `asked` allows.
pub fn run(
    scenario: &Scenario,
    asked: RemovalConsent,
    directory: &RunDirectory,
    watchers: Watchers,
    fleet: Option<&FleetSettings>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Finished> {
    directory.write_scenario(scenario)?;
    let Some(settings) = fleet else {
        let target = Target::open(scenario, directory, (asked, EarlierRuns::Remove), stop)?;
        return run_on(&target, scenario, directory, watchers, stop);
    };
    let mut fleet = settings.connect()?;
    let resumption = match &scenario.broker.spec {
        BrokerSpec::Existing { .. } => fleet.find_run(&scenario.to_toml())?,
        // A throwaway broker ended together with the controller that started it.
        BrokerSpec::Throwaway(_) => None,
    };
    let earlier = if resumption.is_some() { EarlierRuns::Resume } else { EarlierRuns::Remove };
    let target = Target::open(scenario, directory, (asked, earlier), stop)?;
    let facts = rabbitscope_load::broker_facts(&target.dialer)?;
    let uris = target.uris(scenario);
    let uris: Vec<_> = uris.iter().map(|uri| Uri::parse(uri)).collect::<Result<_, _>>()?;
    fleet.refuse_broker(&facts, &uris)?;
    let with = With { fleet: Some((&mut fleet, resumption)) };
    let finished = run_with(&target, scenario, directory, watchers, with, stop)?;
    fleet.finish();
    Ok(finished)
}

/// The generators of the load, besides or instead of this process.
#[derive(Default)]
struct With<'a> {
    fleet: Option<(&'a mut Controller, Option<Resumption>)>,
}

/// Like [`run`], on a broker that outlives the run.
pub fn run_on(
    target: &Target,
    scenario: &Scenario,
    directory: &RunDirectory,
    watchers: Watchers,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Finished> {
    directory.write_scenario(scenario)?;
    run_with(target, scenario, directory, watchers, With::default(), stop)
}

fn run_with(
    target: &Target,
    scenario: &Scenario,
    directory: &RunDirectory,
    mut watchers: Watchers,
    with: With<'_>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Finished> {
    // Steps that can fail without the broker come before the first declaration.
    prepare_looking(scenario, target)?;
    let room = directory.reserve_room()?;
    let pages = pages::for_scenario(scenario, target)?;
    let capture = begin_capture(scenario, target, directory, stop)?;
    let (fleet, resumption) = with.fleet.map_or((None, None), |(fleet, of)| (Some(fleet), of));
    let mut session = DeclaredSession::open(scenario, target, resumption)?;
    // A run that never started leaves no file behind.
    let series = directory.start_series()?;
    let facts = BrokerFacts {
        pid: target.pid(),
        nodes: target.cluster_nodes(),
        throwaway: target.throwaway.is_some(),
        patched: target
            .throwaway
            .as_ref()
            .map_or_else(Vec::new, |broker| broker.patched().to_vec()),
        ..session.broker().clone()
    };
    let before = snapshot::take(target);
    let source = snapshot::source(target).to_owned();
    let states = BrokerStates { facts: facts.clone(), source, before, after: None };
    watchers.broker(&states);
    let watching = (series, pages, watchers);
    let load = load_and_record(scenario, (&mut session, fleet), target, capture, watching, stop);
    let after = snapshot::take(target);
    drop(session);
    let states = BrokerStates { after, ..states };
    let written = directory.write_broker(&states);
    let mut load = load?;
    let facts = with_usage(facts, &load.told.nodes);
    load.told.unwritten.note("broker.json", written);
    results::write(scenario, directory, facts, load, room)
}

/// Adds each cluster node's usage under load. Nodes are matched by position, because a restarted node has another pid.
fn with_usage(mut facts: BrokerFacts, used: &[(u32, NodeSum)]) -> BrokerFacts {
    for (node, (_, sum)) in facts.nodes.iter_mut().zip(used) {
        (node.cpu_nanos, node.rss_bytes) = (Some(sum.cpu_nanos), Some(sum.rss_bytes));
    }
    facts
}

/// Checks that the requested profile and packets can be recorded.
fn prepare_looking(scenario: &Scenario, target: &Target) -> anyhow::Result<()> {
    let no_local_node = |what: &str, table: &str| {
        UsageError(format!(
            "the scenario asks for {what}, but no Erlang node of this machine listens on {}; run rabbitscope on the \
             broker's machine, or remove [{table}]",
            target.uri.address()
        ))
    };
    if scenario.packets.is_some() {
        target.pid().ok_or_else(|| no_local_node("packets", "packets"))?;
    }
    let Some(spec) = &scenario.profile else { return Ok(()) };
    let pid = target.pid().ok_or_else(|| no_local_node("a profile", "profile"))?;
    Ok(recording::rehearse(pid, spec)?)
}

/// Starts the capture before the first connection.
fn begin_capture(
    scenario: &Scenario,
    target: &Target,
    directory: &RunDirectory,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Option<CaptureBesideLoad>> {
    let captured = scenario.packets.as_ref().zip(target.pid());
    let port = target.uri.port;
    let subject = match &target.cluster_nodes()[..] {
        [first, _, ..] => format!("port {port} of {}, one of several nodes under load", first.name),
        _ => format!("port {port} of the broker under load"),
    };
    let mut ports = vec![port];
    ports.extend(scenario.uses(Protocol::Stream).then_some(target.uri.stream_port));
    ports.extend(scenario.uses(Protocol::Mqtt).then_some(target.uri.mqtt_port));
    let begin = |(spec, pid)| {
        CaptureBesideLoad::start(spec, (pid, &ports, subject), directory.packet_file(), stop)
    };
    captured.map(begin).transpose()
}
