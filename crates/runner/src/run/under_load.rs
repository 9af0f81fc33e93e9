//! The time under load: the load itself, its seconds, and the profile on a separate thread. Packets are captured beside
//! it.

use std::{
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
        mpsc,
    },
    thread,
    time::{Duration, Instant},
};

use rabbitscope_artifacts::rundir::SeriesFile;
use rabbitscope_capture::{CaptureBesideLoad, CapturedPackets};
use rabbitscope_erlang::ConnectOptions;
use rabbitscope_fleet::{Controller, FleetTarget};
use rabbitscope_load::Session;
use rabbitscope_measurements::{LoadOutcome, Progress};
use rabbitscope_polling::Page;
use rabbitscope_probe::ProbeError;
use rabbitscope_runs::{
    record::{FaultRecord, FleetFacts, ReplicaSnapshot},
    scenario::{ProfileSpec, Scenario},
};
use rabbitscope_topology::QueueDepths;

use super::{
    broker::Target,
    faults::{NodesUnderLoad, StartedFaults},
    nodes::{LatestFigures, NodesUsage},
    recording::{self, RecordedProfiles},
    seconds::{RecordedSeconds, Seconds},
};
use rabbitscope_inside::{InsideError, local_node};

use crate::progress::{Watchers, WindowSink};

/// The results of the time under load.
pub(super) struct UnderLoad {
    pub(super) outcome: LoadOutcome,
    pub(super) fleet: Option<FleetFacts>,
    pub(super) recorded: Option<Result<RecordedProfiles, ProbeError>>,
    pub(super) captured: Option<anyhow::Result<CapturedPackets>>,
    pub(super) told: RecordedSeconds,
    /// Faults in the order of their due times.
    pub(super) faults: Vec<FaultRecord>,
    pub(super) replicas: Vec<ReplicaSnapshot>,
}

/// Generates the load, and passes its reports to the series and to the watchers.
pub(super) fn load_and_record(
    scenario: &Scenario,
    (session, fleet): (&mut Session, Option<&mut Controller>),
    target: &Target,
    mut capture: Option<CaptureBesideLoad>,
    (series, pages, watchers): (SeriesFile, Vec<Page>, Watchers),
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<UnderLoad> {
    let (started, load_started) = mpsc::channel();
    let load_ended = AtomicBool::new(false);
    let nodes = NodesUnderLoad::new(scenario, target.control());
    nodes.note_replicas(0, "load begins");
    thread::scope(|scope| {
        let load_ended = &load_ended;
        let recording = scenario.profile.as_ref().zip(target.pid()).map(|(spec, pid)| {
            let throwaway = target.throwaway.as_ref();
            let windows = watchers.windows();
            let record = move || {
                let node = local_node(pid, throwaway);
                record((pid, spec), node, windows, (&load_started, load_ended), stop)
            };
            thread::Builder::new().name("recorder".to_owned()).spawn_scoped(scope, record)
        });
        let recording = recording.transpose()?;
        let (inside, read_when) = LatestFigures::start(scope, target, load_ended)?;
        // The recorder keeps its privileges, and the reader of the node those that prove the node. This thread and the
        // threads that it starts later have none.
        rabbitscope_probe::drop_privileges()?;
        let usage = NodesUsage::start(target);
        let mut seconds = Seconds::new((usage, inside), series, pages, watchers, Arc::clone(stop));
        seconds.tell_start(started);
        if let Some(told) = read_when {
            seconds.tell_start(told);
        }
        let mut faults = nodes.start_faults(scope, (load_ended, stop.as_ref()))?;
        faults
            .as_mut()
            .and_then(StartedFaults::load_started)
            .into_iter()
            .for_each(|told| seconds.tell_start(told));
        if let Some(capture) = &mut capture {
            capture.load_started().into_iter().for_each(|told| seconds.tell_start(told));
        }
        seconds.stop_on_failure_of(scenario);
        if scenario.run.queue_depths {
            seconds.ask_depths(QueueDepths::watch(scenario, &target.dialer)?);
        }
        let take = &mut |progress: Progress<'_>| seconds.take(progress);
        let (outcome, fleet) = match fleet {
            None => (session.run(take, stop).map_err(anyhow::Error::from), None),
            Some(fleet) => {
                let outcome = run_fleet(fleet, session, (scenario, target), take, stop);
                (outcome, Some(fleet.facts()))
            }
        };
        load_ended.store(true, Ordering::Relaxed);
        let told = seconds.finish();
        let recorded = recording.and_then(|thread| thread.join().expect("recording panicked"));
        let captured = capture.map(CaptureBesideLoad::finish);
        let faults = faults.map(StartedFaults::finish).unwrap_or_default();
        let outcome = outcome?;
        nodes.note_replicas(whole_nanos(outcome.duration), "load ended");
        let replicas = nodes.take_replicas();
        Ok(UnderLoad { outcome, fleet, recorded, captured, told, faults, replicas })
    })
}

/// Lets workers generate the load.
fn run_fleet(
    fleet: &mut Controller,
    session: &mut Session,
    (scenario, target): (&Scenario, &Target),
    progress: &mut dyn FnMut(Progress<'_>),
    stop: &AtomicBool,
) -> anyhow::Result<LoadOutcome> {
    let token = session.declared().token.clone();
    let target = FleetTarget {
        scenario: &scenario.to_toml(),
        name: &scenario.name,
        uris: &target.uris(scenario),
        token: &token,
    };
    Ok(fleet.run(session, &target, progress, stop)?)
}

fn whole_nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

/// Records, and ends the load if that fails. A run without its profile would waste the user's time.
fn record(
    (pid, spec): (u32, &ProfileSpec),
    node: Result<ConnectOptions, InsideError>,
    windows: Option<WindowSink>,
    (load_started, load_ended): (&mpsc::Receiver<Instant>, &AtomicBool),
    stop: &AtomicBool,
) -> Option<Result<RecordedProfiles, ProbeError>> {
    let recorded = recording::record((pid, spec), node, windows, (load_started, load_ended), stop)?;
    if recorded.is_err() {
        stop.store(true, Ordering::Relaxed);
    }
    Some(recorded)
}
