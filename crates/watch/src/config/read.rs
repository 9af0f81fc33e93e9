//! The reader of the configuration file, which adds the options of the command line.

use std::{
    ops::RangeInclusive,
    path::{Path, PathBuf},
    time::Duration,
};

use rabbitscope_artifacts::archive::ArchiveLimits;
use rabbitscope_export::{SpoolOptions, validate_exporters};
use rabbitscope_files::input;
use rabbitscope_runs::scenario::read_configuration;
use rabbitscope_terminal::UsageError;
use rabbitscope_text::{parse_duration, parse_size};

use super::{
    options::{DirectoryOptions, NodeChoice, WatchOptions},
    pattern::Pattern,
    scraping::{inside_options, metrics_options},
    wire::{DirectoryToml, LabelsToml, NodesToml, RecordToml, SpoolToml, WatchToml},
};

/// Default number of ticks per second on each CPU, as in other continuous profilers. It is a prime, so that it does not
/// stay in step with tasks that run every few milliseconds.
const FREQUENCY_HZ: u32 = 19;
const FREQUENCIES_HZ: RangeInclusive<u32> = 1..=999;

const WINDOW: Duration = Duration::from_secs(10);
/// The shortest windows serve to measure the cost of watching.
const WINDOWS: RangeInclusive<Duration> = Duration::from_millis(200)..=Duration::from_secs(600);

const MAX_AGE: Duration = Duration::from_secs(7 * 24 * 3600);
const MIN_AGE: Duration = Duration::from_secs(60);
const MAX_BYTES: u64 = 2 << 30;
const MIN_BYTES: u64 = 1 << 20;

/// A request larger than its exporter's share of the spool is never sent, so a smaller spool would send nothing.
const MIN_SPOOL_BYTES: u64 = 1_000_000;

/// Size of the largest configuration file that is read.
const MAX_FILE_BYTES: u64 = 1 << 20;

const MAX_LABEL_BYTES: usize = 100;

/// The options of the command line, which take precedence over the file.
#[derive(Clone, Debug, Default)]
pub struct TypedOptions {
    /// Directory for windows.
    pub directory: Option<PathBuf>,
    /// Ticks per second on each CPU.
    pub freq_hz: Option<u32>,
    /// Length of a window.
    pub window: Option<Duration>,
    /// Whether time off the CPU is recorded too.
    pub has_off_cpu: bool,
    /// Whether a live page shows the nodes.
    pub is_served: bool,
}

/// The source of the options, from which they can be reloaded.
#[derive(Clone, Debug)]
pub struct ConfigSource {
    /// The configuration file, if there is one.
    pub file: Option<PathBuf>,
    /// Options of the command line.
    pub typed: TypedOptions,
}

/// A dotted key and the reason.
type Refusal = (String, String);

impl ConfigSource {
    /// Reads the file and adds the options of the command line.
    pub(crate) fn read(&self) -> anyhow::Result<WatchOptions> {
        let mut options = match &self.file {
            Some(file) => read_file(file)?,
            None => validate(WatchToml::default()).map_err(|(_, reason)| UsageError(reason))?,
        };
        let TypedOptions { directory, freq_hz, window, has_off_cpu, is_served } = &self.typed;
        if let Some(path) = directory {
            let limits = options.directory.map_or_else(usual_limits, |directory| directory.limits);
            options.directory = Some(DirectoryOptions { path: path.clone(), limits });
        }
        options.freq_hz = freq_hz.unwrap_or(options.freq_hz);
        options.window = window.unwrap_or(options.window);
        options.has_off_cpu |= *has_off_cpu;
        options.is_served = *is_served;
        require_frequency(options.freq_hz)
            .map_err(|reason| UsageError(format!("--frequency {reason}")))?;
        require_window(options.window)
            .map_err(|reason| UsageError(format!("--window {reason}")))?;
        let is_shown = options.listen.is_some() || options.is_served;
        if options.directory.is_none() && options.exporters.is_empty() && !is_shown {
            let message = "there is no output for windows: give a directory (-o DIR), a page (--serve), or a file \
                           (--config) with `[directory]`, `[[exporters]]` or `metrics.listen`";
            return Err(UsageError(message.to_owned()).into());
        }
        Ok(options)
    }
}

fn read_file(file: &Path) -> anyhow::Result<WatchOptions> {
    let name = file.display().to_string();
    let text = input::read_text(file, MAX_FILE_BYTES)?;
    Ok(read_configuration(&text, &name, validate)?)
}

