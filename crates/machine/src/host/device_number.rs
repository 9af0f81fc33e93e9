//! Numbers of devices.

use std::fmt;

/// Major and minor number of a device.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DeviceNumber {
    /// Number of the driver; 0 for file systems without a device of their own.
    pub major: u32,
    /// Number among the driver's devices.
    pub minor: u32,
}

impl DeviceNumber {
    /// Parses a number such as `254:1`.
    pub fn parse(text: &str) -> Option<Self> {
        let (major, minor) = text.trim().split_once(':')?;
        Some(Self { major: major.parse().ok()?, minor: minor.parse().ok()? })
    }

    /// Returns the number in the fields of `stat(2)`.
    pub(super) fn from_stat(device: u64) -> Self {
        Self { major: rustix::fs::major(device), minor: rustix::fs::minor(device) }
    }
}

impl fmt::Display for DeviceNumber {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}:{}", self.major, self.minor)
    }
}

#[cfg(test)]
mod tests {
    use super::DeviceNumber;

    #[test]
    fn numbers_as_text() {
        let number = DeviceNumber { major: 254, minor: 1 };
        assert_eq!(DeviceNumber::parse("254:1\n"), Some(number));
        assert_eq!(number.to_string(), "254:1");
        assert_eq!(DeviceNumber::parse("254"), None);
        assert_eq!(DeviceNumber::from_stat(0xfe01), number);
    }
}
