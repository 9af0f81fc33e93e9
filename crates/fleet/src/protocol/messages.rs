//! Messages between a controller and its workers: requests and replies that are only useful at once.

use rabbitscope_load::Share;
use rabbitscope_measurements::{PartSize, PartWishes};
use serde::{Deserialize, Serialize};

use crate::clocks::ClockIdentity;

/// A message to the controller.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum ToController {
    /// Sign of life of a worker, twice a second.
    Hello(Box<Hello>),
    /// Answer to a ping.
    Pong(Pong),
}

/// A worker's identity and state.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Hello {
    pub(crate) worker: Identity,
    pub(crate) state: WorkerState,
}

/// Identity of a worker.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Identity {
    /// Unique id of sixteen hexadecimal digits; part of the name of the worker's queue.
    pub(crate) id: String,
    pub(crate) host: String,
    pub(crate) pid: u32,
    /// The part that the worker prefers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) index: Option<u32>,
    /// Version of rabbitscope.
    pub(crate) version: String,
    pub(crate) clock: ClockIdentity,
    /// The worker's own options give the broker under test.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub(crate) has_broker: bool,
}

/// Progress of a worker with a run.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "is", rename_all = "kebab-case")]
pub(crate) enum WorkerState {
    /// The worker has no part of a run.
    #[default]
    Idle,
    /// The worker is connecting.
    Connecting { run: String, done: usize, of: usize },
    /// The worker waits for the start.
    Ready { run: String, load_threads: usize, churn_groups: usize, connections: usize },
    /// The load is running.
    Running { run: String, late_nanos: u64 },
    /// The part is done. The log has all measurements, up to the update of this number.
    Finished { run: String, error: Option<String>, late_nanos: u64, updates: u64 },
}

impl WorkerState {
    /// Returns the run that the state belongs to.
    pub(crate) fn run(&self) -> Option<&str> {
        match self {
            Self::Idle => None,
            Self::Connecting { run, .. }
            | Self::Ready { run, .. }
            | Self::Running { run, .. }
            | Self::Finished { run, .. } => Some(run),
        }
    }

    /// Returns the size of the worker's part if it waits for the start of the run `of`.
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

/// Answer to [`ToWorker::Ping`]. Each timestamp is on the clock of the process that took it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Pong {
    pub(crate) worker: String,
    pub(crate) number: u32,
    /// Timestamp on the controller's clock.
    pub(crate) sent_nanos: u64,
    /// Timestamp on the worker's clock, like the next one.
    pub(crate) received_nanos: u64,
    pub(crate) answered_nanos: u64,
}

/// A message to a worker.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case")]
pub(crate) enum ToWorker {
    /// A part of a run. It replaces one that has not started yet.
    Assign(Box<Assignment>),
    /// A ping, to be answered at once.
    Ping { number: u32, sent_nanos: u64 },
    /// Start of the run, on the worker's own clock.
    Start { run: String, origin_nanos: u64, run_tag: u16 },
    /// The controller's current wishes for the load; also its sign of life.
    Wish { run: String, ending: bool, abort: bool, is_empty: bool, others_confirmed: bool },
    /// Confirmation that the controller received all measurements.
    Dismiss { run: String },
}

impl ToWorker {
    pub(crate) fn wish(run: &str, wishes: PartWishes) -> Self {
        let PartWishes { ending, abort, is_empty, others_confirmed } = wishes;
        Self::Wish { run: run.to_owned(), ending, abort, is_empty, others_confirmed }
    }
}

/// A part of a run. It holds passwords and is never written to the log.
#[derive(Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub(crate) struct Assignment {
    pub(crate) run: String,
    /// Token of the run, a part of names on the broker under test.
    pub(crate) token: String,
    /// The resolved scenario, without secrets.
    pub(crate) scenario: String,
    /// Addresses of the broker under test; none for a worker whose own options give them.
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
