//! Parser of the experiment file.

use toml::Value;

use super::{Arm, Design, Experiment, Known, RunMetric, SweepAxis, sweep::cells, written};
use crate::scenario::{Document, Problem, REMOVAL, ScenarioError, read_table, refuse};

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
    let experiment = read_table(document.root()).and_then(Experiment::new);
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

    fn new(written: written::Experiment) -> Result<Self, Problem> {
        let written::Experiment { primary, secondary, mut design, known, .. } = written;
        let metrics = metrics(primary, secondary)?;
        let (arms, axes) = match (written.arms.is_empty(), written.sweep.is_empty()) {
            (true, false) => sweep(written.sweep)?,
            (false, true) => (arms(written.arms)?, Vec::new()),
            (true, true) => return refuse("arms", "is missing: two arms or more, or a `sweep`"),
            (false, false) => return refuse("sweep", "cannot stand beside `arms`"),
        };
        let is_search = design.capacity.is_some();
        let of_search = metrics.contains(&RunMetric::Capacity);
        if (of_search || is_search) && !(is_search && metrics == [RunMetric::Capacity]) {
            return refuse(
                "primary",
                "is `capacity.rate` and the only metric where `design.capacity` is set, and only there",
            );
        }
        design.check().map_err(|problem| problem.under("design"))?;
        let has_control = design.control.take().unwrap_or(axes.is_empty());
        let is_known = known.iter().try_for_each(|known| known.check(&arms));
        is_known.map_err(|problem| problem.under("known"))?;
        Ok(Self {
            name: name(written.name)?,
            description: written.description,
            seed: written.seed,
            base: written.base,
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

fn metrics(primary: RunMetric, secondary: Vec<RunMetric>) -> Result<Vec<RunMetric>, Problem> {
    let mut metrics = vec![primary];
    for (at, metric) in secondary.into_iter().enumerate() {
        if metrics.contains(&metric) {
            let problem = Problem::new("is there already");
            return Err(problem.under(at.to_string()).under("secondary"));
        }
        metrics.push(metric);
    }
    Ok(metrics)
}

fn sweep(axes: Vec<written::Axis>) -> Result<(Vec<Arm>, Vec<SweepAxis>), Problem> {
    if axes.len() > 2 {
        return refuse("sweep", "has more than two keys: a picture shows two");
    }
    let axis_of = |(at, written): (usize, written::Axis)| {
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

fn arms(arms: Vec<written::Arm>) -> Result<Vec<Arm>, Problem> {
    if arms.len() < 2 {
        return refuse("arms", "needs two or more: the first is the baseline of the others");
    }
    let mut valid: Vec<Arm> = Vec::new();
    for (at, written) in arms.into_iter().enumerate() {
        let under = |problem: Problem| problem.under(at.to_string()).under("arms");
        let arm = arm(written).map_err(under)?;
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

fn arm(written: written::Arm) -> Result<Arm, Problem> {
    let name = name(written.name)?;
    let mut overrides = Vec::new();
    for (key, text) in [
        ("config", written.config),
        ("advanced-config", written.advanced_config),
        ("erl-args", written.erl_args),
        ("root", written.root),
    ] {
        overrides.extend(text.map(|text| format!("broker.{key}={}", Value::String(text))));
    }
    overrides.extend(written.plugins.map(|names| format!("broker.plugins={}", Value::from(names))));
    overrides.extend(written.policies.map(|policies| format!("broker.policies={policies}")));
    overrides
        .extend(written.parameters.map(|parameters| format!("broker.parameters={parameters}")));
    if let Some(environment) = &written.environment {
        flatten("broker.environment", environment, &mut overrides);
    }
    match written.set {
        None => {}
        Some(Value::Table(table)) => flatten("", &Value::Table(table), &mut overrides),
        Some(Value::Array(lines)) => overrides.extend(lines_of(&lines)?),
        Some(_) => {
            return refuse("set", "must be a table of keys and values, or a list of `key=value`");
        }
    }
    let files = [("broker.patches", written.patches), ("broker.modules", written.modules)];
    let files = files.into_iter().filter_map(|(key, paths)| Some((key, paths?))).collect();
    Ok(Arm { name, scenario: written.scenario, overrides, files, ..Arm::default() })
}

fn lines_of(lines: &[Value]) -> Result<Vec<String>, Problem> {
    let is_override = |text: &&str| text.contains('=') || text.starts_with(REMOVAL);
    let line = |(at, line): (usize, &Value)| match line.as_str().filter(is_override) {
        Some(line) => Ok(line.to_owned()),
        None => Err(Problem::new(
            "must be a text such as \"publishers.0.rate=5000\", or \"!publishers.0.rate\"",
        )
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

impl Known {
    fn check(&self, arms: &[Arm]) -> Result<(), Problem> {
        if self.source.trim().is_empty() {
            return refuse("source", "must name the publication");
        }
        for (at, expectation) in self.expect.iter().enumerate() {
            let mut names = expectation.arms().into_iter();
            if let Some(name) = names.find(|name| arms.iter().all(|arm| arm.name != *name)) {
                let problem = Problem::new(format!("names `{name}`, which is not an arm"));
                return Err(problem.under(at.to_string()).under("expect"));
            }
        }
        Ok(())
    }
}
