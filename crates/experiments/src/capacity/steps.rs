//! Runs one step after the other until the limit is known.

use super::text;
use anyhow::Context;
use rabbitscope_analysis::{
    capacity::{CLEAR_STEP, Range, SearchRotation, StepTerms, judge},
    recorded_latency,
};
use rabbitscope_artifacts::{rundir::RunDirectory, salvage::Unwritten};
use rabbitscope_files::AtomicFile;
use rabbitscope_runner::{
    leftovers::RemovalConsent,
    progress::{Line, MachineHistory, MachineWatch, Watchers},
    run::{self, EarlierRuns, Finished, Target},
};
use rabbitscope_runs::{
    capacity::{Capacity, CapacityOutcome, CapacityStep, StepVerdict},
    record::{ExpectedLatency, Latency},
    scenario::{Expectation, LatencyEnds, Metric, Scenario, WarmUp},
};
use rabbitscope_terminal::output;
use rabbitscope_web::write_curve;
use std::{
    path::Path,
    sync::{
        Arc,
        atomic::{AtomicBool, Ordering},
    },
    time::Duration,
};

const RESULT: &str = "find-rate.json";

/// Size of the largest result that is read: ten thousand steps.
const MAX_RESULT_BYTES: u64 = 64 << 20;

const CURVE: &str = "find-rate.html";

/// Number of consecutive steps cut short after which a search ends.
const MAX_CUT_SHORT: usize = 3;

/// The question of a search.
#[derive(Clone, Debug)]
pub struct SearchSettings {
    /// The scenario. Its expectations are the limits; its publishers get the rate.
    pub scenario: Scenario,
    /// Consent to the removal of what earlier runs left behind.
    pub asked: RemovalConsent,
    /// Rates over all publishers.
    pub range: Range,
    /// Number of searches that take turns.
    pub searches: usize,
    /// Time left out at the start of each step.
    pub warm_up: Duration,
    /// Measured time of each step.
    pub step: Duration,
}

/// The next step.
#[derive(Clone, Copy, Debug)]
struct NextStep {
    /// Messages per second over all publishers.
    rate: f64,
    /// Measured time of the step.
    length: Duration,
    is_near_limit: bool,
}

