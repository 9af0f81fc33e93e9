//! The node's process: its end, and its return under the same name.

use std::time::{Duration, Instant};

use rabbitscope_check::CheckOptions;
use rabbitscope_machine::ProcessIdentity;

use super::pace::{ABSENCE, SECOND};

/// Finds the node and the ways to read it. Called again while the node is away.
pub type FindNode<'a> = &'a dyn Fn() -> anyhow::Result<CheckOptions>;

/// The node and its process.
pub(super) struct Life<'a> {
    find: FindNode<'a>,
    /// False for a node that was named by its process, which never returns.
    may_return: bool,
    pub(super) subject: CheckOptions,
    /// Absent for a node on another machine, which is only seen to answer or not.
    process: Option<ProcessIdentity>,
    away: Option<Away>,
}

/// A node that has ended.
struct Away {
    since: Instant,
    next_search: Instant,
}

/// State of the node.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum State {
    /// It runs, as far as can be seen.
    Running,
    /// It has just ended.
    Ended,
    /// It may return.
    Away,
    /// It has just returned.
    Returned,
    /// It will not return.
    Gone,
}

impl<'a> Life<'a> {
    /// Finds the node.
    pub(super) fn find(find: FindNode<'a>, may_return: bool) -> anyhow::Result<Self> {
        let subject = find()?;
        let process = subject.pid.and_then(ProcessIdentity::from_pid);
        Ok(Self { find, may_return, subject, process, away: None })
    }

    /// Looks for the node's process.
    pub(super) fn look(&mut self) -> State {
        if let Some(away) = &mut self.away {
            if Instant::now() < away.next_search {
                return State::Away;
            }
            away.next_search = Instant::now() + SECOND;
            return self.search();
        }
        if self.is_running() {
            return State::Running;
        }
        if !self.may_return {
            return State::Gone;
        }
        let now = Instant::now();
        self.away = Some(Away { since: now, next_search: now + SECOND });
        State::Ended
    }

    /// Returns whether the process runs. One that ended before it was seen has a pid and no identity.
    fn is_running(&self) -> bool {
        match self.process {
            Some(process) => process.is_shown_alive(),
            None => self.subject.pid.is_none(),
        }
    }

    fn search(&mut self) -> State {
        match (self.find)() {
            Ok(found) if found.node == self.subject.node && found.pid.is_some() => {
                self.process = found.pid.and_then(ProcessIdentity::from_pid);
                (self.subject, self.away) = (found, None);
                State::Returned
            }
            _ if self.absence() > ABSENCE => State::Gone,
            _ => State::Away,
        }
    }

    /// Returns true after the end of the node.
    pub(super) fn is_away(&self) -> bool {
        self.away.is_some()
    }

    fn absence(&self) -> Duration {
        self.away.as_ref().map_or(Duration::ZERO, |away| away.since.elapsed())
    }
}
