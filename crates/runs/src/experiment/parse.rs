//! Parser of the experiment file.

use std::{num::NonZeroUsize, time::Duration};

use rabbitscope_text::parse_duration;
use toml::Value;

use super::{
    Arm, CapacityDesign, Design, Experiment, Known, KnownExpectation, LiveDesign, RunMetric,
    SweepAxis, sweep::cells, wire,
};
use crate::scenario::{Document, Problem, ScenarioError, read_table, refuse};

/// Minimum number of rounds with which the test can call anything significant at 5 %.
const MIN_ROUNDS: u32 = 6;

/// Default number of rounds: ±3 % on a shared machine.
const USUAL_ROUNDS: u32 = 20;

/// Maximum number of rounds: weeks.
const MAX_ROUNDS: u32 = 10_000;

/// Default length of an arm's turn on a running broker.
const USUAL_SLICE: Duration = Duration::from_secs(5);

/// Default number of brokers over which the rounds of a live experiment are spread.
const USUAL_BROKERS: u32 = 3;

/// Suffix of the name of a second baseline.
const CONTROL: &str = "again";

/// Returns `classic-confirm` for `scenarios/classic-confirm.toml`.
fn stem(file: &str) -> &str {
    let name = file.rsplit('/').next().unwrap_or(file);
    name.strip_suffix(".toml").unwrap_or(name)
}

/// Describes a sweep: `consumers.0.prefetch: 1, 10, 100; queues.0.type: classic, quorum`.
fn swept(axes: &[SweepAxis]) -> String {
    let in_words =
        |axis: &SweepAxis| format!("{}: {}", axis.key, axis.values.join(", ").replace('"', ""));
    axes.iter().map(in_words).collect::<Vec<_>>().join("; ")
}

/// Reads an experiment from TOML. `file` is only used in messages. `overrides` have the syntax of scenarios.
pub fn parse(text: &str, file: &str, overrides: &[String]) -> Result<Experiment, ScenarioError> {
    let document = Document::parse(text, overrides).map_err(|problem| problem.in_file(file))?;
    let experiment =
        read_table::<wire::Experiment>(document.root()).and_then(Experiment::from_wire);
    experiment.map_err(|problem| document.locate(problem).in_file(file))
}

impl Experiment {
    /// Creates a sweep from the command line. The error names the key and the allowed values.
    pub fn of_sweep(
        base: &str,
        axes: Vec<SweepAxis>,
        metrics: Vec<RunMetric>,
        (seed, rounds): (u64, u32),
    ) -> Result<Self, String> {
        let arms = cells(&axes)?;
        Ok(Self {
            name: format!("sweep of {}", stem(base)),
            description: swept(&axes),
            seed,
            base: base.to_owned(),
            metrics,
            design: Design::of_rounds(rounds),
            arms,
            axes,
            known: None,
        })
    }

    /// Creates an experiment from two arms of the command line, plus the first arm again as the control.
    pub fn of_pair(pair: [Arm; 2], metrics: Vec<RunMetric>, (seed, rounds): (u64, u32)) -> Self {
        Self {
            name: "compare".to_owned(),
            description: String::new(),
            seed,
            base: String::new(),
            metrics,
            design: Design::of_rounds(rounds),
            arms: with_control(pair.into(), true),
            axes: Vec::new(),
            known: None,
        }
    }

    fn from_wire(wire: wire::Experiment) -> Result<Self, Problem> {
        let metrics = metrics(&wire.primary, &wire.secondary)?;
        let (arms, axes) = match (wire.arms.is_empty(), wire.sweep.is_empty()) {
            (true, false) => sweep(wire.sweep)?,
            (false, true) => (arms(wire.arms)?, Vec::new()),
            (true, true) => return refuse("arms", "is missing: two arms or more, or a `sweep`"),
            (false, false) => return refuse("sweep", "cannot stand beside `arms`"),
        };
        let is_sweep = !axes.is_empty();
        let of_search = metrics.contains(&RunMetric::Capacity);
        let is_search = wire.design.as_ref().is_some_and(|design| design.capacity.is_some());
        if (of_search || is_search) && !(is_search && metrics == [RunMetric::Capacity]) {
            return refuse(
                "primary",
                "is `capacity.rate` and the only metric where `design.capacity` is set, and only there",
            );
        }
        let design = wire.design.unwrap_or_default();
        let has_control = design.control.unwrap_or(!is_sweep);
        let design = Design::from_wire(design).map_err(|problem| problem.under("design"))?;
        let known = wire.known.map(|known| Known::from_wire(known, &arms)).transpose();
        let known = known.map_err(|problem| problem.under("known"))?;
        Ok(Self {
            name: name(wire.name)?,
            description: wire.description.unwrap_or_default(),
            seed: wire.seed.unwrap_or(1),
            base: wire.base,
            metrics,
            design,
            arms: with_control(arms, has_control),
            axes,
            known,
        })
    }
}

