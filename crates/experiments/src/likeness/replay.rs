//! The run of a scenario with its packets, and its measurements.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    time::Duration,
};

use anyhow::Context;
use rabbitscope_analysis::owners_of_samples;
use rabbitscope_artifacts::rundir::{RunDirectory, read_broker};
use rabbitscope_capture::read_listening;
use rabbitscope_profiles::{Event, Profile};
use rabbitscope_runner::{
    leftovers::RemovalConsent,
    progress::{Line, Watchers},
    run::{self, Finished},
};
use rabbitscope_runs::{
    record::{BrokerState, BrokerStates, Verdict},
    scenario::{BrokerSpec, PacketsSpec, ProfileEvents, ProfileSpec, Scenario},
};
use rabbitscope_terminal::UsageError;
use rabbitscope_wire::analyzer::AnalyzerOptions;
use rabbitscope_workload::{Measurements, NodeFacts, Observer, ProfileShares};

/// Shortest and longest run. Connections are made in its first moments.
const SECONDS_MIN: f64 = 5.0;
const SECONDS_MAX: f64 = 86_400.0;

/// Time in which clients connect, which the profile leaves out.
const PROFILE_DELAY: Duration = Duration::from_secs(1);

/// A finished run with its measurements.
#[derive(Debug)]
pub struct Replayed {
    /// The measurements of the groups of the source.
    pub measured: Measurements,
    /// Reasons to doubt the run, as it says itself.
    pub doubts: Vec<String>,
}

/// Returns the scenario as it is run for a comparison: on a throwaway broker, as long as the source was observed, with
/// its packets, with a profile like the source's if it is wanted, and with nothing else that costs time.
pub fn check(
    mut scenario: Scenario,
    source: &Measurements,
    is_profiled: bool,
) -> anyhow::Result<Scenario> {
    if let BrokerSpec::Existing { .. } = scenario.broker.spec {
        let reason =
            "the comparison runs the scenario on a throwaway broker: remove the broker's URI";
        return Err(UsageError(reason.to_owned()).into());
    }
    let duration = Duration::from_secs_f64(source.seconds().clamp(SECONDS_MIN, SECONDS_MAX));
    scenario.run.duration = Some(duration);
    scenario.run.queue_depths = false;
    scenario.seed = scenario.seed.or_drawn(run::drawn_seed());
    scenario.packets = Some(PacketsSpec { duration, save: true });
    scenario.profile = is_profiled.then(|| ProfileSpec {
        event: ProfileEvents::default(),
        delay: PROFILE_DELAY,
        duration: duration.saturating_sub(PROFILE_DELAY),
        freq_hz: ProfileShares::FREQUENCY_HZ,
    });
    run::check(&scenario)?;
    Ok(scenario)
}

/// Runs a checked scenario into a directory, and measures the groups of its source.
pub fn replay(
    scenario: &Scenario,
    source: &Measurements,
    directory: &RunDirectory,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Replayed> {
    let watchers = Watchers::new(vec![Box::new(Line::default())]);
    let consent = RemovalConsent::default();
    let finished = run::run(scenario, consent, directory, watchers, None, stop)?;
    if let Verdict::Aborted { reason } | Verdict::Failed { reason } = &finished.record.verdict {
        anyhow::bail!("the run is incomplete: {reason}");
    }
    let mut measured = measured(&finished, (scenario, source), &directory.packet_file())?;
    measured.add_profile(finished.profiles.iter().find_map(shares));
    measured.add_node(node(&finished, read_broker(directory.path())?));
    let doubts = finished.record.doubts.into_iter().map(|doubt| doubt.reason).collect();
    Ok(Replayed { measured, doubts })
}

/// Returns the shares of a profile of CPU time.
fn shares(profile: &Profile) -> Option<ProfileShares> {
    let mut shares = ProfileShares::default();
    for (function, samples) in owners_of_samples(profile) {
        shares.add(function, 0, samples);
    }
    (profile.event == Event::Cpu).then_some(shares)
}

/// Returns version and settings of the run's broker.
fn node(finished: &Finished, states: Option<BrokerStates>) -> Option<NodeFacts> {
    let states = states?;
    let state = states.before.as_ref().and_then(BrokerState::read)?;
    let version = &finished.record.broker.version;
    Some(NodeFacts::new(version, state.otp.trim_matches('"'), &state.environment))
}

fn measured(
    finished: &Finished,
    (scenario, source): (&Scenario, &Measurements),
    file: &Path,
) -> anyhow::Result<Measurements> {
    let options = AnalyzerOptions { max_rows: 0, ..AnalyzerOptions::new("the run".to_owned()) };
    let (report, observer) = read_listening(file, options, Observer::default())
        .context("the run has no packets, which the comparison needs")?;
    let mut measured = Measurements::from_run(&observer.finish(), source, scenario);
    let packets = report.capture.as_ref().map(|capture| capture.packets);
    // A row is a second, so that cores are CPU seconds.
    let cpu: Option<Vec<f64>> = finished.series.iter().map(|row| row.broker_cpu_cores).collect();
    measured.add_costs(packets, cpu.unwrap_or_default());
    let loaded = finished.series.iter().filter(|row| !row.draining);
    measured.add_depths(loaded.filter_map(|row| row.node.as_ref()?.ready).collect());
    Ok(measured)
}
