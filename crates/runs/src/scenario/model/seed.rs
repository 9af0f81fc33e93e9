//! The seed of everything that is random.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

/// Text of [`Seed::Drawn`].
const RANDOM: &str = "random";

/// The largest number that a TOML file holds.
const LARGEST: u64 = u64::MAX >> 1;

/// The number from which everything random in a run follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Seed {
    /// This number.
    Number(u64),
    /// Another number for each run, which its record has.
    Drawn,
}

impl Default for Seed {
    fn default() -> Self {
        Self::Number(1)
    }
}

impl Seed {
    /// Returns the number; the default one before it is drawn.
    pub fn number(self) -> u64 {
        match self {
            Self::Number(number) => number,
            Self::Drawn => Self::default().number(),
        }
    }

    /// Returns `drawn` if each run has another number.
    #[must_use]
    pub fn or_drawn(self, drawn: u64) -> Self {
        match self {
            Self::Number(_) => self,
            Self::Drawn => Self::Number(drawn),
        }
    }

    /// Returns the seed of a round of an experiment, counted from 1: all arms of a round have the same load, and each
    /// round has another one.
    #[must_use]
    pub fn of_round(self, round: u32) -> Self {
        let number = self.number().wrapping_add(u64::from(round.saturating_sub(1)));
        Self::Number(number & LARGEST)
    }
}

impl Serialize for Seed {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Number(number) => serializer.serialize_u64(*number),
            Self::Drawn => serializer.serialize_str(RANDOM),
        }
    }
}

/// Reads a number or `random`.
impl<'de> Deserialize<'de> for Seed {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        deserializer.deserialize_any(Visitor)
    }
}

struct Visitor;

impl de::Visitor<'_> for Visitor {
    type Value = Seed;

    fn expecting(&self, f: &mut core::fmt::Formatter<'_>) -> core::fmt::Result {
        f.write_str("a number or \"random\"")
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<Seed, E> {
        Ok(Seed::Number(number))
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<Seed, E> {
        let unsigned = u64::try_from(number);
        unsigned.map(Seed::Number).map_err(|_| E::custom("must not be negative"))
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<Seed, E> {
        if text == RANDOM {
            Ok(Seed::Drawn)
        } else {
            Err(E::custom("must be a number or `random`"))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rounds_differ_and_the_first_is_the_scenario_itself() {
        let numbers = |seed: Seed| [1, 2, 3].map(|round| seed.of_round(round).number());
        assert_eq!(numbers(Seed::Number(7)), [7, 8, 9]);
        assert_eq!(numbers(Seed::Drawn), [1, 2, 3]);
        assert_eq!(Seed::Number(LARGEST).of_round(2), Seed::Number(0));
        assert_eq!(Seed::Drawn.or_drawn(5), Seed::Number(5));
        assert_eq!(Seed::Number(3).or_drawn(5), Seed::Number(3));
    }
}
