//! The version of RabbitMQ, on which changes and thresholds depend.

use super::rule::NotJudged;
use crate::case::Broker;

/// Major and minor number of a release.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Version(u32, u32);

impl Version {
    pub(crate) const fn new(major: u32, minor: u32) -> Self {
        Self(major, minor)
    }

    /// Reads the beginning of a version: `3.10.8`, `4.0.0-rc.1`, `3.13.7+2`.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let mut numbers = text.split('.');
        let major = numbers.next()?.trim().parse().ok()?;
        let minor = numbers.next()?;
        let end = minor.find(|letter: char| !letter.is_ascii_digit()).unwrap_or(minor.len());
        Some(Self(major, minor[..end].parse().ok()?))
    }

    /// Returns the version of a broker.
    pub(crate) fn of(broker: &Broker) -> Result<Self, NotJudged> {
        Self::parse(&broker.version)
            .ok_or_else(|| NotJudged::new("the version of RabbitMQ is unknown"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read() {
        let check = |text: &str, expected: Option<Version>| {
            assert_eq!(Version::parse(text), expected, "{text:?}");
        };
        check("3.10.8", Some(Version(3, 10)));
        check("4.0.0-rc.1", Some(Version(4, 0)));
        check("4.1-rc", Some(Version(4, 1)));
        check("3.13.7+2", Some(Version(3, 13)));
        check("", None);
        check("4", None);
        check("4.x", None);
        check("99999999999.1", None);
        assert!(Version::new(3, 10) > Version::new(3, 9));
        assert!(Version::new(4, 0) > Version::new(3, 13));
    }
}
