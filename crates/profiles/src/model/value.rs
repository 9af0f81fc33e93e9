//! Names and units of weights, as foreign files have them.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Event;

/// Names of events that take CPU time as their measure. Their shares mean the same whatever the unit is.
const CPU_NAMES: [&str; 6] =
    ["cpu", "cycles", "cpu-cycles", "cpu-clock", "task-clock", "ref-cycles"];

/// Name and unit of the weights of an import: `alloc_space` in `bytes`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ValueName {
    /// As the file has it.
    pub name: String,
    /// A plural noun.
    pub unit: String,
}

impl ValueName {
    /// A value of this name and unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }

    /// Whether the value measures the use of CPUs.
    pub(crate) fn is_cpu(&self) -> bool {
        CPU_NAMES.contains(&self.name.as_str())
    }
}

/// What weights are a measure of. Two profiles are comparable when theirs is the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity<'a> {
    /// Use of CPUs, in ticks, time or cycles.
    Cpu,
    /// Any other, by name and unit.
    Named {
        /// As `page-faults`.
        name: &'a str,
        /// As `faults`.
        unit: &'a str,
    },
}

impl<'a> Quantity<'a> {
    pub(super) fn new(event: Event, foreign: Option<&'a ValueName>) -> Self {
        match (event, foreign) {
            (Event::Cpu, _) => Self::Cpu,
            (_, Some(value)) if value.is_cpu() => Self::Cpu,
            (_, Some(ValueName { name, unit })) => Self::Named { name, unit },
            (event, None) => Self::Named { name: event.name(), unit: event.unit() },
        }
    }
}

impl fmt::Display for Quantity<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Cpu => f.write_str("cpu"),
            Self::Named { name, unit } => write!(f, "{name} in {unit}"),
        }
    }
}
