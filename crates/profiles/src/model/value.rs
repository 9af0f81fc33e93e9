//! Names and units of weights in foreign files.

use std::fmt;

use serde::{Deserialize, Serialize};

use super::Event;

/// Names of events that measure CPU time. Their shares are comparable in any unit.
const CPU_NAMES: [&str; 6] =
    ["cpu", "cycles", "cpu-cycles", "cpu-clock", "task-clock", "ref-cycles"];

/// Name and unit of the weights of an import: `alloc_space` in `bytes`.
#[derive(Clone, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub struct ValueName {
    /// The name in the file.
    pub name: String,
    /// The unit, as a plural noun.
    pub unit: String,
}

impl ValueName {
    /// Makes a value from its name and unit.
    pub fn new(name: impl Into<String>, unit: impl Into<String>) -> Self {
        Self { name: name.into(), unit: unit.into() }
    }

    /// Returns whether the value measures the use of CPUs.
    pub(crate) fn is_cpu(&self) -> bool {
        CPU_NAMES.contains(&self.name.as_str())
    }
}

/// The quantity that weights measure. Two profiles are comparable if they have the same quantity.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Quantity<'a> {
    /// Use of CPUs, in ticks, time or cycles.
    Cpu,
    /// Another quantity, by name and unit.
    Named {
        /// Name, such as `page-faults`.
        name: &'a str,
        /// Unit, such as `faults`.
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