fn validate(wire: WatchToml) -> Result<WatchOptions, Refusal> {
    let WatchToml { record, nodes, labels, inside, metrics, directory, spool, exporters } = wire;
    let RecordToml { frequency, window, off_cpu } = record;
    let freq_hz = frequency.unwrap_or(FREQUENCY_HZ);
    require_frequency(freq_hz).map_err(|reason| ("record.frequency".to_owned(), reason))?;
    let window = duration("record.window", window)?.unwrap_or(WINDOW);
    require_window(window).map_err(|reason| ("record.window".to_owned(), reason))?;
    let LabelsToml { service, cluster } = labels;
    let (metrics_interval, listen) = metrics_options(metrics)?;
    Ok(WatchOptions {
        freq_hz,
        window,
        has_off_cpu: off_cpu,
        nodes: choice(nodes)?,
        service: label("labels.service", service)?,
        cluster: label("labels.cluster", cluster)?.unwrap_or_default(),
        inside: inside_options(inside)?,
        metrics_interval,
        listen,
        directory: directory.map(directory_options).transpose()?,
        spool: spool_options(spool)?,
        exporters: validate_exporters(exporters)
            .map_err(|problem| (problem.key, problem.reason))?,
        is_served: false,
    })
}

fn require_frequency(hz: u32) -> Result<(), String> {
    let (least, most) = (FREQUENCIES_HZ.start(), FREQUENCIES_HZ.end());
    let is_allowed = FREQUENCIES_HZ.contains(&hz);
    is_allowed
        .then_some(())
        .ok_or_else(|| format!("must be from {least} to {most} ticks per second"))
}

fn require_window(window: Duration) -> Result<(), String> {
    WINDOWS.contains(&window).then_some(()).ok_or_else(|| "must be from 200ms to 10m".to_owned())
}

fn choice(nodes: NodesToml) -> Result<NodeChoice, Refusal> {
    let patterns = |key: &str, texts: Vec<String>| {
        let numbered = texts.into_iter().enumerate();
        let parsed = numbered.map(|(at, text)| {
            Pattern::parse(text).map_err(|reason| (format!("nodes.{key}.{at}"), reason))
        });
        parsed.collect::<Result<Vec<_>, _>>()
    };
    Ok(NodeChoice {
        only: patterns("only", nodes.only)?,
        except: patterns("except", nodes.except)?,
        every_vm: nodes.every_vm,
    })
}

fn label(key: &str, text: Option<String>) -> Result<Option<String>, Refusal> {
    let is_label = |text: &String| {
        (1..=MAX_LABEL_BYTES).contains(&text.len()) && !text.contains(char::is_control)
    };
    if text.as_ref().is_some_and(|text| !is_label(text)) {
        let reason = format!("must have 1 to {MAX_LABEL_BYTES} bytes, without control characters");
        return Err((key.to_owned(), reason));
    }
    Ok(text)
}

fn usual_limits() -> ArchiveLimits {
    ArchiveLimits { max_age: MAX_AGE, max_bytes: MAX_BYTES }
}

fn directory_options(wire: DirectoryToml) -> Result<DirectoryOptions, Refusal> {
    let DirectoryToml { path, max_age, max_size } = wire;
    if path.is_empty() {
        return Err(("directory.path".to_owned(), "must name a directory".to_owned()));
    }
    let usual = usual_limits();
    let max_age = duration("directory.max-age", max_age)?.unwrap_or(usual.max_age);
    if max_age < MIN_AGE {
        return Err(("directory.max-age".to_owned(), "must be at least 1m".to_owned()));
    }
    let max_bytes = size("directory.max-size", max_size)?.unwrap_or(usual.max_bytes);
    if max_bytes < MIN_BYTES {
        return Err(("directory.max-size".to_owned(), "must be at least 1MiB".to_owned()));
    }
    Ok(DirectoryOptions { path: path.into(), limits: ArchiveLimits { max_age, max_bytes } })
}

fn spool_options(wire: SpoolToml) -> Result<SpoolOptions, Refusal> {
    let SpoolToml { directory, max_size } = wire;
    let max_bytes = size("spool.max-size", max_size)?;
    let allowed = MIN_SPOOL_BYTES..=SpoolOptions::MAX_BYTES;
    if max_bytes.is_some_and(|bytes| !allowed.contains(&bytes)) {
        return Err(("spool.max-size".to_owned(), "must be from 1MB to 20MB".to_owned()));
    }
    Ok(SpoolOptions { directory: directory.map(PathBuf::from), max_bytes })
}

fn duration(key: &str, text: Option<String>) -> Result<Option<Duration>, Refusal> {
    let parsed = text.map(|text| parse_duration(&text)).transpose();
    parsed.map_err(|error| (key.to_owned(), error.to_string()))
}

