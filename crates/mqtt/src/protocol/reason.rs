//! Reasons in the broker's answers.

use std::fmt;

/// A reason code of MQTT 5. The few codes of MQTT 3.1.1 are translated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Reason(pub u8);

impl Reason {
    /// The request succeeded.
    pub const SUCCESS: Self = Self(0x00);
    /// The broker accepted a message that no queue receives.
    pub const NO_SUBSCRIBERS: Self = Self(0x10);
    /// The first code of a refusal.
    pub const UNSPECIFIED: Self = Self(0x80);
    /// The broker does not speak the version.
    pub const VERSION: Self = Self(0x84);
    /// Wrong user or password.
    pub const CREDENTIALS: Self = Self(0x86);
    /// The user lacks a permission, or may not use the virtual host.
    pub const NOT_AUTHORIZED: Self = Self(0x87);

    /// Returns whether the code is a refusal.
    #[inline]
    pub fn is_refusal(self) -> bool {
        self >= Self::UNSPECIFIED
    }

    /// Translates the return code of a `CONNACK` of MQTT 3.1.1.
    pub(crate) fn from_return_code(code: u8) -> Self {
        match code {
            0 => Self::SUCCESS,
            1 => Self::VERSION,
            2 => Self(0x85),
            3 => Self(0x88),
            4 => Self::CREDENTIALS,
            5 => Self::NOT_AUTHORIZED,
            _ => Self::UNSPECIFIED,
        }
    }

    /// Returns the words of the specification.
    fn words(self) -> Option<&'static str> {
        /// Words of the codes from 0x80.
        const REFUSALS: [&str; 0x23] = [
            "unspecified error",
            "malformed packet",
            "protocol error",
            "implementation specific error",
            "unsupported protocol version",
            "client identifier not valid",
            "bad user name or password",
            "not authorized",
            "server unavailable",
            "server busy",
            "banned",
            "server shutting down",
            "bad authentication method",
            "keep alive timeout",
            "session taken over",
            "topic filter invalid",
            "topic name invalid",
            "packet identifier in use",
            "packet identifier not found",
            "receive maximum exceeded",
            "topic alias invalid",
            "packet too large",
            "message rate too high",
            "quota exceeded",
            "administrative action",
            "payload format invalid",
            "retain not supported",
            "QoS not supported",
            "use another server",
            "server moved",
            "shared subscriptions not supported",
            "connection rate exceeded",
            "maximum connect time",
            "subscription identifiers not supported",
            "wildcard subscriptions not supported",
        ];
        match self.0 {
            0x00 => Some("success"),
            0x10 => Some("no matching subscribers"),
            0x11 => Some("no subscription existed"),
            code => REFUSALS.get(usize::from(code.checked_sub(Self::UNSPECIFIED.0)?)).copied(),
        }
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.words() {
            Some(words) => write!(f, "{words} ({:#04x})", self.0),
            None => write!(f, "reason {:#04x}", self.0),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn codes_have_the_words_of_the_specification() {
        let check = |code, expected| assert_eq!(Reason(code).to_string(), expected);
        check(0x10, "no matching subscribers (0x10)");
        check(0x8e, "session taken over (0x8e)");
        check(0x97, "quota exceeded (0x97)");
        check(0xa2, "wildcard subscriptions not supported (0xa2)");
        check(0x02, "reason 0x02");
        check(0xff, "reason 0xff");
    }

    #[test]
    fn only_codes_from_0x80_are_refusals() {
        let refusals = (0..=u8::MAX).filter(|code| Reason(*code).is_refusal());
        assert_eq!(refusals.collect::<Vec<_>>(), (0x80..=0xff).collect::<Vec<u8>>());
    }
}
