//! Sentences below the table of `top` about facts that the rows do not show.

use rabbitscope_erlang::Term;
use rabbitscope_text::grouped;
use serde::Serialize;

/// The process with the longest mailbox.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LongMailbox {
    pub(super) pid: String,
    pub(super) name: String,
    pub(super) role: String,
    pub(super) mailbox: u64,
}

/// A process that did not answer: it runs native code that keeps its scheduler, or waits for a scheduler.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct SilentProcess {
    pub(super) pid: String,
    pub(super) name: String,
}

/// A process that repeatedly answers late: after more than 10 ms in 3 looks of at most 6 (`agent/top/top_rows.erl`).
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct LateProcess {
    pub(super) pid: String,
    pub(super) name: String,
    /// Delay of its first late answer.
    pub(super) answered_after_ms: u64,
}

/// Connections and channels that were opened and closed within the interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "kebab-case")]
pub(super) struct Churn {
    pub(super) connections_opened: u64,
    pub(super) connections_closed: u64,
    pub(super) channels_opened: u64,
    pub(super) channels_closed: u64,
}

impl LongMailbox {
    pub(super) fn from_term(term: &Term) -> Option<Self> {
        Some(Self {
            pid: term.get("pid")?.as_pid()?.to_string(),
            name: term.get("name")?.to_text()?,
            role: term.get("role")?.as_atom()?.to_owned(),
            mailbox: term.get("mailbox")?.as_u64()?,
        })
    }
}

impl SilentProcess {
    pub(super) fn from_term(term: &Term) -> Option<Self> {
        let [pid, name] = term.as_tuple()? else { return None };
        Some(Self { pid: pid.as_pid()?.to_string(), name: name.to_text()? })
    }
}

impl LateProcess {
    pub(super) fn from_term(term: &Term) -> Option<Self> {
        let [pid, name, took_us] = term.as_tuple()? else { return None };
        Some(Self {
            pid: pid.as_pid()?.to_string(),
            name: name.to_text()?,
            answered_after_ms: took_us.as_u64()? / 1000,
        })
    }

    pub(super) fn sentence(&self, is_overloaded: bool) -> String {
        let reason = if is_overloaded {
            "it waits for a scheduler, blocks one with native code, or collects a large heap"
        } else {
            "its native code, a NIF or a long BIF, may block a scheduler, which reductions do not show; or it collects a \
             large heap, or the machine gives the node no CPU"
        };
        let after = self.answered_after_ms;
        format!(
            "{} answered after {after} ms, and after more than 10 ms in 3 of at most 6 looks, the least that is \
             reported: {reason}",
            named(&self.name, &self.pid)
        )
    }
}

impl Churn {
    pub(super) fn from_term(term: &Term) -> Option<Self> {
        let number = |key: &str| term.get(key)?.as_u64();
        Some(Self {
            connections_opened: number("connections_opened")?,
            connections_closed: number("connections_closed")?,
            channels_opened: number("channels_opened")?,
            channels_closed: number("channels_closed")?,
        })
    }

    pub(super) fn sentence(self) -> Option<String> {
        let Self { connections_opened, connections_closed, channels_opened, channels_closed } =
            self;
        let all = [connections_opened, connections_closed, channels_opened, channels_closed];
        (all != [0; 4]).then(|| {
            format!(
                "opened and closed in the interval: connections {connections_opened} and {connections_closed}, \
                 channels {channels_opened} and {channels_closed}"
            )
        })
    }
}

impl LongMailbox {
    pub(super) fn sentence(&self) -> String {
        let count = grouped(self.mailbox);
        format!(
            "{count} messages wait for {} ({}), the longest mailbox",
            named(&self.name, &self.pid),
            self.role
        )
    }
}

impl SilentProcess {
    pub(super) fn sentence(&self) -> String {
        format!(
            "{} did not answer within half a second and is not in the table: it blocks a scheduler with native code, \
             or waits for one",
            named(&self.name, &self.pid)
        )
    }
}

fn named(name: &str, pid: &str) -> String {
    if name.is_empty() { pid.to_owned() } else { format!("{name} {pid}") }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_late_answer_is_said_with_its_evidence_and_other_causes() {
        let (pid, name) = ("<0.7.0>".to_owned(), "slow".to_owned());
        let process = LateProcess { pid, name, answered_after_ms: 12 };
        for (is_overloaded, cause) in [(false, "no CPU"), (true, "waits for a scheduler")] {
            let said = process.sentence(is_overloaded);
            for part in ["slow <0.7.0>", "12 ms", "3 of at most 6 looks", "large heap", cause] {
                assert!(said.contains(part), "{said}");
            }
        }
    }
}
