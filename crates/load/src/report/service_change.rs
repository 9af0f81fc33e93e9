//! What changes about the service of a broker, as the load threads report it. A process of a fleet keeps these in a
//! journal, and whoever joins the processes' measurements applies them in the order of their times.

use rabbitscope_runs::record::ErrorKind;
use serde::{Deserialize, Serialize};

use super::side::Side;
use crate::clock::RunInstant;

/// A change, and when it happened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TimedChange {
    pub(crate) at: RunInstant,
    pub(crate) change: ServiceChange,
}

/// What changed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) enum ServiceChange {
    /// Connections were made before the load began.
    Connected { side: Side, count: usize },
    /// A connection is lost.
    Lost { side: Side, reason: String },
    /// A lost connection was made again.
    Back { side: Side },
    /// An alarm blocks a connection that was not blocked.
    Blocked { reason: String },
    /// A connection is no longer blocked, or gone.
    Unblocked,
    /// A channel had no confirm since then, although one was due.
    Waited { since: RunInstant },
    /// Errors of one kind, the last of which had this reason.
    Failed { kind: ErrorKind, count: u64, reason: String },
}

impl ServiceChange {
    /// In words, where it has one.
    pub(crate) fn reason(&self) -> Option<&str> {
        match self {
            Self::Lost { reason, .. } | Self::Blocked { reason } | Self::Failed { reason, .. } => {
                Some(reason)
            }
            _ => None,
        }
    }
}

/// Changes that nobody has taken yet, in the order in which they came.
#[derive(Debug, Default)]
pub(super) struct ServiceJournal(Vec<TimedChange>);

impl ServiceJournal {
    /// Errors that come one after another are one change: a broker that is away refuses thousands of connections.
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