fn size(key: &str, text: Option<String>) -> Result<Option<u64>, Refusal> {
    let parsed = text.map(|text| parse_size(&text)).transpose();
    parsed.map_err(|error| (key.to_owned(), error.to_string()))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn read(text: &str) -> Result<WatchOptions, String> {
        read_configuration(text, "watch.toml", validate).map_err(|error| error.to_string())
    }

    #[test]
    fn an_empty_file_has_every_default() {
        let options = read("").unwrap();
        assert_eq!((options.freq_hz, options.window), (19, Duration::from_secs(10)));
        assert!(options.exporters.is_empty() && options.directory.is_none());
        assert!(options.inside.is_none() && options.listen.is_none() && !options.takes_metrics());
    }

    #[test]
    fn what_is_written_is_taken() {
        let text = "[record]\nfrequency = 99\nwindow = '2s'\noff-cpu = true\n[nodes]\nonly = ['rabbit@*']\n\
                    [directory]\npath = 'd'\nmax-age = '2h'\nmax-size = '5MiB'\n\
                    [[exporters]]\nkind = 'pyroscope'\nurl = 'http://h:4040'";
        let options = read(text).unwrap();
        assert_eq!((options.freq_hz, options.has_off_cpu), (99, true));
        let limits = ArchiveLimits { max_age: Duration::from_secs(7200), max_bytes: 5 << 20 };
        assert_eq!(options.directory, Some(DirectoryOptions { path: "d".into(), limits }));
        assert_eq!(options.exporters.len(), 1);
    }

    #[test]
    fn a_refusal_names_file_line_key_and_what_is_allowed() {
        for (text, expected) in [
            (
                "\n[record]\nfrequenzy = 19",
                "watch.toml:3: `record.frequenzy`: is an unknown key; allowed are",
            ),
            ("[record]\nfrequency = '19'", "watch.toml:2: `record.frequency`: is the text `19`"),
            ("[record]\nfrequency = 0", "watch.toml:2: `record.frequency`: must be from 1 to 999"),
            ("[record]\nwindow = '10'", "watch.toml:2: `record.window`: "),
            ("[record]\nwindow = '1h'", "watch.toml:2: `record.window`: must be from 200ms to 10m"),
            ("[nodes]\nonly = ['']", "watch.toml:2: `nodes.only.0`: must name a node"),
            ("[directory]\nmax-age = '1h'", "watch.toml:1: `directory.path`: is missing"),
            (
                "[directory]\npath = 'd'\nmax-size = '1kB'",
                "watch.toml:3: `directory.max-size`: must be at least",
            ),
            ("[spool]\nmax-size = '1kB'", "watch.toml:2: `spool.max-size`: must be from 1MB to"),
            ("[spool]\nmax-size = '21MB'", "watch.toml:2: `spool.max-size`: must be from 1MB to"),
            (
                "[[exporters]]\nkind = 'parca'\nurl = 'h'",
                "watch.toml:3: `exporters.0.url`: must start with",
            ),
            (
                "[[exporters]]\nkind = 'parka'\nurl = 'h'",
                "`exporters.0.kind`: `parka` is unknown; allowed are",
            ),
            (
                "[inside]\ncookie-file = 'c'",
                "watch.toml:2: `inside.cookie-file`: has no effect without `ask = true`",
            ),
            (
                "[metrics]\nlisten = '0.0.0.0:9419'",
                "watch.toml:2: `metrics.listen`: can be reached from other machines",
            ),
            ("[metrics]\nauth-file = 'f'", "`metrics.auth-file`: has no effect without `listen`"),
            ("[metrics]\ninterval = '10m'", "`metrics.interval`: must be from 1s to 5m"),
            ("[record", "watch.toml:1"),
        ] {
            let said = read(text).unwrap_err();
            assert!(said.contains(expected), "{said}");
        }
    }

    #[test]
    fn what_is_typed_comes_first_and_nothing_to_do_is_refused() {
        let source = |typed| ConfigSource { file: None, typed };
        let nothing = source(TypedOptions::default()).read().unwrap_err().to_string();
        assert!(nothing.contains("-o DIR"), "{nothing}");
        let served = TypedOptions { is_served: true, ..TypedOptions::default() };
        assert!(source(served).read().unwrap().takes_judgements());
        let typed = TypedOptions {
            directory: Some("d".into()),
            freq_hz: Some(99),
            ..TypedOptions::default()
        };
        let options = source(typed).read().unwrap();
        assert_eq!((options.freq_hz, options.directory.unwrap().limits), (99, usual_limits()));
    }
}
