//! The order of things in a run.

use std::{
    path::PathBuf,
    sync::{Arc, atomic::AtomicBool},
};

use rabbitscope_data::{
    run::{BrokerFacts, FORMAT_VERSION, Loss, ProfileFacts, RunRecord, SecondRow},
    scenario::{Auth, BrokerSpec, Scenario},
};
use rabbitscope_load::{LoadOutcome, PollOutcome, Session};

use super::{
    judgement::judged,
    leftovers::Ledger,
    pages,
    recording::{self, Recorded},
    snapshot::{self, BeforeAndAfter},
    target::{self, Target},
    under_load::{UnderLoad, load_and_record},
};
use crate::{exit::UsageError, machine, output, rundir::RunDirectory, watch::Watchers};

/// A run that has ended, one way or the other.
#[derive(Debug)]
pub struct Finished {
    /// Contents of `run.json`.
    pub record: RunRecord,
    /// The seconds.
    pub series: Vec<SecondRow>,
    /// The profile, when one was taken.
    pub profile: Option<rabbitscope_data::profile::Profile>,
    /// Where the report is.
    pub report: PathBuf,
}

/// Refuses what can be refused before anything is touched.
pub fn check(scenario: &Scenario) -> anyhow::Result<()> {
    rabbitscope_load::check_files(scenario).map_err(|error| UsageError(error.to_string()))?;
    match &scenario.broker {
        BrokerSpec::Existing { uris } => target::dialer(uris, scenario).map(drop),
        BrokerSpec::Throwaway(_) if scenario.connecting.auth != Auth::Plain => {
            let reason = "a broker that is started for the run knows `auth = \"plain\"` only";
            Err(UsageError(reason.to_owned()).into())
        }
        BrokerSpec::Throwaway(_) => Ok(()),
    }?;
    pages::check(scenario)
}

