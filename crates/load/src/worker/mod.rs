//! A load thread: its event loop, its stages (load, drain, close) and its reports.

mod backoff;
mod context;
mod draining;
mod event_loop;
mod interval;
mod pacing_state;
mod ready_links;
mod reconnections;
mod recovery;
mod reporting;
mod stage;

pub(crate) use context::WorkerContext;
pub(crate) use draining::{ANSWER_TIMEOUT, DRAIN_TIMEOUT};
pub(crate) use event_loop::{CLOSE_TIMEOUT, Worker};
