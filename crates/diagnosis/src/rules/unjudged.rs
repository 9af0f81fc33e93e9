//! A rule that could not judge, for people and files.

use serde::{Deserialize, Serialize};

/// A rule that could not judge.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct Unjudged {
    /// Stable name of the rule.
    pub rule: String,
    /// The reason, with the remedy if there is one.
    pub reason: String,
}
