//! All figures of two loads.

use serde::Serialize;

use super::{
    figure::{Difference, Figure, Unit, Verdict, relative},
    measurements::{Group, Measurements},
    publishers, readers,
};

/// Bar of packets and of CPU time for each message.
const COST_BAR: f64 = 0.1;

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
    let groups: Vec<GroupLikeness> =
        source.groups.iter().map(|(name, group)| likeness(name, group, run)).collect();
    let whole = whole(source, run);
    let mut not_compared = vec!["depths of queues, and the profile of the broker".to_owned()];
    if source.packets.is_none() || run.packets.is_none() {
        not_compared.push("packets for each message: they were not counted".to_owned());
    }
    if source.cpu_seconds.is_none() || run.cpu_seconds.is_none() {
        not_compared.push(
            "CPU time for each message: a capture file does not tell the source's".to_owned(),
        );
    }
    let verdicts = groups.iter().map(GroupLikeness::verdict).chain([overall(&whole)]);
    Likeness {
        verdict: worst(verdicts),
        source_seconds: source.seconds,
        run_seconds: run.seconds,
        groups,
        whole,
        not_compared,
    }
}

fn likeness(name: &str, group: &Group, run: &Measurements) -> GroupLikeness {
    let figures = match (group, run.groups.get(name)) {
        (Group::Publishers(source), Some(Group::Publishers(run))) => {
            publishers::figures(source, run)
        }
        (Group::Readers(source), Some(Group::Readers(run))) => readers::figures(source, run),
        _ => Vec::new(),
    };
    GroupLikeness { group: name.to_owned(), figures }
}

fn whole(source: &Measurements, run: &Measurements) -> Vec<Figure> {
    let per_message = |of: &Measurements, cost: Option<f64>| {
        cost.filter(|_| of.messages > 0).map(|cost| cost / of.messages as f64)
    };
    let figure = |name, unit, factor: f64, cost: fn(&Measurements) -> Option<f64>| {
        let one = per_message(source, cost(source))? * factor;
        let other = per_message(run, cost(run))? * factor;
        let exact = Difference::exact(relative(one, other), COST_BAR);
        Some(Figure::new(name, unit, (one, other), exact))
    };
    let packets = figure("packets a message", Unit::Number, 1.0, |of| {
        of.packets.map(|packets| packets as f64)
    });
    let cpu = figure("CPU a message", Unit::Nanos, 1e9, |of| of.cpu_seconds);
    packets.into_iter().chain(cpu).collect()
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