/// Checks a name, which becomes part of a directory's name.
fn name(name: String) -> Result<String, Problem> {
    let is_plain = |c: char| c.is_ascii_alphanumeric() || "-_.".contains(c);
    if name.is_empty() || name.starts_with('.') || !name.chars().all(is_plain) {
        return refuse("name", "must be letters, digits, `-`, `_` and `.`");
    }
    Ok(name)
}

fn metrics(primary: &str, secondary: &[String]) -> Result<Vec<RunMetric>, Problem> {
    let parsed = |name: &str| RunMetric::parse(name).map_err(Problem::new);
    let mut metrics = vec![parsed(primary).map_err(|problem| problem.under("primary"))?];
    for (at, name) in secondary.iter().enumerate() {
        let under = |problem: Problem| problem.under(at.to_string()).under("secondary");
        let metric = parsed(name).map_err(under)?;
        if metrics.contains(&metric) {
            return Err(under(Problem::new("is there already")));
        }
        metrics.push(metric);
    }
    Ok(metrics)
}

fn sweep(axes: Vec<wire::Axis>) -> Result<(Vec<Arm>, Vec<SweepAxis>), Problem> {
    if axes.len() > 2 {
        return refuse("sweep", "has more than two keys: a picture shows two");
    }
    let axis_of = |(at, written): (usize, wire::Axis)| {
        let values = SweepAxis::from_value(written.set, &written.values).map_err(Problem::new);
        values.map_err(|problem| problem.under("values").under(at.to_string()).under("sweep"))
    };
    let axes: Vec<SweepAxis> =
        axes.into_iter().enumerate().map(axis_of).collect::<Result<_, _>>()?;
    if axes.len() == 2 && axes[0].key == axes[1].key {
        return refuse("sweep", "has the same key twice");
    }
    let arms = cells(&axes).map_err(|reason| Problem::new(reason).under("sweep"))?;
    Ok((arms, axes))
}

fn arms(arms: Vec<wire::Arm>) -> Result<Vec<Arm>, Problem> {
    if arms.len() < 2 {
        return refuse("arms", "needs two or more: the first is the baseline of the others");
    }
    let mut valid: Vec<Arm> = Vec::new();
    for (at, wire) in arms.into_iter().enumerate() {
        let under = |problem: Problem| problem.under(at.to_string()).under("arms");
        let arm = arm(wire).map_err(under)?;
        if valid.iter().any(|other| other.name == arm.name) {
            return Err(under(Problem::new("is there already").under("name")));
        }
        // The first arm may be the changed one.
        if valid.first().is_some_and(changes_nothing) && changes_nothing(&arm) {
            return Err(under(Problem::new(
                "changes nothing; `design.control` compares the first arm with itself",
            )));
        }
        valid.push(arm);
    }
    Ok(valid)
}

/// Returns whether the arm equals the base scenario.
fn changes_nothing(arm: &Arm) -> bool {
    arm.scenario.is_none() && arm.overrides.is_empty() && arm.files.is_empty()
}

