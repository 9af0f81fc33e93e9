//! A candidate for the limit.

use serde::{Deserialize, Serialize};

use super::LimitKind;
use crate::{case::Source, finding::Evidence};

/// Something that may limit the node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Candidate {
    /// Its kind.
    pub kind: LimitKind,
    /// The process, queue, client, disk or node, by its name; empty if there is only one.
    pub subject: String,
    /// Share of the time in which it was at its limit, 0 to 1.
    pub share: f64,
    /// The share relative to the threshold of its kind. From 1 on it explains the rate by itself.
    #[serde(skip)]
    pub(crate) score: f64,
    /// The share without the time that is the node's own, for a comparison with waits for a CPU.
    #[serde(skip)]
    pub(crate) outside: f64,
    /// The limit in words.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: Vec<Evidence>,
}

impl Candidate {
    /// Creates a candidate without evidence. `threshold` is the share that explains the rate by itself.
    pub(super) fn new(
        kind: LimitKind,
        subject: impl Into<String>,
        share: f64,
        threshold: f64,
        sentence: String,
    ) -> Self {
        let share = if share.is_finite() { share.clamp(0.0, 1.0) } else { 0.0 };
        let (subject, score) = (subject.into(), share / threshold);
        Self { kind, subject, share, score, outside: share, sentence, evidence: Vec::new() }
    }

    /// Adds a figure.
    pub(super) fn with(mut self, source: Source, figure: String) -> Self {
        self.evidence.push(Evidence { source, figure, at_nanos: 0, lasted_nanos: 0 });
        self
    }

    /// Sets the part of the share that lies outside the node, 0 to 1.
    pub(super) fn partly_outside(mut self, part: f64) -> Self {
        self.outside = self.share * part.clamp(0.0, 1.0);
        self
    }

    /// Raises the score, for a reason besides the share.
    pub(super) fn at_least(mut self, score: f64) -> Self {
        self.score = self.score.max(score);
        self
    }

    /// Lowers the score, for evidence that alone does not suffice.
    pub(super) fn at_most(mut self, score: f64) -> Self {
        self.score = self.score.min(score);
        self
    }
}

/// Returns a share as `42 %`.
pub(super) fn percent(share: f64) -> String {
    format!("{:.0} %", share * 100.0)
}
