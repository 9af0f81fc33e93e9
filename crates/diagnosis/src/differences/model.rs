//! Differences between two checks. The JSON form under `differences` is this structure.

use rabbitscope_text::{MetricId, Unit};
use serde::{Deserialize, Serialize};

/// The differences between an earlier check and this one.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case", default)]
pub struct Differences {
    /// Reasons why the two checks are not comparable in all: another node, version or duration, missing sources.
    pub conditions: Vec<String>,
    /// Changes of the limit and of the findings, in words.
    pub judgements: Vec<String>,
    /// The largest differences, at most 50.
    pub largest: Vec<Difference>,
    /// Number of differences.
    pub found: u64,
    /// Number of compared figures.
    pub compared: u64,
}

/// A figure that differs.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Difference {
    /// The kind of the subject.
    pub kind: DifferenceKind,
    /// Name of the thread, function, process or client; empty for figures of the node.
    pub subject: String,
    /// Name of the figure, such as `published.rate`.
    pub figure: String,
    /// Unit of both values.
    pub unit: String,
    /// Value in the earlier check.
    pub before: f64,
    /// Value in this check.
    pub after: f64,
    /// `after` divided by `before`. Absent if that is 0.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ratio: Option<f64>,
    /// The relation to noise.
    pub noise: Noise,
    /// Size by which differences are ranked, 0 to 1.
    pub size: f64,
    /// The difference in a sentence.
    pub sentence: String,
}

/// The kind of a subject.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum DifferenceKind {
    /// The node.
    Node,
    /// A kind of thread.
    Thread,
    /// A function.
    Function,
    /// Erlang processes of a role, or one of them.
    Process,
    /// A client.
    Client,
}

/// The relation of a difference to noise.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Noise {
    /// It is larger than counts of this size vary by chance. Other noise between two checks is unknown.
    Beyond,
    /// The noise of the figure is unknown. The difference is larger than a fixed threshold.
    Unknown,
}

/// Two values of a figure, and their judgement.
#[derive(Clone, Copy, Debug)]
pub(super) struct Pair {
    pub(super) values: [f64; 2],
    pub(super) noise: Noise,
    /// Relative change that the difference exceeds: 0.1 for 10 %.
    pub(super) threshold: f64,
}

impl Difference {
    /// Creates a difference. `weight` is the importance of the figure, 0 to 1. Titles begin the sentence.
    pub(super) fn new(
        (kind, subject, title): (DifferenceKind, String, &str),
        id: MetricId,
        pair: Pair,
        size: f64,
    ) -> Self {
        let [before, after] = pair.values;
        let ratio = (before > 0.0).then(|| after / before).filter(|ratio| ratio.is_finite());
        Self {
            kind,
            subject,
            figure: id.name.to_owned(),
            unit: id.unit.name().to_owned(),
            before,
            after,
            ratio,
            noise: pair.noise,
            size: if size.is_finite() { size.clamp(0.0, 1.0) } else { 0.0 },
            sentence: sentence(title, id.unit, ratio, pair),
        }
    }
}

fn sentence(title: &str, unit: Unit, ratio: Option<f64>, pair: Pair) -> String {
    let [before, after] = pair.values.map(|value| unit.display(value));
    let threshold = pair.threshold * 100.0;
    let noise = match pair.noise {
        Noise::Beyond => "beyond the noise of sampling".to_owned(),
        Noise::Unknown => format!("more than {threshold:.0} %; its noise is unknown"),
    };
    let ratio = ratio.map_or_else(String::new, |ratio| format!("{}; ", times(ratio)));
    format!("{title}: {after}, was {before} ({ratio}{noise})")
}

/// Returns a ratio as `1.52 times`.
fn times(ratio: f64) -> String {
    match ratio {
        _ if ratio >= 1e6 => "over a million times".to_owned(),
        _ if ratio >= 9.995 => format!("{ratio:.0} times"),
        _ => format!("{ratio:.2} times"),
    }
}

/// Returns the relative size of a change, 0 to 1.
pub(super) fn relative([before, after]: [f64; 2]) -> f64 {
    let largest = before.max(after);
    if largest > 0.0 { (after - before).abs() / largest } else { 0.0 }
}