fn arm(wire: wire::Arm) -> Result<Arm, Problem> {
    let name = name(wire.name)?;
    let mut overrides = Vec::new();
    for (key, text) in [
        ("config", wire.config),
        ("advanced-config", wire.advanced_config),
        ("erl-args", wire.erl_args),
        ("root", wire.root),
    ] {
        overrides.extend(text.map(|text| format!("broker.{key}={}", Value::String(text))));
    }
    overrides.extend(wire.plugins.map(|names| format!("broker.plugins={}", Value::from(names))));
    overrides.extend(wire.policies.map(|policies| format!("broker.policies={policies}")));
    overrides.extend(wire.parameters.map(|parameters| format!("broker.parameters={parameters}")));
    if let Some(environment) = &wire.environment {
        flatten("broker.environment", environment, &mut overrides);
    }
    match wire.set {
        None => {}
        Some(Value::Table(table)) => flatten("", &Value::Table(table), &mut overrides),
        Some(Value::Array(lines)) => overrides.extend(lines_of(&lines)?),
        Some(_) => {
            return refuse("set", "must be a table of keys and values, or a list of `key=value`");
        }
    }
    let files = [("broker.patches", wire.patches), ("broker.modules", wire.modules)];
    let files = files.into_iter().filter_map(|(key, paths)| Some((key, paths?))).collect();
    Ok(Arm { name, scenario: wire.scenario, overrides, files, ..Arm::default() })
}

fn lines_of(lines: &[Value]) -> Result<Vec<String>, Problem> {
    let line = |(at, line): (usize, &Value)| match line.as_str().filter(|text| text.contains('=')) {
        Some(line) => Ok(line.to_owned()),
        None => Err(Problem::new("must be a text such as \"publishers.0.rate=5000\"")
            .under(at.to_string())
            .under("set")),
    };
    lines.iter().enumerate().map(line).collect()
}

/// Turns tables into dotted keys.
fn flatten(prefix: &str, value: &Value, lines: &mut Vec<String>) {
    let Value::Table(table) = value else {
        lines.push(format!("{prefix}={value}"));
        return;
    };
    for (key, value) in table {
        let path = if prefix.is_empty() { key.clone() } else { format!("{prefix}.{key}") };
        flatten(&path, value, lines);
    }
}

/// Adds the baseline again, at the end.
fn with_control(mut arms: Vec<Arm>, has_control: bool) -> Vec<Arm> {
    if has_control {
        let name = format!("{}-{CONTROL}", arms[0].name);
        arms.push(Arm { name, control: true, ..arms[0].clone() });
    }
    arms
}

impl Design {
    fn from_wire(wire: wire::Design) -> Result<Self, Problem> {
        let rounds = wire.rounds.unwrap_or(USUAL_ROUNDS);
        if !(MIN_ROUNDS..=MAX_ROUNDS).contains(&rounds) {
            let reason = format!(
                "must be {MIN_ROUNDS} to {MAX_ROUNDS}: with fewer than {MIN_ROUNDS} no difference can be shown"
            );
            return refuse("rounds", reason);
        }
        let looks = wire.looks.unwrap_or_else(|| vec![rounds]);
        let is_ascending = looks.windows(2).all(|pair| pair[0] < pair[1]);
        if !is_ascending || looks.first() < Some(&MIN_ROUNDS) || looks.last() != Some(&rounds) {
            let reason =
                format!("must ascend from {MIN_ROUNDS} or more to `rounds`, which is {rounds}");
            return refuse("looks", reason);
        }
        if wire.live.is_some() && wire.capacity.is_some() {
            return refuse(
                "live",
                "cannot stand beside `capacity`: a search varies the load of a whole run",
            );
        }
        if wire.live.is_some() && looks.len() > 1 {
            return refuse(
                "looks",
                "cannot be several beside `live`: rounds on one broker are made together",
            );
        }
        if wire.live.is_some() && wire.anchor.is_some() {
            return refuse("anchor", "cannot stand beside `live`: turns are too short to drift");
        }
        let share_of = |key, text: Option<String>| text.map(|text| share(key, &text)).transpose();
        let usual = Self::of_rounds(rounds);
        Ok(Self {
            looks,
            indifferent: share_of("indifferent", wire.indifferent)?,
            capacity: wire
                .capacity
                .map(capacity)
                .transpose()
                .map_err(|problem| problem.under("capacity"))?,
            live: wire.live.map(live).transpose().map_err(|problem| problem.under("live"))?,
            anchor_every: wire.anchor.map(anchor).transpose()?,
            max_stolen: share_of("max-stolen", wire.max_stolen)?.unwrap_or(usual.max_stolen),
            max_others: share_of("max-others", wire.max_others)?.unwrap_or(usual.max_others),
            ..usual
        })
    }
}

