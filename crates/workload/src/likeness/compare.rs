//! All figures of two loads.

use serde::Serialize;

use super::{
    distance::block_noise,
    figure::{COST_BAR, Difference, Figure, Unit, Verdict, relative},
    measurements::{Group, Measurements},
    profile, publishers, readers,
};
use crate::topology::BrokerDifference;

/// Blocks of seconds whose CPU times show its noise. The time drifts within seconds, so single ones are too much alike.
const CPU_BLOCKS: usize = 6;
/// Minimum of seconds of CPU times.
const CPU_SECONDS_MIN: usize = 2 * CPU_BLOCKS + 3;

/// Bar of the messages that wait in queues, and the number of them that depends on the moment.
const DEPTH_BAR: f64 = 0.1;
const FEW_READY: f64 = 10.0;
/// Seconds by which statistics are late: nodes write them every five seconds.
const DEPTHS_LATE: usize = 6;
/// Blocks of seconds whose depths show their noise.
const DEPTH_BLOCKS: usize = 4;
/// Minimum of seconds with depths: blocks that have one statistic each at least.
const DEPTHS_MIN: usize = DEPTHS_LATE + 5 * DEPTH_BLOCKS;

/// The likeness of two loads.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub struct Likeness {
    pub(super) verdict: Verdict,
    pub(super) source_seconds: f64,
    pub(super) run_seconds: f64,
    pub(super) groups: Vec<GroupLikeness>,
    /// Figures of the load as a whole.
    pub(super) whole: Vec<Figure>,
    /// Facts about both brokers that differ; absent if one of them is unknown.
    pub(super) broker_differences: Option<Vec<BrokerDifference>>,
    /// Things that are not compared.
    pub(super) not_compared: Vec<String>,
}

/// The likeness of a group.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct GroupLikeness {
    pub(super) group: String,
    /// Empty if the run has no such group.
    pub(super) figures: Vec<Figure>,
}

impl Likeness {
    /// Returns the verdict on all figures: the worst one, where a figure that is not judged counts least. Without any
    /// judged figure nothing is judged.
    pub const fn verdict(&self) -> Verdict {
        self.verdict
    }

    /// Returns the names of the groups that differ.
    pub fn different_groups(&self) -> Vec<&str> {
        let differs = |group: &&GroupLikeness| group.verdict() == Verdict::Differs;
        self.groups.iter().filter(differs).map(|group| group.group.as_str()).collect()
    }

    /// Returns the figures with this verdict, each with its group.
    pub fn figures(&self, verdict: Verdict) -> Vec<(&str, &'static str)> {
        let of_groups = self
            .groups
            .iter()
            .flat_map(|group| group.figures.iter().map(|figure| (group.group.as_str(), figure)));
        let all = of_groups.chain(self.whole.iter().map(|figure| ("load", figure)));
        all.filter(|(_, figure)| figure.verdict == verdict)
            .map(|(group, figure)| (group, figure.name))
            .collect()
    }
}

impl GroupLikeness {
    pub(super) fn verdict(&self) -> Verdict {
        if self.figures.is_empty() { Verdict::Differs } else { overall(&self.figures) }
    }
}

/// Compares a run with its source.
pub fn compare(source: &Measurements, run: &Measurements) -> Likeness {
    let is_closed = |group: &Group| matches!(group, Group::Publishers(of) if of.is_closed);
    let has_closed = source.groups.values().any(is_closed);
    let compared = |(name, group): (&String, &Group)| likeness(name, group, (run, has_closed));
    let groups: Vec<GroupLikeness> = source.groups.iter().map(compared).collect();
    let costs = packets(source, run).into_iter().chain(cpu(source, run));
    let mut whole: Vec<Figure> = costs.chain(depth(source, run)).collect();
    let mut not_compared = Vec::new();
    if source.ready.is_empty() || run.ready.is_empty() {
        not_compared
            .push("depths of queues: only running nodes that keep statistics tell them".to_owned());
    } else if is_depth_brief(source) || is_depth_brief(run) {
        not_compared.push(format!("depths of queues: they take {DEPTHS_MIN} s of both"));
    }
    match source.profile.as_ref().zip(run.profile.as_ref()) {
        Some((source, run)) => whole.extend(profile::figures(source, run)),
        None => not_compared.push("profile of the broker: it was not recorded of both".to_owned()),
    }
    if source.packets.is_none() || run.packets.is_none() {
        not_compared.push("packets for each message: they were not counted".to_owned());
    }
    if source.cpu_seconds.is_empty() {
        let reason = "CPU time for each message: a capture file does not tell the source's";
        not_compared.push(reason.to_owned());
    } else if is_cpu_brief(source) || is_cpu_brief(run) {
        not_compared
            .push(format!("CPU time for each message: it takes {CPU_SECONDS_MIN} s of both"));
    }
    let nodes = source.node.as_ref().zip(run.node.as_ref());
    if nodes.is_none() {
        not_compared
            .push("version and settings of the broker: the source's are unknown".to_owned());
    }
    let verdicts = groups.iter().map(GroupLikeness::verdict).chain([overall(&whole)]);
    Likeness {
        verdict: worst(verdicts),
        source_seconds: source.seconds,
        run_seconds: run.seconds,
        groups,
        whole,
        broker_differences: nodes.map(|(source, run)| source.differences(run)),
        not_compared,
    }
}

