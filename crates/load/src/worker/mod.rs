//! A load thread: its event loop, its stages (load, drain, close) and its reports.

mod backoff;
mod context;
mod draining;
mod event_loop;
mod recovery;
mod reporting;

pub(crate) use context::WorkerContext;
pub(crate) use event_loop::Worker;
