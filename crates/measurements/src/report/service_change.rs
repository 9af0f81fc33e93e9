//! Changes in the service of a broker, as the load threads report them. A process of a fleet keeps them in a journal.
//! The process that joins the measurements applies them in the order of their times.

use rabbitscope_runs::record::ErrorKind;
use rabbitscope_timing::RunInstant;
use serde::{Deserialize, Serialize};

use super::side::Side;

/// A change and its time.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TimedChange {
    pub(crate) at: RunInstant,
    pub(crate) change: ServiceChange,
}

/// A change in the service of a broker.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServiceChange {
    /// Connections that were made before the load began.
    Connected { side: Side, count: usize },
    /// A connection is lost.
    Lost { side: Side, reason: String },
    /// A lost connection was replaced.
    Back { side: Side },
    /// An alarm blocks a connection that was not blocked.
    Blocked { reason: String },
    /// A connection is no longer blocked, or no longer exists.
    Unblocked,
    /// A channel had no confirm from this time on, although one was due.
    Waited { since: RunInstant },
    /// Errors of one kind, with the reason of the last one.
    Failed { kind: ErrorKind, count: u64, reason: String },
}

impl ServiceChange {
    /// The reason of a loss, an alarm or an error; absent for other changes.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Lost { reason, .. } | Self::Blocked { reason } | Self::Failed { reason, .. } => {
                Some(reason)
            }
            _ => None,
        }
    }
}

/// Changes that were not taken yet, in the order of their arrival.
#[derive(Debug, Default)]
pub(super) struct ServiceJournal(Vec<TimedChange>);

impl ServiceJournal {
    /// Adds a change. Consecutive errors of one kind become one change, because an unreachable broker refuses thousands
    /// of connections.
    pub(super) fn push(&mut self, at: RunInstant, change: ServiceChange) {
        if let (
            Some(TimedChange {
                at: last_at,
                change: ServiceChange::Failed { kind, count, reason },
            }),
            ServiceChange::Failed { kind: of, count: more, reason: latest },
        ) = (self.0.last_mut(), &change)
            && kind == of
        {
            *count += more;
            reason.clone_from(latest);
            *last_at = at;
            return;
        }
        self.0.push(TimedChange { at, change });
    }

    pub(super) fn take(&mut self) -> Vec<TimedChange> {
        std::mem::take(&mut self.0)
    }
}
