//! Messages between a controller and its workers: requests and replies that are worth nothing later.

use rabbitscope_load::{PartSize, PartWishes, Share};
use serde::{Deserialize, Serialize};

use crate::clocks::ClockIdentity;

/// To the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum ToController {
    /// A worker is there; sent twice a second.
    Hello(Box<Hello>),
    /// The answer to a ping.
    Pong(Pong),
}

/// What a worker says of itself.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Hello {
    pub(crate) worker: Identity,
    pub(crate) state: WorkerState,
}

/// Who a worker is.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Identity {
    /// Sixteen hexadecimal digits that no other worker has; part of the name of its queue.
    pub(crate) id: String,
    pub(crate) host: String,
    pub(crate) pid: u32,
    /// The part that it would like to have.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<u32>,
    /// Of rabbitscope.
    pub(crate) version: String,
    pub(crate) clock: ClockIdentity,
    /// It knows the broker under test by itself.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_broker: bool,
}

/// How far a worker is with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(crate) enum WorkerState {
    /// It has no part of a run.
    #[default]
    Idle,
    /// It makes its connections.
    Connecting { run: String, done: usize, of: usize },
    /// It waits for the start.
    Ready { run: String, load_threads: usize, churn_groups: usize, connections: usize },
    /// Its load is on.
    Running { run: String, late_nanos: u64 },
    /// It is done with its part; everything that it measured is in the log, up to this update.
    Finished { run: String, error: Option<String>, late_nanos: u64, updates: u64 },
}

impl WorkerState {
    /// The run that it is about.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            Self::Idle => None,
            Self::Connecting { run, .. }
            | Self::Ready { run, .. }
            | Self::Running { run, .. }
            | Self::Finished { run, .. } => Some(run),
        }
    }

    /// How large its part is, where it waits for the start of `of`.
    pub(crate) fn ready(&self, of: &str) -> Option<PartSize> {
        match self {
            Self::Ready { run, load_threads, churn_groups, connections } if run == of => {
                let (load_threads, churn_groups) = (*load_threads, *churn_groups);
                Some(PartSize { load_threads, churn_groups, connections: *connections })
            }
            _ => None,
        }
    }
}

/// The answer to [`ToWorker::Ping`]. Times are of the clocks of those who took them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Pong {
    pub(crate) worker: String,
    pub(crate) number: u32,
    /// By the controller's clock.
    pub(crate) sent_nanos: u64,
    /// By the worker's.
    pub(crate) received_nanos: u64,
    pub(crate) answered_nanos: u64,
}

/// To a worker.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum ToWorker {
    /// Its part of a run, in place of any that it has not started yet.
    Assign(Box<Assignment>),
    /// To be answered at once.
    Ping { number: u32, sent_nanos: u64 },
    /// When the run begins, on the worker's own clock.
    Start { run: String, origin_nanos: u64, run_tag: u16 },
    /// What is wanted of the load by now; also a sign that the controller is there.
    Wish { run: String, ending: bool, abort: bool, is_empty: bool, others_confirmed: bool },
    /// Everything that it measured was received.
    Dismiss { run: String },
}

impl ToWorker {
    pub(crate) fn wish(run: &str, wishes: PartWishes) -> Self {
        let PartWishes { ending, abort, is_empty, others_confirmed } = wishes;
        Self::Wish { run: run.to_owned(), ending, abort, is_empty, others_confirmed }
    }
}

/// A part of a run. It holds passwords: it is never written to the log.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Assignment {
    pub(crate) run: String,
    /// Of the run, in names on the broker under test.
    pub(crate) token: String,
    /// As resolved, without secrets.
    pub(crate) scenario: String,
    /// Of the broker under test; none for a worker that knows it by itself.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub(crate) uris: Vec<String>,
    pub(crate) part: u32,
    pub(crate) of: u32,
}

impl Assignment {
    pub(crate) fn share(&self) -> Share {
        Share { number: self.part, of: self.of }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_read_back() {
        let identity = Identity { id: "1f".to_owned(), index: Some(3), ..Identity::default() };
        let state = WorkerState::Ready {
            run: "r".to_owned(),
            load_threads: 2,
            churn_groups: 1,
            connections: 40,
        };
        assert_eq!(state.ready("r").map(|size| size.threads()), Some(3));
        assert_eq!(state.ready("another"), None);
        let hello = ToController::Hello(Box::new(Hello { worker: identity, state }));
        let text = serde_json::to_string(&hello).unwrap();
        assert_eq!(serde_json::from_str::<ToController>(&text).unwrap(), hello, "{text}");
        let wishes = PartWishes { ending: true, ..PartWishes::default() };
        let text = serde_json::to_string(&ToWorker::wish("r", wishes)).unwrap();
        assert!(serde_json::from_str::<ToWorker>(&text).unwrap() == ToWorker::wish("r", wishes));
    }
}
