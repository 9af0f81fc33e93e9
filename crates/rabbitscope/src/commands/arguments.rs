//! Values that several commands read from the command line.

use std::{
    fmt::Display,
    ops::RangeInclusive,
    path::{Path, PathBuf},
    str::FromStr,
    time::Duration,
};

use percent_encoding::{NON_ALPHANUMERIC, utf8_percent_encode};
use rabbitscope_files::replaced_input;
use rabbitscope_profiles::{ReadOptions, USUAL_PROFILE_BYTES};
use rabbitscope_terminal::UsageError;
use rabbitscope_text as units;

/// Options for reading a profile from a file.
#[derive(Clone, Debug, clap::Args)]
pub(super) struct ReadArguments {
    /// Value or event to read from a file with several, such as `alloc_space` or `cycles:u`
    ///
    /// The default is the file's own. The error for an unknown name lists the names in the file.
    #[arg(long, value_name = "NAME")]
    value: Option<String>,
    /// Maximum size of a profile after decompression, and in memory [default: 256MiB]
    #[arg(long, value_name = "SIZE", value_parser = size)]
    max_size: Option<u64>,
}

impl ReadArguments {
    pub(super) fn options(&self) -> ReadOptions<'_> {
        let limit_bytes = self.max_size.unwrap_or(USUAL_PROFILE_BYTES);
        ReadOptions { limit_bytes, value: self.value.as_deref() }
    }
}

/// Selection of windows in a directory of `watch`.
#[derive(Clone, Debug, Default, clap::Args)]
pub(super) struct SpanArguments {
    /// Windows from this time on: 2026-11-25T04:00:00Z, 04:00 (today, UTC) or 2h (ago)
    ///
    /// Only a directory of `watch` has windows.
    #[arg(long, value_name = "TIME")]
    from: Option<String>,
    /// Windows before this time
    #[arg(long, value_name = "TIME")]
    to: Option<String>,
    /// Windows of this node; without @, on any host
    #[arg(long, value_name = "NAME")]
    node: Option<String>,
    /// Windows of nodes with this version of RabbitMQ
    #[arg(long, value_name = "VERSION")]
    version: Option<String>,
    /// Windows of this event: cpu, off-cpu [default: cpu]
    #[arg(long, value_name = "EVENT")]
    event: Option<String>,
}

impl SpanArguments {
    /// Creates a selection of windows of all versions, of CPU time.
    pub(super) fn new(from: Option<String>, to: Option<String>, node: Option<String>) -> Self {
        Self { from, to, node, ..Self::default() }
    }

    /// Returns the path with the selection appended, in the form that the command line also accepts.
    pub(super) fn applied_to(&self, directory: &Path) -> PathBuf {
        let pairs = [
            ("from", &self.from),
            ("to", &self.to),
            ("node", &self.node),
            ("version", &self.version),
            ("event", &self.event),
        ];
        let given = pairs.into_iter().filter_map(|(key, value)| Some((key, value.as_ref()?)));
        let texts = given
            .map(|(key, value)| format!("{key}={}", utf8_percent_encode(value, NON_ALPHANUMERIC)));
        let query: Vec<String> = texts.collect();
        if query.is_empty() {
            return directory.to_owned();
        }
        let mut path = directory.as_os_str().to_owned();
        path.push("?");
        path.push(query.join("&"));
        path.into()
    }
}

/// Refuses an output that would replace one of the inputs, or a file in a directory of inputs.
pub(super) fn refuse_to_replace<'a>(
    output: &Path,
    inputs: impl IntoIterator<Item = &'a Path>,
) -> Result<(), UsageError> {
    let Some(input) = replaced_input(output, inputs) else { return Ok(()) };
    Err(UsageError(format!(
        "{} would replace the input {}: choose another output file",
        output.display(),
        input.display()
    )))
}

/// Reads a size of one byte or more.
fn size(text: &str) -> Result<u64, String> {
    match units::parse_size(text) {
        Ok(0) => Err("must be more than zero".to_owned()),
        Ok(bytes) => Ok(bytes),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads a time longer than zero.
pub(super) fn duration(text: &str) -> Result<Duration, String> {
    match units::parse_duration(text) {
        Ok(Duration::ZERO) => Err(UsageError("must be longer than zero".to_owned()).to_string()),
        Ok(duration) => Ok(duration),
        Err(error) => Err(error.to_string()),
    }
}

/// Reads the longest silence that a node tolerates. Our signs of life come once a second and may be late.
pub(super) fn dead_man(text: &str) -> Result<Duration, String> {
    const ALLOWED: RangeInclusive<Duration> = Duration::from_secs(3)..=Duration::from_secs(600);
    let duration = duration(text)?;
    if ALLOWED.contains(&duration) {
        Ok(duration)
    } else {
        Err(UsageError("must be from 3s to 10m".to_owned()).to_string())
    }
}

/// Reads a number within bounds.
pub(super) fn within<N>(allowed: RangeInclusive<N>) -> impl Fn(&str) -> Result<N, String> + Clone
where
    N: FromStr + PartialOrd + Display + Clone,
{
    move |text| {
        let number = text.parse().ok().filter(|number| allowed.contains(number));
        let (first, last) = (allowed.start(), allowed.end());
        number.ok_or_else(|| format!("must be a number from {first} to {last}"))
    }
}

/// Reads a number of any size; its bounds depend on other options and are checked later.
pub(super) fn number<N: FromStr>(text: &str) -> Result<N, String> {
    text.parse().map_err(|_| UsageError("must be a number".to_owned()).to_string())
}

/// Reads a number of one or more.
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
