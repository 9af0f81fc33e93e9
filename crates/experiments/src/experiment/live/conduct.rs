//! One run on one broker, with turns.

use std::{
    path::Path,
    sync::{Arc, atomic::AtomicBool},
    thread,
    time::Duration,
};

use anyhow::{Context, anyhow};
use rabbitscope_artifacts::rundir::RunDirectory;
use rabbitscope_runner::{
    leftovers::RemovalConsent,
    progress::{Line, MachineHistory, MachineWatch, Watchers},
    run::{self, EarlierRuns, Finished, Target},
};
use rabbitscope_runs::{
    experiment::{LiveDesign, RunOfArm},
    record::PatchedModule,
    scenario::{BrokerSpec, Scenario, ThrowawayBroker, WarmUp},
};

use super::{
    super::{
        Plan,
        measured::Results,
        single::{doubts, doubts_of_machine, now_unix_nanos},
    },
    switcher::{TurnWatch, switch},
    turns::{Turn, WARM_UP_SECONDS, turns},
};

/// Makes these rounds on one broker, in `place` below `directory`. Returns them with the results of the run if these
/// are complete. Fails if the load never started.
pub(in crate::experiment) fn run(
    plan: &Plan,
    (design, rounds): (LiveDesign, &[u32]),
    (directory, place): (&Path, &str),
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<(Vec<RunOfArm>, Option<Results>)> {
    let turns = turns(plan.experiment.seed, design, rounds, plan.arms.len());
    let mut scenario = scenario_of(plan, &turns);
    scenario.seed = scenario.seed.of_round(rounds.first().copied().unwrap_or(1));
    let history = MachineHistory::default();
    let started = now_unix_nanos();
    // A separate thread, because a run drops the privileges of its thread and the next run needs them.
    let run = || run_with_turns(plan, &scenario, &turns, &directory.join(place), &history, stop);
    let TurnsRun { finished, wrong, code } = thread::scope(|scope| scope.spawn(run).join())
        .unwrap_or_else(|_| Err(anyhow!("the run panicked")))?;
    let of_all = doubts(&finished.record, None, &plan.experiment.design);
    let run_of_arm = |(turn, wrong): (&Turn, Option<String>)| {
        let counted = turn.counted();
        let from = counted.from_second as usize;
        let share = history.share(from..from + counted.seconds as usize);
        let machine = doubts_of_machine(share, &plan.experiment.design);
        RunOfArm {
            round: turn.round,
            position: turn.position,
            arm: turn.arm,
            directory: place.to_owned(),
            slice: Some(counted),
            patched: code.get(turn.arm).cloned().unwrap_or_default(),
            started_unix_nanos: started + u64::from(turn.begins) * 1_000_000_000,
            values: Vec::new(),
            doubts: of_all.iter().cloned().chain(wrong).chain(machine).collect(),
            stolen_share: share.map(|share| share.stolen),
            foreign_share: share.map(|share| share.foreign),
            warm_up_nanos: 0,
        }
    };
    let runs = turns.iter().zip(wrong).map(run_of_arm).collect();
    Ok((runs, Results::from_finished(finished)))
}

/// Returns the scenario of the baseline, with the length of all turns.
fn scenario_of(plan: &Plan, turns: &[Turn]) -> Scenario {
    let mut scenario = plan.arms[0].scenario.clone();
    let end = turns.last().map_or(0, |turn| turn.begins + turn.seconds);
    scenario.run.duration = Some(Duration::from_secs(u64::from(end)));
    scenario.run.warm_up = Some(WarmUp::Time(Duration::from_secs(u64::from(WARM_UP_SECONDS))));
    scenario
}

/// Returns the broker specifications of the arms.
fn specs(plan: &Plan) -> Vec<&ThrowawayBroker> {
    let brokers = plan.arms.iter().map(|arm| &arm.scenario.broker.spec);
    let specs = brokers.filter_map(|broker| match broker {
        BrokerSpec::Throwaway(spec) => Some(spec),
        BrokerSpec::Existing { .. } => None,
    });
    specs.collect()
}

/// A run with turns.
struct TurnsRun {
    finished: Finished,
    /// Problem of each turn.
    wrong: Vec<Option<String>>,
    /// The code of each arm.
    code: Vec<Vec<PatchedModule>>,
}

fn run_with_turns(
    plan: &Plan,
    scenario: &Scenario,
    turns: &[Turn],
    place: &Path,
    history: &MachineHistory,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<TurnsRun> {
    let directory = RunDirectory::create(place)?;
    let target =
        Target::open(scenario, &directory, (RemovalConsent::default(), EarlierRuns::Remove), stop)?;
    let broker = target.throwaway.as_ref().context("the broker is not one of our own")?;
    let code = broker.prepare_code(&specs(plan))?;
    let (turn_watch, begun) = TurnWatch::new(turns);
    let watchers = Watchers::new(vec![
        Box::new(Line::default()),
        Box::new(MachineWatch::new(history.clone())),
        Box::new(turn_watch),
    ]);
    thread::scope(|scope| {
        let switching = scope.spawn(move || switch(broker, turns, begun));
        let finished = run::run_on(&target, scenario, &directory, watchers, stop);
        let wrong = switching.join().map_err(|_| anyhow!("switching the code panicked"))?;
        Ok(TurnsRun { finished: finished?, wrong, code })
    })
}
