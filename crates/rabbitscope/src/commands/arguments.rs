//! Values that several commands read from what was typed.

use std::time::Duration;

use rabbitscope_data::units;

use crate::exit::UsageError;

/// A time longer than zero.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text) {
        Ok(Duration::ZERO) => Err(UsageError("must be longer than zero".to_owned()).to_string()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

/// A number of one or more.
pub(super) fn positive(text: &str) -> Result<u32, String> {
    match text.parse() {
        Ok(0) | Err(_) => Err(UsageError("must be a number of 1 or more".to_owned()).to_string()),
        Ok(number) => Ok(number),
    }
}