/// Runs `scenario` and fills `directory`. `stop` ends it early; what was recorded is kept.
pub fn run(
    scenario: &Scenario,
    directory: &RunDirectory,
    watchers: Watchers,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Finished> {
    directory.write_scenario(scenario)?;
    let target = Target::open(scenario, directory, stop)?;
    run_on(&target, scenario, directory, watchers, stop)
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
    prepare_profile(scenario, target)?;
    let ledger = target.throwaway.is_none().then(|| Ledger::open(&target.uri)).transpose()?;
    let mut session = open_session(scenario, target, ledger.as_ref())?;
    let facts = BrokerFacts {
        pid: target.pid,
        throwaway: target.throwaway.is_some(),
        ..session.broker().clone()
    };
    let pages = pages::of(scenario, target)?;
    let before = snapshot::take(target);
    let series = directory.start_series()?;
    let load = load_and_record(scenario, &mut session, target, (series, pages, watchers), stop);
    let source = snapshot::source(target);
    let after = snapshot::take(target);
    close(session, ledger.as_ref());
    directory.write_broker(&BeforeAndAfter { facts: facts.clone(), source, before, after })?;
    write_results(scenario, directory, facts, load?)
}

/// Makes sure that the profile that the scenario asks for can be taken.
fn prepare_profile(scenario: &Scenario, target: &Target) -> anyhow::Result<()> {
    let Some(spec) = &scenario.profile else { return Ok(()) };
    let pid = target.pid.ok_or_else(|| no_local_node(target))?;
    Ok(recording::rehearse(pid, spec)?)
}

fn no_local_node(target: &Target) -> UsageError {
    UsageError(format!(
        "the scenario asks for a profile, but no Erlang node of this machine listens on {}; run \
         rabbitscope on the broker's machine or leave out [profile]",
        target.uri.address()
    ))
}

/// Queues on somebody else's broker are remembered, so that they can be removed later should this
/// process be killed.
fn open_session(
    scenario: &Scenario,
    target: &Target,
    ledger: Option<&Ledger>,
) -> anyhow::Result<Session> {
    let Some(ledger) = ledger else {
        return Ok(Session::open(scenario, &target.dialer, &mut |_| {})?);
    };
    let removed = ledger.pay_debts(&target.dialer)?;
    if !removed.is_empty() {
        let names = removed.join(", ");
        output::note(&format!("removed what an interrupted run had left behind: {names}"));
    }
    let mut remembered = Ok(());
    let session = Session::open(scenario, &target.dialer, &mut |belongings| {
        remembered = ledger.remember(belongings);
    });
    remembered?;
    Ok(session?)
}

/// Removes what the session declared. A throwaway broker takes it along anyway; on another it stays
/// remembered when it cannot be removed now, and the results of the run are none the worse.
fn close(session: Session, ledger: Option<&Ledger>) {
    let closed = session.close();
    let Some(ledger) = ledger else { return };
    match closed {
        Ok(()) => ledger.forget(),
        Err(error) => output::note(&format!(
            "could not remove the queues of this run: {error}; the next run against this broker \
             removes them"
        )),
    }
}

/// Everything that was recorded is written before a failure of the profile is reported.
fn write_results(
    scenario: &Scenario,
    directory: &RunDirectory,
    broker: BrokerFacts,
    load: UnderLoad,
) -> anyhow::Result<Finished> {
    for latency in load.outcome.latencies.iter().chain(&load.polls.latencies) {
        directory.write_latency(latency)?;
    }
    let (recorded, failure) = match load.recorded.transpose() {
        Ok(recorded) => (recorded, None),
        Err(failure) => (None, Some(failure)),
    };
    let profile = recorded.as_ref().map(|it| profile_facts(directory, it)).transpose()?;
    let trace = directory.write_trace(&load.outcome.trace)?;
    let record =
        RunRecord { trace, ..record_of(scenario, broker, (load.outcome, load.polls), profile)? };
    let record = judged(record, load.series.rows(), scenario);
    directory.write_record(&record)?;
    let report = directory.write_report()?;
    if let Some(failure) = failure {
        return Err(failure.into());
    }
    let profile = recorded.map(|recorded| recorded.profile);
    Ok(Finished { record, series: load.series.rows().to_vec(), profile, report })
}

fn profile_facts(directory: &RunDirectory, recorded: &Recorded) -> anyhow::Result<ProfileFacts> {
    let Recorded { profile, offset } = recorded;
    Ok(ProfileFacts {
        event: profile.event.name().to_owned(),
        file: directory.write_profile(profile)?,
        offset_nanos: u64::try_from(offset.as_nanos()).unwrap_or(u64::MAX),
        capture: profile.capture.clone(),
        quality: profile.quality,
    })
}

fn record_of(
    scenario: &Scenario,
    broker: BrokerFacts,
    (outcome, polls): (LoadOutcome, PollOutcome),
    profile: Option<ProfileFacts>,
) -> anyhow::Result<RunRecord> {
    let mut losses = outcome.losses;
    losses.extend(polls.losses);
    let latencies = outcome.latencies.into_iter().chain(polls.latencies);
    losses.extend(profile.as_ref().and_then(lost_samples));
    Ok(RunRecord {
        format_version: FORMAT_VERSION,
        rabbitscope: env!("CARGO_PKG_VERSION").to_owned(),
        name: scenario.name.clone(),
        description: scenario.description.clone(),
        started_unix_nanos: outcome.started_unix_nanos,
        duration_nanos: u64::try_from(outcome.duration.as_nanos()).unwrap_or(u64::MAX),
        scenario: toml::from_str(&scenario.to_toml())?,
        machine: machine::machine_facts(),
        broker,
        load: outcome.totals,
        measured: outcome.measured,
        latencies: latencies.map(|latency| latency.summary).collect(),
        polls: polls.totals,
        profile,
        losses,
        verdict: outcome.verdict,
        doubts: outcome.doubts,
        client: outcome.client,
        steadiness: None,
        verification: outcome.verification,
        expectations: Vec::new(),
        trace: None,
    })
}

fn lost_samples(profile: &ProfileFacts) -> Option<Loss> {
    let quality = &profile.quality;
    (quality.lost > 0).then(|| Loss {
        what: "profile samples".to_owned(),
        count: quality.lost,
        of: quality.lost + quality.recorded(),
        meaning: "shares in the profile leave these moments out".to_owned(),
    })
}
