//! Versions of the protocol.

use std::fmt;

/// A version of the protocol.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Version {
    /// MQTT 3.1.1, which every broker has.
    #[default]
    V3,
    /// MQTT 5, which `RabbitMQ` has since 3.13.
    V5,
}

impl Version {
    /// Returns the number in `CONNECT`.
    pub(crate) fn level(self) -> u8 {
        match self {
            Self::V3 => 4,
            Self::V5 => 5,
        }
    }
}

impl fmt::Display for Version {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::V3 => "MQTT 3.1.1",
            Self::V5 => "MQTT 5",
        })
    }
}