/// Compares a group. Consumers are as fast as closed loops let them, if there are some.
fn likeness(name: &str, group: &Group, (run, has_closed): (&Measurements, bool)) -> GroupLikeness {
    let figures = match (group, run.groups.get(name)) {
        (Group::Publishers(source), Some(Group::Publishers(run))) => {
            publishers::figures(source, run)
        }
        (Group::Readers(source), Some(Group::Readers(run))) => {
            readers::figures(source, run, has_closed)
        }
        _ => Vec::new(),
    };
    GroupLikeness { group: name.to_owned(), figures }
}

fn packets(source: &Measurements, run: &Measurements) -> Option<Figure> {
    let values =
        (per_message(source, source.packets? as f64)?, per_message(run, run.packets? as f64)?);
    let exact = Difference::exact(relative(values.0, values.1), COST_BAR);
    Some(Figure::new("packets a message", Unit::Number, values, exact))
}

/// Compares CPU times of the broker. They vary by time and from run to run, so one run shows large differences only.
fn cpu(source: &Measurements, run: &Measurements) -> Option<Figure> {
    if is_cpu_brief(source) || is_cpu_brief(run) {
        return None;
    }
    let nanos = |of: &Measurements| {
        let seconds = inner_cpu(of);
        let mean = seconds.iter().sum::<f64>() / seconds.len() as f64;
        per_message(of, mean * of.seconds * 1e9)
    };
    let values = (nanos(source)?, nanos(run)?);
    let between_blocks = cpu_noise(source).hypot(cpu_noise(run)) / core::f64::consts::SQRT_2;
    let of = Difference::between_runs(relative(values.0, values.1), between_blocks);
    Some(Figure::new("CPU a message", Unit::Nanos, values, of))
}

/// Compares the mean number of messages that wait in all queues.
fn depth(source: &Measurements, run: &Measurements) -> Option<Figure> {
    if is_depth_brief(source) || is_depth_brief(run) {
        return None;
    }
    let mean = |of: &Measurements| {
        let inner = inner_depths(of);
        inner.iter().sum::<f64>() / inner.len() as f64
    };
    let values = (mean(source), mean(run));
    let noise = depth_noise(source).hypot(depth_noise(run)) / core::f64::consts::SQRT_2;
    let are_few = values.0.max(values.1) <= FEW_READY;
    // A queue that grows, or comes and goes, has no depth that one run could show.
    let of = Difference {
        distance: ((values.0 - values.1).abs() - FEW_READY).max(0.0) / values.0.max(FEW_READY),
        bar: DEPTH_BAR,
        between_blocks: 0.0,
        by_number: if are_few { 0.0 } else { noise },
        number: 1,
    };
    Some(Figure::new("ready messages", Unit::Number, values, of))
}

fn is_depth_brief(of: &Measurements) -> bool {
    of.ready.len() < DEPTHS_MIN
}

/// Returns the depths without those of the beginning, which the broker's statistics do not have yet.
fn inner_depths(of: &Measurements) -> Vec<f64> {
    of.ready[DEPTHS_LATE..].iter().map(|ready| *ready as f64).collect()
}

fn depth_noise(of: &Measurements) -> f64 {
    let depths = inner_depths(of);
    let blocks = depths.chunks_exact(depths.len() / DEPTH_BLOCKS).take(DEPTH_BLOCKS);
    block_noise(&blocks.map(|block| block.iter().sum()).collect::<Vec<f64>>())
}

fn per_message(of: &Measurements, cost: f64) -> Option<f64> {
    (of.messages > 0 && cost > 0.0).then(|| cost / of.messages as f64)
}

fn is_cpu_brief(of: &Measurements) -> bool {
    of.cpu_seconds.len() < CPU_SECONDS_MIN
}

/// Returns the CPU times of whole seconds of load. Clients connect in the first second, and the last ones may be shorter.
fn inner_cpu(of: &Measurements) -> &[f64] {
    &of.cpu_seconds[1..of.cpu_seconds.len() - 2]
}

/// Returns the noise of CPU times between two captures like this one.
fn cpu_noise(of: &Measurements) -> f64 {
    let seconds = inner_cpu(of);
    let blocks = seconds.chunks_exact(seconds.len() / CPU_BLOCKS).take(CPU_BLOCKS);
    block_noise(&blocks.map(|block| block.iter().sum()).collect::<Vec<f64>>())
}

fn overall(figures: &[Figure]) -> Verdict {
    worst(figures.iter().map(Figure::verdict))
}

/// Returns the worst verdict, where judged ones count more.
fn worst(verdicts: impl Iterator<Item = Verdict>) -> Verdict {
    let rank = |verdict: &Verdict| match verdict {
        Verdict::NotJudged => 0,
        Verdict::Alike => 1,
        Verdict::Differs => 2,
    };
    verdicts.max_by_key(rank).unwrap_or(Verdict::NotJudged)
}
