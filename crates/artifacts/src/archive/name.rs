//! The name of a window's file. Example: `20261125T041830.123Z~10000ms~cpu~1520ms~rabbit@host~3.10.8~4711.pb.gz`
//! began at that time and took ten seconds. In it, the node `rabbit@host` of RabbitMQ 3.10.8 with pid 4711 took 1.52
//! seconds of CPU time.

use std::{fmt, path::PathBuf, time::Duration};

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_decode_str, utf8_percent_encode};
use rabbitscope_profiles::Event;
use rabbitscope_text::{display_utc, parse_utc};

const SUFFIX: &str = ".pb.gz";

/// Characters that are percent-encoded in names of nodes.
const ENCODED: &AsciiSet =
    &NON_ALPHANUMERIC.remove(b'@').remove(b'.').remove(b'_').remove(b'-').remove(b'+');

/// The limit of a node's name. A file name has at most 255 bytes, of which the other parts take about 80.
const MAX_NODE_BYTES: usize = 120;
const MAX_VERSION_BYTES: usize = 30;

/// Time, node and weight of a window. Times are in milliseconds.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct WindowName {
    /// Start, since 1970-01-01 UTC.
    pub started_millis: u64,
    /// Length.
    pub duration_millis: u64,
    /// Event that weights count.
    pub event: &'static str,
    /// CPU time, or time off the CPU.
    pub weight_millis: u64,
    /// Name of the Erlang node.
    pub node: String,
    /// Version of RabbitMQ.
    pub version: String,
    /// Process of the node.
    pub pid: u32,
}

impl WindowName {
    /// Reads a name; `None` for any other file.
    pub(crate) fn parse(text: &str) -> Option<Self> {
        let fields: Vec<&str> = text.strip_suffix(SUFFIX)?.split('~').collect();
        let [started, duration, event, weight, node, version, pid] = fields.try_into().ok()?;
        let name = Self {
            started_millis: parse_time(started)?,
            duration_millis: millis(duration)?,
            event: Event::from_name(event)?.name(),
            weight_millis: millis(weight)?,
            node: decoded(node)?,
            version: decoded(version)?,
            pid: pid.parse().ok()?,
        };
        // Only the exact form that this program writes is ours.
        (name.to_string() == text).then_some(name)
    }

    /// Returns the directory of its hour, such as `2026-11-25/04`.
    pub(crate) fn hour(&self) -> PathBuf {
        let time = utc(self.started_millis);
        PathBuf::from(&time[..10]).join(&time[11..13])
    }

    /// Returns the start, since 1970-01-01 UTC.
    pub fn started(&self) -> Duration {
        Duration::from_millis(self.started_millis)
    }
}

impl fmt::Display for WindowName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { started_millis, duration_millis, event, weight_millis, pid, .. } = self;
        let (node, version) =
            (encoded(&self.node, MAX_NODE_BYTES), encoded(&self.version, MAX_VERSION_BYTES));
        let time = display_time(*started_millis);
        write!(
            f,
            "{time}~{duration_millis}ms~{event}~{weight_millis}ms~{node}~{version}~{pid}{SUFFIX}"
        )
    }
}

fn utc(millis: u64) -> String {
    display_utc(Duration::from_millis(millis)).to_string()
}

/// Formats a time as `20261125T041830.123Z`.
fn display_time(millis: u64) -> String {
    let seconds = utc(millis).replace(['-', ':', 'Z'], "");
    format!("{seconds}.{:03}Z", millis % 1000)
}

fn parse_time(text: &str) -> Option<u64> {
    let (seconds, millis) = text.strip_suffix('Z')?.split_once('.')?;
    if seconds.len() != 15 || !seconds.is_ascii() || millis.len() != 3 {
        return None;
    }
    let part = |from: usize, to: usize| &seconds[from..to];
    let (date, time) =
        ([part(0, 4), part(4, 6), part(6, 8)], [part(9, 11), part(11, 13), part(13, 15)]);
    let since = parse_utc(&format!("{}T{}Z", date.join("-"), time.join(":")))?;
    let millis: u64 = millis.parse().ok()?;
    Some(u64::try_from(since.as_millis()).ok()? + millis)
}

fn millis(text: &str) -> Option<u64> {
    text.strip_suffix("ms")?.parse().ok()
}

/// Percent-encodes a text, and cuts it at a character if it exceeds `most` bytes. An empty text becomes `-`, which no
/// node is called.
fn encoded(text: &str, most: usize) -> String {
    let mut encoded = String::new();
    for letter in text.chars() {
        let next = utf8_percent_encode(letter.encode_utf8(&mut [0; 4]), ENCODED).to_string();
        if encoded.len() + next.len() > most {
            break;
        }
        encoded += &next;
    }
    if encoded.is_empty() { "-".to_owned() } else { encoded }
}

fn decoded(text: &str) -> Option<String> {
    let text = percent_decode_str(text).decode_utf8().ok()?.into_owned();
    Some(if text == "-" { String::new() } else { text })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name(node: &str) -> WindowName {
        WindowName {
            started_millis: 1_795_580_310_123,
            duration_millis: 10_000,
            event: "cpu",
            weight_millis: 1520,
            node: node.to_owned(),
            version: "3.10.8".to_owned(),
            pid: 4711,
        }
    }

    #[test]
    fn a_name_says_when_whose_and_how_much() {
        let text = "20261125T041830.123Z~10000ms~cpu~1520ms~rabbit@host~3.10.8~4711.pb.gz";
        assert_eq!(name("rabbit@host").to_string(), text);
        assert_eq!(WindowName::parse(text), Some(name("rabbit@host")));
        assert_eq!(name("").hour(), PathBuf::from("2026-11-25/04"));
    }

    #[test]
    fn no_node_can_lead_elsewhere() {
        for node in ["", "../../etc/x", "a~b", "a/b", "ü@h", "\n", "~"] {
            let text = name(node).to_string();
            assert!(!text.contains('/') && text.is_ascii(), "{text}");
            assert_eq!(WindowName::parse(&text), Some(name(node)), "{text}");
        }
        assert!(name(&"ü".repeat(300)).to_string().len() < 255);
    }

    #[test]
    fn other_files_are_not_taken_for_ours() {
        let text = name("a").to_string();
        for other in [
            "",
            "profile.pb.gz",
            &text.replace("cpu", "gpu"),
            &text.replace("~cpu", "~~cpu"),
            &text.replace("1520ms", "01520ms"),
            &text.replace("2026", "2ü26"),
            &text.replace("1125T", "1131T"),
            &format!("{text}~"),
            &text.replace(".gz", ""),
        ] {
            assert_eq!(WindowName::parse(other), None, "{other}");
        }
    }
}
