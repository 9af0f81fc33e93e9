//! The selection of windows by time, node, version and event.

use std::{
    path::{Path, PathBuf},
    time::{Duration, SystemTime, UNIX_EPOCH},
};

use percent_encoding::percent_decode_str;
use rabbitscope_profiles::Event;
use rabbitscope_terminal::UsageError;
use rabbitscope_text::{escapes::shell_word, parse_duration, parse_offset_time, parse_utc};

use super::name::WindowName;

/// Conditions on a window. An absent condition always holds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Selection {
    /// Earliest start, since 1970-01-01 UTC.
    pub(crate) from: Option<Duration>,
    /// The start must be before this time.
    pub(crate) to: Option<Duration>,
    /// Name of the node; without `@`, the node may be on any host.
    pub(crate) node: Option<String>,
    pub(crate) version: Option<String>,
    /// Event; CPU time by default.
    pub(crate) event: Option<&'static str>,
}

impl Selection {
    /// Sets the condition named `key`.
    pub(crate) fn set(&mut self, key: &str, value: &str) -> Result<(), UsageError> {
        match key {
            "from" => self.from = Some(time(value)?),
            "to" => self.to = Some(time(value)?),
            "node" => self.node = Some(value.to_owned()),
            "version" => self.version = Some(value.to_owned()),
            "event" => self.event = Some(event(value)?),
            _ => {
                let allowed = "from, to, node, version, event";
                return Err(UsageError(format!(
                    "{key} does not select windows; known are {allowed}"
                )));
            }
        }
        Ok(())
    }

    /// Returns whether there is no condition.
    pub(crate) fn is_everything(&self) -> bool {
        *self == Self::default()
    }

    /// Returns the command line that makes the page of a node's windows, for a shell and without its times. `None` if a
    /// name is unfit for a shell.
    pub fn command_of(&self, root: &Path, node: &str) -> Option<String> {
        let root = root.to_str()?;
        // A name that begins with a dash would be an option.
        let root = if root.starts_with('-') { format!("./{root}") } else { root.to_owned() };
        let options =
            [("node", Some(node)), ("version", self.version.as_deref()), ("event", self.event)];
        let given = options.into_iter().filter_map(|(name, value)| Some((name, value?)));
        let words = given.map(|(name, value)| {
            let between = if value.starts_with('-') { "=" } else { " " };
            Some(format!("--{name}{between}{}", shell_word(value)?))
        });
        let words = words.collect::<Option<Vec<String>>>()?.join(" ");
        Some(format!("rabbitscope flamegraph {} {words}", shell_word(&root)?))
    }

    /// Returns whether a window is selected.
    pub(crate) fn has(&self, name: &WindowName) -> bool {
        let node = |wanted: &String| {
            name.node == *wanted
                || (!wanted.contains('@') && name.node.split('@').next() == Some(wanted))
        };
        self.from.is_none_or(|from| name.started() >= from)
            && self.to.is_none_or(|to| name.started() < to)
            && self.node.as_ref().is_none_or(node)
            && self.version.as_ref().is_none_or(|version| name.version == *version)
            && self.event.unwrap_or(Event::Cpu.name()) == name.event
    }
}

/// Takes a selection off the end of a path: `windows?from=10:00&to=11:00&node=rabbit@a`.
pub fn split_selection(path: &Path) -> Result<(PathBuf, Selection), UsageError> {
    let mut selection = Selection::default();
    let text = path.to_str().unwrap_or_default();
    let Some((directory, query)) = text.rsplit_once('?').filter(|_| !path.exists()) else {
        return Ok((path.to_owned(), selection));
    };
    for pair in query.split('&').filter(|pair| !pair.is_empty()) {
        let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
        let value = percent_decode_str(value).decode_utf8_lossy();
        selection.set(key, &value)?;
    }
    Ok((PathBuf::from(directory), selection))
}

fn event(text: &str) -> Result<&'static str, UsageError> {
    let known = [Event::Cpu, Event::OffCpu].map(Event::name);
    let found = known.into_iter().find(|name| *name == text);
    found.ok_or_else(|| {
        UsageError(format!("no event {text} in windows; known are {}", known.join(", ")))
    })
}

/// Reads a point in time, such as `2026-11-25T04:00:00Z`; a time of today (UTC), such as `04:00`; or a time ago, such
/// as `2h`.
pub(crate) fn time(text: &str) -> Result<Duration, UsageError> {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
    time_at(text, now).ok_or_else(|| {
        UsageError(format!(
            "`{text}` is not a time: write 2026-11-25T04:00:00Z, 04:00 (today, UTC) or 2h (ago)"
        ))
    })
}

fn time_at(text: &str, now: Duration) -> Option<Duration> {
    const DAY: u64 = 86_400;
    let today =
        rabbitscope_text::display_utc(Duration::from_secs(now.as_secs() / DAY * DAY)).to_string();
    let date = today.split('T').next()?;
    let of_today = |time: &str| parse_utc(&format!("{date}T{time}Z"));
    let ago = || parse_duration(text).ok().map(|ago| now.saturating_sub(ago));
    parse_utc(text)
        .or_else(|| parse_offset_time(text))
        .or_else(|| parse_utc(&format!("{text}T00:00:00Z")))
        .or_else(|| of_today(text))
        .or_else(|| of_today(&format!("{text}:00")))
        .or_else(ago)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_of_people() {
        let now = parse_utc("2026-11-25T12:00:00Z").unwrap();
        for (text, expected) in [
            ("2026-11-24T04:00:00Z", Some("2026-11-24T04:00:00Z")),
            ("2026-11-24T04:00:00+01:00", Some("2026-11-24T03:00:00Z")),
            ("2026-11-24", Some("2026-11-24T00:00:00Z")),
            ("04:00", Some("2026-11-25T04:00:00Z")),
            ("04:00:30", Some("2026-11-25T04:00:30Z")),
            ("2h", Some("2026-11-25T10:00:00Z")),
            ("yesterday", None),
            ("", None),
        ] {
            assert_eq!(time_at(text, now), expected.and_then(parse_utc), "{text}");
        }
    }

    #[test]
    fn a_command_selects_the_windows_of_a_node() {
        let mut selection = Selection::default();
        let command = |selection: &Selection, root: &str, node: &str| {
            selection.command_of(Path::new(root), node)
        };
        let expected = "rabbitscope flamegraph windows --node rabbit@a";
        assert_eq!(command(&selection, "windows", "rabbit@a").as_deref(), Some(expected));
        selection.set("event", "off-cpu").unwrap();
        selection.set("version", "4.0.5").unwrap();
        let expected = "rabbitscope flamegraph './-my windows' --node='-$(id)' --version 4.0.5 --event off-cpu";
        assert_eq!(command(&selection, "-my windows", "-$(id)").as_deref(), Some(expected));
        assert_eq!(command(&selection, "windows", "a\nid"), None);
    }

    #[test]
    fn a_selection_stands_behind_the_path() {
        let (path, selection) =
            split_selection(Path::new("no/such?node=rabbit%40a&version=4.0.5&event=off-cpu"))
                .unwrap();
        assert_eq!(path, Path::new("no/such"));
        assert_eq!(selection.node.as_deref(), Some("rabbit@a"));
        assert_eq!(
            (selection.version.as_deref(), selection.event),
            (Some("4.0.5"), Some("off-cpu"))
        );
        assert!(split_selection(Path::new("no/such")).unwrap().1.is_everything());
        for wrong in ["d?what=1", "d?from=soon", "d?event=mmap"] {
            assert!(split_selection(Path::new(wrong)).is_err(), "{wrong}");
        }
    }
}
