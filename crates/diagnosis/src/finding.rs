//! A finding: a problem of a node with its evidence, and the change that removes it.

use serde::{Deserialize, Serialize};

use crate::case::Source;

/// The severity of a finding.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Severity {
    /// Worth knowing.
    Note,
    /// Costs time or throughput now.
    Warning,
    /// Clients fail or are blocked, or will be soon.
    Critical,
}

impl Severity {
    /// Returns the name, as in JSON.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Note => "note",
            Self::Warning => "warning",
            Self::Critical => "critical",
        }
    }
}

/// A problem of a node.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Finding {
    /// Stable name of the rule.
    pub rule: String,
    /// The severity.
    pub severity: Severity,
    /// Names of the queues, channels, connections or processes, the worst first, at most ten.
    pub subjects: Vec<String>,
    /// Number of subjects that show the problem.
    pub subjects_in_all: u64,
    /// The problem, in a sentence.
    pub sentence: String,
    /// The figures behind it.
    pub evidence: Vec<Evidence>,
    /// The change that removes the problem. Absent if only the evidence can be given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub change: Option<Change>,
    /// The upper bound of the gain. Absent if it is unknown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub bound: Option<Bound>,
    /// File name of the experiment that shows the change on a throwaway broker.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub experiment: Option<String>,
}

/// A figure behind a finding or a limit.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Evidence {
    /// The origin of the figure.
    pub source: Source,
    /// The figure with its value and unit, in words.
    pub figure: String,
    /// Start of the observation, in nanoseconds since the start of the check.
    #[serde(default)]
    pub at_nanos: u64,
    /// Length of the observation in nanoseconds.
    #[serde(default)]
    pub lasted_nanos: u64,
}

/// A change of a setting, a policy or a client.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Change {
    /// Name of the setting, policy key, or property of the client. At most one finding changes each setting.
    pub setting: String,
    /// The change in words.
    pub sentence: String,
    /// Text for a file or a shell, in the syntax of this version.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub text: Option<String>,
    /// Cost or risk of the change.
    pub cost: String,
}

/// An upper bound of a gain.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Bound {
    /// Highest factor of throughput minus 1; 0.1 means at most 10 % more messages.
    pub throughput: f64,
    /// The derivation, in words.
    pub reason: String,
}