/// Searches, and fills `directory`. `stop` ends the search early. Results so far are kept, even if a step fails or the
/// result cannot be written; that error is the second value.
pub fn find(
    question: &SearchSettings,
    directory: &RunDirectory,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<(Capacity, Option<anyhow::Error>)> {
    directory.write_scenario(&question.scenario)?;
    let target =
        Target::open(&question.scenario, directory, (question.asked, EarlierRuns::Remove), stop)?;
    let mut search = SearchRotation::new(question.range, question.searches);
    let limits = question.scenario.expect.that.iter();
    let limits = limits.map(|limit| limit_in_words(limit, &question.scenario)).collect();
    let mut capacity =
        Capacity { name: question.scenario.name.clone(), limits, ..Capacity::default() };
    let mut failure = None;
    while let Some(rate) = search.next_rate() {
        let number = capacity.steps.len() + 1;
        let name = format!("steps/{number:02}-{rate:.0}");
        let next = NextStep {
            rate,
            length: if search.needs_clear_step() {
                question.step.max(CLEAR_STEP)
            } else {
                question.step
            },
            is_near_limit: search.is_near_limit(),
        };
        let (tried, broker) = match try_rate(question, &target, next, directory.path(), &name, stop)
        {
            Ok(Some(tried)) => tried,
            Ok(None) => break,
            Err(error) if capacity.steps.is_empty() => return Err(error),
            Err(error) => {
                failure = Some(error);
                break;
            }
        };
        output::note(&text::step(&tried));
        search.record(tried.verdict);
        capacity.steps.push(tried);
        capacity.broker = broker;
        if let Some(error) = only_cut_short(&capacity.steps) {
            failure = Some(error);
            break;
        }
    }
    let is_cut_short = stop.load(Ordering::Relaxed) || failure.is_some();
    capacity.outcome = if is_cut_short { CapacityOutcome::Aborted } else { search.outcome() };
    let says_nothing =
        |verdict: StepVerdict| !verdict.is_valid() && verdict != StepVerdict::TooShort;
    capacity.not_valid = capacity.steps.iter().filter(|step| says_nothing(step.verdict)).count();
    (capacity.rate, capacity.spread) = (search.rate(), search.spread());
    capacity.searches = search.results();
    capacity.sentence = text::sentence(&capacity);
    let failure = failure.or(write(&capacity, directory.path()).error());
    Ok((capacity, failure))
}

/// Describes a limit and, for an end-to-end latency, where it ends.
fn limit_in_words(limit: &Expectation, scenario: &Scenario) -> String {
    let end = match limit.metric {
        Metric::Latency(latency, _) => LatencyEnds::from_scenario(scenario).in_words(latency),
        _ => None,
    };
    end.map_or_else(|| limit.to_string(), |end| format!("{limit} ({end})"))
}

/// Returns an error if the last steps were all cut short, as after the loss of the broker.
fn only_cut_short(steps: &[CapacityStep]) -> Option<anyhow::Error> {
    let last = steps.last_chunk::<MAX_CUT_SHORT>()?;
    let are_all = last.iter().all(|step| step.verdict == StepVerdict::CutShort);
    let [.., latest] = last;
    let reason = latest.reasons.last().map_or("", String::as_str);
    are_all.then(|| anyhow::anyhow!("{MAX_CUT_SHORT} steps in a row were cut short: {reason}"))
}

/// Runs one step; absent if the user stopped the search.
fn try_rate(
    question: &SearchSettings,
    target: &Target,
    next: NextStep,
    directory: &Path,
    name: &str,
    stop: &Arc<AtomicBool>,
) -> anyhow::Result<Option<(CapacityStep, String)>> {
    let rate = next.rate;
    let scenario = at_rate(question, next);
    let run_directory = RunDirectory::create(&directory.join(name))?;
    let history = MachineHistory::default();
    let watch = MachineWatch::new(history.clone());
    let watchers = Watchers::new(vec![Box::new(Line::default()), Box::new(watch)]);
    let finished = run::run_on(target, &scenario, &run_directory, watchers, stop)
        .with_context(|| format!("while trying {rate:.0} messages/s"))?;
    if let Some(unwritten) = finished.unwritten {
        return Err(unwritten);
    }
    if stop.load(Ordering::Relaxed) {
        return Ok(None);
    }
    let facts = &finished.record.broker;
    let broker = format!("{} {} at {}", facts.product, facts.version, facts.address);
    let stolen = history.share(0..usize::MAX).map(|share| share.stolen);
    Ok(Some((step_of(&scenario, next, &finished, stolen, name), broker)))
}

/// Reads the result of a finished search from its directory.
pub(crate) fn read(directory: &Path) -> anyhow::Result<Capacity> {
    let path = directory.join(RESULT);
    let text = rabbitscope_files::read(&path, MAX_RESULT_BYTES)
        .with_context(|| format!("cannot read {}", path.display()))?;
    serde_json::from_slice(&text).with_context(|| format!("cannot read {}", path.display()))
}

/// Gives every publisher the same constant share of the rate for the length of the step.
fn at_rate(question: &SearchSettings, next: NextStep) -> Scenario {
    let mut scenario = question.scenario.clone();
    let publishers: u32 = scenario.publishers.iter().map(|group| group.count).sum();
    let share = next.rate / f64::from(publishers.max(1));
    for group in &mut scenario.publishers {
        group.publish_steadily(share);
        group.messages = None;
    }
    for group in &mut scenario.consumers {
        group.messages = None;
    }
    scenario.run.warm_up =
        Some(WarmUp::Time(question.warm_up)).filter(|_| !question.warm_up.is_zero());
    scenario.run.duration = Some(question.warm_up + next.length);
    scenario.profile = None;
    scenario.run.stop_on_failure = false;
    scenario
}

/// Judges a finished step. `stolen` is the share of the machine's CPU time that its host took.
fn step_of(
    scenario: &Scenario,
    next: NextStep,
    finished: &Finished,
    stolen: Option<f64>,
    name: &str,
) -> CapacityStep {
    let (record, limits) = (&finished.record, &scenario.expect.that);
    let terms = StepTerms {
        offered: next.rate,
        limits,
        has_consumers: !scenario.consumers.is_empty(),
        stolen,
        is_near_limit: next.is_near_limit,
    };
    let observed = judge(&terms, record, &finished.series);
    let wanted = limits.iter().find_map(|expectation| match expectation.metric {
        Metric::Latency(latency, _) => Some(latency),
        _ => None,
    });
    let wanted = wanted.unwrap_or(ExpectedLatency::ConfirmIntended);
    let latency = recorded_latency(record, wanted);
    let percentiles =
        latency.and_then(|latency| record.latency(latency)).map(|found| found.percentiles);
    CapacityStep {
        offered: observed.offered,
        achieved: observed.achieved,
        seconds: record.measured.duration_nanos as f64 / 1e9,
        latency: latency.map_or(wanted.name(), Latency::name).to_owned(),
        p50: percentiles.map(|found| found.p50),
        p99: percentiles.map(|found| found.p99),
        p999: percentiles.map(|found| found.p999),
        backlog_growth: observed.backlog_growth,
        verdict: observed.verdict,
        reasons: observed.reasons,
        directory: name.to_owned(),
    }
}

fn write(capacity: &Capacity, directory: &Path) -> Unwritten {
    let mut unwritten = Unwritten::default();
    let (result, curve) = (directory.join(RESULT), directory.join(CURVE));
    let json = serde_json::to_vec_pretty(capacity).map(|json| [json.as_slice(), b"\n"].concat());
    let json = json.map_err(anyhow::Error::from);
    let json = json.and_then(|json| Ok(rabbitscope_files::write(&result, &json)?));
    unwritten.note(&result.display().to_string(), json);
    let page = AtomicFile::create(&curve).map_err(anyhow::Error::from).and_then(|mut page| {
        write_curve(page.writer(), capacity)?;
        Ok(page.commit()?)
    });
    unwritten.note(&curve.display().to_string(), page);
    unwritten
}
