//! The order of things in a run.

use std::{
    io,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use rabbitscope_amqp::Uri;
use rabbitscope_broker::Broker;
use rabbitscope_fleet::{Controller, Resumption};
use rabbitscope_load::{BrokerOwner, CleanupJournal, OwnedTopology, Session};
use rabbitscope_runs::{
    record::BrokerFacts,
    scenario::{Auth, BrokerSpec, Scenario},
};

use rabbitscope_text::display_utc;

use super::{
    pages,
    record::Finished,
    recording, results,
    snapshot::{self, BeforeAndAfter},
    target::{self, Target},
    under_load::load_and_record,
};
use crate::{
    exit::UsageError,
    fleet::FleetSettings,
    leftovers::{self, Journal, RemovalConsent},
    output,
    packets::CaptureBesideLoad,
    rundir::RunDirectory,
    watch::Watchers,
};

/// Refuses what can be refused before anything is touched.
pub fn check(scenario: &Scenario) -> anyhow::Result<()> {
    match &scenario.broker {
        BrokerSpec::Existing { .. } if !scenario.faults.is_empty() => {
            let reason = "`[[faults]]` are done only to a broker that the run starts itself: leave out \
                          the broker's URI, or the faults";
            Err(UsageError(reason.to_owned()).into())
        }
        BrokerSpec::Existing { uris } => {
            target::dialer(uris, &scenario.connecting, scenario.seed).map(drop)
        }
        BrokerSpec::Throwaway(_) if scenario.connecting.auth != Auth::Plain => {
            let reason = "a broker that is started for the run knows `auth = \"plain\"` only";
            Err(UsageError(reason.to_owned()).into())
        }
        BrokerSpec::Throwaway(spec) => Ok(Broker::check(spec)?),
    }?;
    pages::check(scenario)
}

/// Runs `scenario` and fills `directory`. `stop` ends it early; what was recorded is kept. What runs
/// before left on the same broker is removed first, as far as `asked` allows.
pub(crate) fn run(
    scenario: &Scenario,
    asked: RemovalConsent,
    directory: &RunDirectory,
    watchers: Watchers,
    fleet: Option<&FleetSettings>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Finished> {
    directory.write_scenario(scenario)?;
    let Some(settings) = fleet else {
        let target = Target::open(scenario, directory, Some(asked), stop)?;
        return run_on(&target, scenario, directory, watchers, stop);
    };
    let mut fleet = settings.connect()?;
    let resumption = match &scenario.broker {
        BrokerSpec::Existing { .. } => fleet.find_run(&scenario.to_toml())?,
        // It has ended with the controller that had started it.
        BrokerSpec::Throwaway(_) => None,
    };
    let asked = resumption.is_none().then_some(asked);
    let target = Target::open(scenario, directory, asked, stop)?;
    let facts = rabbitscope_load::broker_facts(&target.dialer)?;
    let uris = target.uris(scenario);
    let uris: Vec<_> = uris.iter().map(|uri| Uri::parse(uri)).collect::<Result<_, _>>()?;
    fleet.refuse_broker(&facts, &uris)?;
    let with = With { fleet: Some((&mut fleet, resumption)) };
    let finished = run_with(&target, scenario, directory, watchers, with, stop)?;
    fleet.finish();
    Ok(finished)
}

/// Who puts the load on, besides or in place of this process.
#[derive(Default)]
struct With<'a> {
    fleet: Option<(&'a mut Controller, Option<Resumption>)>,
}

/// As [`run`], on a broker that outlives the run.
pub(crate) fn run_on(
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
    watchers: Watchers,
    with: With<'_>,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Finished> {
    prepare_looking(scenario, target)?;
    let capture = begin_capture(scenario, target, directory, stop)?;
    let (fleet, resumption) = with.fleet.map_or((None, None), |(fleet, of)| (Some(fleet), of));
    let mut session = open_session(scenario, target, resumption)?;
    let facts = BrokerFacts {
        pid: target.pid(),
        nodes: target.cluster_nodes(),
        throwaway: target.throwaway.is_some(),
        patched: target.throwaway.as_ref().map_or_else(Vec::new, |it| it.patched().to_vec()),
        ..session.broker().clone()
    };
    let pages = pages::of(scenario, target)?;
    let before = snapshot::take(target);
    let room = directory.reserve_room()?;
    let series = directory.start_series()?;
    let watching = (series, pages, watchers);
    let load = load_and_record(scenario, (&mut session, fleet), target, capture, watching, stop);
    let source = snapshot::source(target);
    let after = snapshot::take(target);
    close(session, target);
    let snapshots = BeforeAndAfter { facts: facts.clone(), source, before, after };
    let written = directory.write_broker(&snapshots);
    let mut load = load?;
    load.told.unwritten.note("broker.json", written);
    results::write(scenario, directory, facts, load, room)
}

/// Makes sure that what the scenario asks to be looked at can be.
fn prepare_looking(scenario: &Scenario, target: &Target) -> anyhow::Result<()> {
    let no_local_node = |what: &str, table: &str| {
        UsageError(format!(
            "the scenario asks for {what}, but no Erlang node of this machine listens on {}; run \
             rabbitscope on the broker's machine or leave out [{table}]",
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

/// Packets are looked at from the first connection on.
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
    let begin = |(spec, pid)| {
        CaptureBesideLoad::start(spec, (pid, port, subject), directory.packet_file(), stop)
    };
    captured.map(begin).transpose()
}

/// What is declared on somebody else's broker is written down first, so that it can be removed later
/// should this process be killed.
fn open_session(
    scenario: &Scenario,
    target: &Target,
    resumption: Option<Resumption>,
) -> anyhow::Result<Session> {
    if let Some(Resumption { declared, unmarked, started_unix_nanos }) = resumption {
        let began = display_utc(Duration::from_nanos(started_unix_nanos));
        output::note(&format!(
            "going on with the run that began {began}, of which the controller is gone"
        ));
        return Ok(Session::resume(scenario, &target.dialer, declared, unmarked)?);
    }
    let Some(journal) = &target.journal else {
        return Ok(Session::open(scenario, &target.dialer, BrokerOwner::Caller)?);
    };
    let entries = Entries { journal, broker: target.dialer.uri().to_string() };
    let session = Session::open(scenario, &target.dialer, BrokerOwner::SomebodyElse(&entries))?;
    if let Some(words) = session.unmarked() {
        output::note(&format!(
            "should this run be killed, what it declares cannot be removed by a later one: the user may \
             not declare exchanges and queues `rabbitscope.*` ({words})"
        ));
    }
    Ok(session)
}

/// The journal, for a run on one broker.
struct Entries<'a> {
    journal: &'a Journal,
    broker: String,
}

impl CleanupJournal for Entries<'_> {
    fn remember(&self, declaring: &OwnedTopology) -> io::Result<()> {
        let added = self.journal.add(&self.broker, declaring);
        added.map_err(|error| io::Error::other(format!("{error:#}")))
    }

    fn forget(&self, gone: &OwnedTopology) {
        self.journal.remove(&gone.token);
    }
}

/// Removes what the session declared. A throwaway broker takes it along anyway; on another it stays
/// remembered when it cannot be removed now, and the results of the run are none the worse.
fn close(session: Session, target: &Target) {
    let token = session.declared().token.clone();
    let closed = session.close();
    let Some(journal) = &target.journal else { return };
    let next = format!("`rabbitscope leftovers --remove --uri {}`", target.dialer.uri());
    match closed {
        Ok(removal) => {
            if !removal.kept.is_empty() {
                let kept = leftovers::kept(&removal.kept);
                output::note(&format!("left what this run declared and others use: {kept}"));
            }
            if removal.kept.iter().any(|kept| kept.reason.is_ours()) {
                output::note(&format!("{next} removes it once nobody uses it"));
            } else {
                journal.remove(&token);
            }
        }
        Err(error) => output::note(&format!(
            "could not remove what this run declared: {error}; {next} removes it"
        )),
    }
}
