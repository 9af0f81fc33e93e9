//! Values that several commands read from the command line.

use std::{ops::RangeInclusive, time::Duration};

use rabbitscope_profiles::USUAL_PROFILE_BYTES;
use rabbitscope_text as units;

use crate::exit::UsageError;

/// How much of a profile from a file is taken.
#[derive(Clone, Copy, Debug, clap::Args)]
pub(super) struct ProfileLimit {
    /// Refuse a profile that has more bytes than this after decompression, or that takes more memory
    /// [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
}

impl ProfileLimit {
    pub(super) fn bytes(self) -> u64 {
        self.max_size.unwrap_or(USUAL_PROFILE_BYTES)
    }
}

/// A size of one byte or more.
fn size(text: &str) -> Result<u64, String> {
    match units::parse_size(text) {
        Ok(0) => Err("must be more than zero".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// A time longer than zero.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text) {
        Ok(Duration::ZERO) => Err(UsageError("must be longer than zero".to_owned()).to_string()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

/// How long a node may hear nothing of us: the signs of life come once a second and may be late.
pub(super) fn dead_man(text: &str) -> Result<Duration, String> {
    const ALLOWED: RangeInclusive<Duration> = Duration::from_secs(3)..=Duration::from_secs(600);
    let duration = duration(text)?;
    if ALLOWED.contains(&duration) {
        Ok(duration)
    } else {
        Err(UsageError("must be from 3s to 10m".to_owned()).to_string())
    }
}

/// A number of one or more.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(UsageError("must be a number of 1 or more".to_owned()).to_string()),
        Ok(number) => Ok(number),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn silence_has_bounds() {
        for (text, seconds) in
            [("3s", Some(3)), ("10m", Some(600)), ("2900ms", None), ("601s", None), ("0s", None)]
        {
            assert_eq!(dead_man(text).ok(), seconds.map(Duration::from_secs), "{text}");
        }
    }
}
