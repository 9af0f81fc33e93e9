//! The name of a fleet, and the names of its queues on the bus.

use std::str::FromStr;

use crate::error::FleetError;

/// Length limit of a fleet's name, in bytes.
const MAX_LENGTH: usize = 64;

/// Name of a fleet. Several fleets can share a bus.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FleetName(String);

impl FleetName {
    /// Returns the name as typed.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// Returns the name of the controller's queue, which is exclusive: a fleet has one controller.
    pub(crate) fn controller_queue(&self) -> String {
        format!("rabbitscope.fleet.{}.controller", self.0)
    }

    /// Returns the name of a worker's queue.
    pub(crate) fn worker_queue(&self, worker: &str) -> String {
        format!("rabbitscope.fleet.{}.worker.{worker}", self.0)
    }

    /// Returns the name of the stream that holds the log of the run.
    pub(crate) fn log(&self) -> String {
        format!("rabbitscope.fleet.{}.log", self.0)
    }
}

impl FromStr for FleetName {
    type Err = FleetError;

    fn from_str(name: &str) -> Result<Self, FleetError> {
        let is_allowed = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
        if name.is_empty() || name.len() > MAX_LENGTH || !name.bytes().all(is_allowed) {
            return Err(FleetError::Name { name: name.to_owned() });
        }
        Ok(Self(name.to_owned()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_parts_of_names() {
        for name in ["default", "team-1.b_c"] {
            assert_eq!(name.parse::<FleetName>().unwrap().as_str(), name);
        }
        for name in ["", "a b", "ü", "a/b", &"x".repeat(65)] {
            let refused = name.parse::<FleetName>().unwrap_err().to_string();
            assert!(refused.contains("not a valid fleet name"), "{refused}");
        }
    }
}