fn anchor(every: usize) -> Result<NonZeroUsize, Problem> {
    let problem = || Problem::new("must be 1 or more runs from one anchor to the next");
    NonZeroUsize::new(every).ok_or_else(|| problem().under("anchor"))
}

fn capacity(wire: wire::Capacity) -> Result<CapacityDesign, Problem> {
    if wire.limits.is_empty() {
        return refuse("limits", "must list limits, such as [\"confirm.p99 < 20ms\"]");
    }
    let usual = CapacityDesign::within(wire.limits);
    let time = |key: &'static str, text: Option<String>, usual: Duration| {
        let time = text.map_or(Ok(usual), |text| parse_duration(&text));
        time.map_err(|error| Problem::new(error.to_string()).under(key))
    };
    let (min, max) = (wire.min.unwrap_or(usual.min), wire.max.unwrap_or(usual.max));
    if !(min >= 1.0 && max > min && max <= 1e7) {
        return refuse("min", "must be 1 or more, and `max` above it, 10000000 at most");
    }
    let step = time("step", wire.step, usual.step)?;
    if step < Duration::from_secs(3) {
        return refuse("step", "must be 3s or longer, to see whether messages pile up");
    }
    let crossings = wire.crossings.unwrap_or(usual.crossings);
    if !(1..=100).contains(&crossings) {
        return refuse("crossings", "must be 1 to 100");
    }
    let warm_up = time("warm-up", wire.warm_up, usual.warm_up)?;
    Ok(CapacityDesign { min, max, step, warm_up, crossings, ..usual })
}

fn live(wire: wire::Live) -> Result<LiveDesign, Problem> {
    let slice = wire.slice.map_or(Ok(USUAL_SLICE), |text| parse_duration(&text));
    let slice = slice.map_err(|error| Problem::new(error.to_string()).under("slice"))?;
    let seconds = u32::try_from(slice.as_secs()).unwrap_or(u32::MAX);
    if slice.subsec_nanos() != 0 || !(2..=600).contains(&seconds) {
        return refuse("slice", "must be whole seconds, 2 to 600: the first is left out");
    }
    let brokers = wire.brokers.unwrap_or(USUAL_BROKERS);
    if !(1..=1000).contains(&brokers) {
        return refuse("brokers", "must be 1 to 1000");
    }
    Ok(LiveDesign { slice_seconds: seconds, brokers })
}

/// Parser of shares: `3%` is 0.03.
impl Design {
    /// Parses a share such as `3%`. The error states the allowed values.
    pub fn share(text: &str) -> Result<f64, String> {
        share("", text).map_err(|_| SHARE.to_owned())
    }
}

const SHARE: &str = "must be a share above 0 and below 100, such as \"3%\"";

fn share(key: &str, text: &str) -> Result<f64, Problem> {
    let percent =
        text.trim().strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    match percent.filter(|percent| *percent > 0.0 && *percent < 100.0) {
        Some(percent) => Ok(percent / 100.0),
        None => refuse(key, SHARE),
    }
}

impl Known {
    fn from_wire(wire: wire::Known, arms: &[Arm]) -> Result<Self, Problem> {
        if wire.source.trim().is_empty() {
            return refuse("source", "must name the publication");
        }
        let one = |(at, text): (usize, &String)| {
            let under = |reason: String| Problem::new(reason).under(at.to_string()).under("expect");
            let expectation = KnownExpectation::parse(text).map_err(under)?;
            let names = expectation.arms();
            let unknown = names.into_iter().find(|name| arms.iter().all(|arm| arm.name != *name));
            match unknown {
                None => Ok(expectation),
                Some(name) => Err(under(format!("names `{name}`, which is not an arm"))),
            }
        };
        let expect = wire.expect.iter().enumerate().map(one).collect::<Result<_, _>>()?;
        Ok(Self { expect, source: wire.source })
    }
}
