//! Filters of consumers of AMQP 1.0: conditions under which the broker sends a message.

use serde::{Deserialize, Serialize};

use super::values::Arguments;

/// Conditions under which the broker sends a message. Without any it sends all.
#[derive(Clone, Debug, Default, PartialEq, Deserialize, Serialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct SourceFilter {
    /// Values of properties, by their names in the specification.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub properties: Arguments,
    /// Values of properties of the application.
    #[serde(default, skip_serializing_if = "Arguments::is_empty")]
    pub headers: Arguments,
    /// A condition in SQL.
    pub sql: Option<String>,
}

impl SourceFilter {
    /// Returns whether there is no condition.
    pub(in crate::scenario) fn is_empty(&self) -> bool {
        *self == Self::default()
    }
}
